use super::{Cursor, Text};

/// Every string inside a value, with its key; see [`Raw::strings`](super::Raw::strings).
#[derive(Debug, Clone)]
pub struct Strings<'a> {
    cursor: Cursor<'a>,
    key: Option<Text<'a>>,
}

impl<'a> Strings<'a> {
    pub(super) fn of(cursor: Cursor<'a>) -> Self {
        Strings { cursor, key: None }
    }
}

impl<'a> Iterator for Strings<'a> {
    type Item = (Option<Text<'a>>, Text<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let passed = self.cursor.pass_to_string()?;
            // Only white space and a colon may be between a key and its string.
            if !passed.bytes().all(|byte| matches!(byte, b':' | b' ' | b'\n' | b'\r' | b'\t')) {
                self.key = None;
            }
            let text = self.cursor.text()?;
            if self.cursor.peek() != b':' {
                return Some((self.key.take(), text));
            }
            self.key = Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Raw;

    fn strings(text: &str) -> Vec<String> {
        let strings = Raw::parse(text).unwrap().strings();
        let shown = strings.map(|(key, text)| match key {
            Some(key) => format!("{key}={text}"),
            None => text.to_string(),
        });
        shown.collect()
    }

    #[test]
    fn strings_are_found_at_any_depth_with_their_keys() {
        assert_eq!(strings(r#""plain""#), ["plain"]);
        assert_eq!(strings("[1, true, null, {}]"), Vec::<String>::new());
        assert_eq!(
            strings(r#"{"a" : "x", "b":[ "y","z\"\\"],"c":{"d":1,"e":"w"},"f":["v"], "":"" }"#),
            ["a=x", "y", "z\"\\", "e=w", "v", "="]
        );
    }

    #[test]
    fn deep_nesting_costs_neither_stack_nor_time() {
        let deep = format!("{}\"x\"{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        assert_eq!(strings(&deep), ["x"]);
    }
}
