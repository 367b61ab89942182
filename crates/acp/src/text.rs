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
        // With each of these beginnings, another byte of a character of three is in the middle.
        for start in ["", "a", "ab"] {
            let long = format!("{start}{}", "€".repeat(TEXT_BYTES_MAX / 2));
            let cut = bounded(&long);
            let (head, rest) = cut.split_once("\n… ").unwrap();
            let (left_out, tail) = rest.split_once(" bytes left out …\n").unwrap();
            assert!(long.starts_with(head) && long.ends_with(tail));
            assert!([head, tail].iter().all(|part| TEXT_BYTES_MAX / 2 - part.len() < 3));
            assert_eq!(head.len() + tail.len() + left_out.parse::<usize>().unwrap(), long.len());
        }
        let short = "é".repeat(TEXT_BYTES_MAX / 2);
        assert_eq!(bounded(&short), short);
    }
}
