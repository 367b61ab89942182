//! An iterator over every string inside a value.

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
