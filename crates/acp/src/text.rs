//! Bounded texts.

use crate::limits::TEXT_BYTES_MAX;

/// Text of bounded length: the middle of a longer one is left out, with a mark.
pub(crate) fn bounded(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let half = TEXT_BYTES_MAX / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle_at_a_character() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        let cut = bounded(&long);
        assert!(cut.len() < TEXT_BYTES_MAX + 100);
        assert!(cut.contains("bytes left out"));
    }
}
