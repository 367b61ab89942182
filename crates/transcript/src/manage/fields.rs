//! Values of keys in text that may begin and end in the middle of a line.
//!
//! Inside a JSON string every quote is escaped, so `"key":"` can only be a key, with or without blanks around
//! its colon; its depth is not checked. The SDKs read this way, and it makes a list of sessions cheap.

use memchr::{memchr2, memmem};

use crate::limits::FIELD_WINDOW_BYTES;

/// A key whose string values are extracted.
#[derive(Debug)]
pub(super) struct Field {
    finder: memmem::Finder<'static>,
}

impl Field {
    /// `key` is given in quotes.
    pub(super) fn new(key: &'static str) -> Self {
        Field { finder: memmem::Finder::new(key) }
    }

    /// The first value in a text.
    pub(super) fn first(&self, text: &[u8]) -> Option<String> {
        self.finder.find_iter(text).find_map(|at| self.value(text, at))
    }

    /// The last value in a text.
    pub(super) fn last(&self, text: &[u8]) -> Option<String> {
        let mut end = text.len();
        // Most keys stand near the end, so only a part is searched.
        while end > 0 {
            let start = end.saturating_sub(FIELD_WINDOW_BYTES);
            let window = &text[start..(end + self.finder.needle().len() - 1).min(text.len())];
            let found: Vec<usize> = self.finder.find_iter(window).collect();
            if let Some(value) = found.iter().rev().find_map(|at| self.value(text, start + at)) {
                return Some(value);
            }
            end = start;
        }
        None
    }

    fn value(&self, text: &[u8], at: usize) -> Option<String> {
        let after = text[at + self.finder.needle().len()..].trim_ascii_start().strip_prefix(b":")?;
        let string = after.trim_ascii_start().strip_prefix(b"\"")?;
        let mut end = 0;
        loop {
            end += memchr2(b'"', b'\\', string.get(end..)?)?;
            if string[end] == b'"' {
                return Some(unescaped(&string[..end]));
            }
            end += 2;
        }
    }
}

/// The text of a JSON string; an invalid one stays as it is written.
fn unescaped(escaped: &[u8]) -> String {
    let text = String::from_utf8_lossy(escaped);
    if !escaped.contains(&b'\\') {
        return text.into_owned();
    }
    let quoted = format!("\"{text}\"");
    match tidings_protocol::json::Raw::parse(&quoted).ok().and_then(tidings_protocol::json::Raw::text) {
        Some(value) => value.get().into_owned(),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_cut_text() {
        let long = format!("{{\"a\":\"far\"}}{}{{\"b\":1}}", "x".repeat(3 * FIELD_WINDOW_BYTES));
        for (text, first, last) in [
            (r#"{"a":"one"} {"a":"two"}"#, Some("one"), Some("two")),
            (r#"{"a": "one"} {"a": "two"}"#, Some("one"), Some("two")),
            ("{\"a\" :\t\"one\"} {\"a\"\r:  \"two\"}", Some("one"), Some("two")),
            (r#"{"b":"a"} {"a":"one"} ["a","b"]"#, Some("one"), Some("one")),
            (r#"{"a":"say \"hi\"\n"}"#, Some("say \"hi\"\n"), Some("say \"hi\"\n")),
            (r#"{"b":"\"a\":\"inside\""}"#, None, None),
            (r#"{"a":7} {"a":"x"} {"a":null}"#, Some("x"), Some("x")),
            // The text ends inside the value.
            (r#"{"a":"one"} {"a":"tw"#, Some("one"), Some("one")),
            (r#"{"a":"one"} {"a":"tw\"#, Some("one"), Some("one")),
            (r#"{"a":""}"#, Some(""), Some("")),
            (r#"{"a":"\ud83d\ude42 \ud83d"}"#, Some("🙂 \u{fffd}"), Some("🙂 \u{fffd}")),
            (r#"{"a":"bad \x escape"}"#, Some(r"bad \x escape"), Some(r"bad \x escape")),
            (&long, Some("far"), Some("far")),
            ("", None, None),
        ] {
            let field = Field::new("\"a\"");
            assert_eq!(field.first(text.as_bytes()).as_deref(), first, "{text}");
            assert_eq!(field.last(text.as_bytes()).as_deref(), last, "{text}");
        }
    }
}
