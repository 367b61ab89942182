//! Prefixes of session ids. Every command that takes a session uses this rule.

/// Fewest characters of a prefix: with fewer, a typing error finds another session.
pub const PREFIX_CHARS_MIN: usize = 4;

/// True if `name` is the `id`, or a prefix of it with [`PREFIX_CHARS_MIN`] characters or more.
pub fn names_id(name: &str, id: &str) -> bool {
    name == id || (is_prefix(name) && id.starts_with(name))
}

/// True if a name is long enough to be a prefix.
pub fn is_prefix(name: &str) -> bool {
    name.chars().count() >= PREFIX_CHARS_MIN
}

/// True if a name is only digits. Where sessions have numbers, such a name is a number, and never a prefix of
/// an id.
pub fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c21_a_prefix_has_four_characters_or_more() {
        let id = "ab12cd34-5aa0-4b58-a0a8-4f9be3f4a001";
        for (name, expected) in [
            (id, true),
            ("ab12cd34-5", true),
            ("ab12", true),
            ("", false),
            ("a", false),
            ("ab1", false),
            ("AB12", false),
            ("ab13", false),
        ] {
            assert_eq!(names_id(name, id), expected, "{name}");
        }
        assert!(names_id("7", "7") && names_id("\u{e9}", "\u{e9}"), "a whole id may be short");
        assert!(
            !names_id("\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}\u{e9}\u{e9}"),
            "characters are counted, not bytes"
        );
    }

    #[test]
    fn c21_only_digits_are_a_number() {
        for (name, expected) in
            [("5", true), ("007", true), ("", false), ("+5", false), ("5a", false), ("5 ", false)]
        {
            assert_eq!(is_number(name), expected, "{name}");
        }
    }
}
