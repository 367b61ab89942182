//! Splits text into deltas of a number of characters.

/// Splits text into deltas of `chars` characters; 0 leaves it whole. Empty text has no deltas.
pub(super) fn plain(text: &str, chars: usize) -> Vec<&str> {
    pieces(text, chars, character)
}

/// Same for text in the escaped form of a JSON string; escapes and surrogate pairs stay whole.
pub(super) fn escaped(text: &str, chars: usize) -> Vec<&str> {
    pieces(text, chars, |rest| match (unit(rest), rest.get(6..).and_then(unit)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
        (Some(_), _) => 6,
        (None, _) if rest.starts_with('\\') => 1 + character(&rest[1..]),
        (None, _) => character(rest),
    })
}

/// Length of the first character in bytes.
fn character(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// UTF-16 code unit at the start of the text, if it begins with `\uXXXX`.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

fn pieces(text: &str, chars: usize, first: impl Fn(&str) -> usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = 0;
        let mut taken = 0;
        while end < rest.len() && (chars == 0 || taken < chars) {
            end += first(&rest[end..]);
            taken += 1;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(plain("añ😀b", 2), ["añ", "😀b"]);
        assert_eq!(plain("abc", 0), ["abc"]);
        assert_eq!(plain("", 3), [""; 0]);
    }

    #[test]
    fn escapes_are_never_cut() {
        assert_eq!(escaped(r"a\n\ud83d\ude00b", 1), ["a", r"\n", r"\ud83d\ude00", "b"]);
        assert_eq!(escaped(r"\ud83d half \ude00", 3), [r"\ud83d h", "alf", r" \ude00"]);
        assert_eq!(escaped(r"\ud83d\ud83d\ude00", 1), [r"\ud83d", r"\ud83d\ude00"]);
    }

    #[test]
    fn escapes_that_are_none_cost_no_character() {
        assert_eq!(escaped(r"\u12é", 1), [r"\u", "1", "2", "é"]);
        assert_eq!(escaped(r"\", 1), [r"\"]);
    }
}
