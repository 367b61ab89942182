//! Finds the few members of a line that counting needs, in one pass that skips everything else.
//!
//! A full check of a line takes four times as long as skipping over its text, and there are hundreds of
//! megabytes of it. So this only follows quotes and brackets; the members that it returns are checked, and an
//! irregular line (escaped keys, other bytes between the strings, bytes after the object) is left to the full
//! check.

use memchr::memchr;

/// The members of an assistant entry, as values with their quotes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Members<'a> {
    pub(super) kind: Option<&'a [u8]>,
    pub(super) uuid: Option<&'a [u8]>,
    pub(super) timestamp: Option<&'a [u8]>,
    pub(super) session: Option<&'a [u8]>,
    pub(super) session_snake: Option<&'a [u8]>,
    pub(super) cwd: Option<&'a [u8]>,
    pub(super) sidechain: Option<&'a [u8]>,
    pub(super) api_error: Option<&'a [u8]>,
    pub(super) forked_from: Option<&'a [u8]>,
    /// True if `message` is an object; it contains the other members.
    pub(super) message: bool,
    pub(super) id: Option<&'a [u8]>,
    pub(super) model: Option<&'a [u8]>,
    pub(super) stop_reason: Option<&'a [u8]>,
    pub(super) usage: Option<&'a [u8]>,
}

/// The members of the object that fills `line`; `None` if it is irregular in any way.
pub(super) fn line(line: &[u8]) -> Option<Members<'_>> {
    let mut walk = LineWalk { bytes: line, at: 0 };
    let mut found = Members::default();
    walk.object(|walk, key| {
        if key == b"message" {
            (found.message, found.id, found.model, found.stop_reason, found.usage) =
                (false, None, None, None, None);
            if walk.peek() == b'{' {
                found.message = true;
                return walk.object(|walk, key| {
                    let value = walk.value()?;
                    match key {
                        b"id" => found.id = Some(value),
                        b"model" => found.model = Some(value),
                        b"stop_reason" => found.stop_reason = Some(value),
                        b"usage" => found.usage = Some(value),
                        _ => {}
                    }
                    Some(())
                });
            }
        }
        let value = walk.value()?;
        match key {
            b"type" => found.kind = Some(value),
            b"uuid" => found.uuid = Some(value),
            b"timestamp" => found.timestamp = Some(value),
            b"sessionId" => found.session = Some(value),
            b"session_id" => found.session_snake = Some(value),
            b"cwd" => found.cwd = Some(value),
            b"isSidechain" => found.sidechain = Some(value),
            b"isApiErrorMessage" => found.api_error = Some(value),
            b"forkedFrom" => found.forked_from = Some(value),
            _ => {}
        }
        Some(())
    })?;
    walk.skip_white_space();
    (walk.at == line.len()).then_some(found)
}

/// A cursor that moves forward through a line.
struct LineWalk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> LineWalk<'a> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    /// Calls `each` for every key of the object here; `each` has to consume the value.
    fn object(&mut self, mut each: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.expect_byte(b'{')?;
        self.skip_white_space();
        if self.peek() == b'}' {
            return self.expect_byte(b'}');
        }
        loop {
            self.skip_white_space();
            let key = self.string()?;
            let key = key.get(1..key.len() - 1)?;
            if memchr(b'\\', key).is_some() {
                return None;
            }
            self.skip_white_space();
            self.expect_byte(b':')?;
            self.skip_white_space();
            each(self, key)?;
            self.skip_white_space();
            match self.peek() {
                b',' => self.at += 1,
                _ => return self.expect_byte(b'}'),
            }
        }
    }

    /// Consumes a value.
    fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.peek() {
            b'"' => return self.string(),
            b'{' | b'[' => self.container()?,
            _ => {
                while matches!(self.peek(), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.') {
                    self.at += 1;
                }
            }
        }
        self.bytes.get(start..self.at).filter(|value| !value.is_empty())
    }

    /// Consumes a string, quotes included.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.expect_byte(b'"')?;
        let inside = self.at;
        loop {
            let quote = self.at + memchr(b'"', self.bytes.get(self.at..)?)?;
            self.at = quote + 1;
            let slashes = self.bytes[inside..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if slashes % 2 == 0 {
                return self.bytes.get(start..self.at);
            }
        }
    }

    /// Consumes an object or an array. Two records that run into each other have letters in illegal
    /// positions, and a truncated record has no end.
    fn container(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'0'..=b'9' | b'-' | b'+' | b'.' => {}
                byte if b"truefalsnE".contains(&byte) => {}
                _ => return None,
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn only_what_stands_at_its_place_is_found() {
        let text = concat!(
            r#"{"type":"assistant","message":{"content":[{"usage":1,"id":"no"},"\"usage\":{}\\"],"id":"m","usage":{"a":[1]},"#,
            r#""stop_reason":null},"toolUseResult":{"usage":3},"usage":4, "isSidechain" : false ,"cwd":"C:\\x"}  "#,
        );
        let found = line(text.as_bytes()).unwrap();
        assert_eq!(found.id, Some(&b"\"m\""[..]));
        assert_eq!(found.usage, Some(&b"{\"a\":[1]}"[..]));
        assert_eq!(found.stop_reason, Some(&b"null"[..]));
        assert_eq!(found.sidechain, Some(&b"false"[..]));
        assert_eq!(found.cwd, Some(&br#""C:\\x""#[..]));
        assert_eq!((found.model, found.uuid), (None, None));
    }

    #[test]
    fn odd_lines_are_left_to_others() {
        for odd in [
            "",
            "[]",
            "{",
            "{}{}",
            "{} x",
            "\u{feff}{}",
            r#"{"a":1"#,
            r#"{"a":}"#,
            r#"{"a" 1}"#,
            r#"{"us\u0061ge":1}"#,
            r#"{"a":[}"#,
            r#"{"a":"b{"isSidechain":false}"#,
            r#"{"a":[{"text":"b{"type":"user","x":"y"}"#,
            r#"{"message":{"content":[{"text":"cut{"uuid":"x","message":{"usage":{}}}"#,
        ] {
            assert_eq!(line(odd.as_bytes()), None, "{odd}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\"\\\\{}\\[\\]:,a-z\n\u{1f}é]{0,12}".prop_map(Value::from),
        ];
        let key = prop_oneof![Just("usage".to_owned()), Just("message".to_owned()), "[\"\\\\a]{0,3}"];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map(key.clone(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_else_a_line_holds_its_members_are_found(before in value(), content in value(), after in value()) {
            let usage = r#"{"input_tokens":1}"#;
            let text = format!(
                r#"{{"a":{before},"message":{{"content":{content},"usage":{usage}}},"b":{after},"uuid":"u"}}"#
            );
            let found = line(text.as_bytes());
            // Escaped keys at the top level are irregular; nested ones are skipped.
            let found = found.unwrap();
            prop_assert_eq!(found.usage, Some(usage.as_bytes()));
            prop_assert_eq!(found.uuid, Some(&b"\"u\""[..]));
            // None of its proper prefixes is a line.
            for cut in (0..text.len()).step_by(7) {
                prop_assert_eq!(line(&text.as_bytes()[..cut]), None);
            }
        }

        #[test]
        fn any_bytes_are_walked_without_harm(bytes in prop::collection::vec(prop::sample::select(&b"{}[]\":,\\ a1\n"[..]), 0..60)) {
            // These bytes cannot spell a key.
            prop_assert!(line(&bytes).is_none_or(|found| found == Members::default()));
        }
    }
}
