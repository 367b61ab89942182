//! A position in checked JSON text that moves forward value by value.

use super::plain::string_end;
use super::{Raw, Text};

/// A position in checked JSON text, moving forward value by value.
///
/// The text was checked before, so nothing here can fail; on unchecked text, positions are clamped and the
/// results are meaningless but harmless.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    key_at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0, key_at: 0 }
    }

    /// First byte of the value at the cursor; 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        self.white();
        self.byte()
    }

    /// Takes the value at the cursor, as written.
    #[inline]
    pub fn raw(&mut self) -> Raw<'a> {
        self.white();
        let start = self.at;
        self.skip();
        Raw::new(self.slice(start, self.at))
    }

    /// Takes a string; `None`, without moving, if the value is something else.
    #[inline]
    pub fn text(&mut self) -> Option<Text<'a>> {
        if self.peek() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let (end, escaped) = string_end(self.text.as_bytes(), start);
        self.at = (end + 1).min(self.text.len());
        let inner = self.slice(start, end);
        Some(escaped.map_or_else(|| Text::unseen(inner), |escaped| Text::new(inner, escaped)))
    }

    /// Steps into an object; `false`, without moving, if the value is something else.
    #[inline]
    pub fn enter_object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Steps into an array; `false`, without moving, if the value is something else.
    #[inline]
    pub fn enter_array(&mut self) -> bool {
        self.enter(b'[')
    }

    /// The next key of the entered object, with the cursor on its value; `None` once the object is left.
    #[inline]
    pub fn next_key(&mut self) -> Option<Text<'a>> {
        if self.peek() == b',' {
            self.at += 1;
            self.white();
        }
        self.key_at = self.at;
        let Some(key) = self.text() else {
            // The closing bracket.
            self.at = (self.at + 1).min(self.text.len());
            return None;
        };
        self.white();
        self.at = (self.at + 1).min(self.text.len());
        self.white();
        Some(key)
    }

    /// True if another item of the entered array follows; on `false` the array is left.
    #[inline]
    pub fn next_item(&mut self) -> bool {
        match self.peek() {
            b',' => {
                self.at += 1;
                self.white();
                true
            }
            b']' | 0 => {
                self.at = (self.at + 1).min(self.text.len());
                false
            }
            _ => true,
        }
    }

    /// Skips the value at the cursor.
    #[inline]
    pub fn skip(&mut self) {
        match self.peek() {
            b'"' => {
                self.text();
            }
            b'{' | b'[' => self.skip_container(),
            _ => {
                let bytes = self.text.as_bytes();
                while !matches!(
                    bytes.get(self.at),
                    None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
                ) {
                    self.at += 1;
                }
            }
        }
    }

    /// Moves to the next string, a key or a value, and returns the skipped text; `None` if there is none.
    #[inline]
    pub(crate) fn pass_to_string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..)?;
        self.at = start + memchr::memchr(b'"', rest)?;
        Some(self.since(start))
    }

    /// String under a key of the object at the cursor, without moving. The last one counts.
    pub(crate) fn tag(&self, key: &str) -> Option<Text<'a>> {
        self.tags(key).last().flatten()
    }

    /// Same as [`Cursor::tag`], but the first one: cheaper, and equal unless the key is duplicated.
    pub(crate) fn first_tag(&self, key: &str) -> Option<Text<'a>> {
        self.tags(key).next().flatten()
    }

    fn tags(&self, key: &str) -> impl Iterator<Item = Option<Text<'a>>> {
        let mut ahead = self.clone();
        let mut inside = ahead.enter_object();
        std::iter::from_fn(move || {
            while inside {
                let Some(name) = ahead.next_key() else {
                    inside = false;
                    break;
                };
                if name == key {
                    return Some(ahead.text().or_else(|| {
                        ahead.skip();
                        None
                    }));
                }
                ahead.skip();
            }
            None
        })
    }

    /// The next key with its whole member (`"key":value`), as written.
    pub(crate) fn next_member(&mut self) -> Option<(Text<'a>, &'a str)> {
        let key = self.next_key()?;
        let start = self.key_at;
        self.skip();
        Some((key, self.since(start)))
    }

    /// Offset of the last key: the start of the member that [`Cursor::since`] returns.
    pub(crate) fn key_at(&self) -> usize {
        self.key_at
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// Text from `start` to the cursor.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.slice(start, self.at)
    }

    #[inline]
    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn white(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    #[inline]
    fn enter(&mut self, bracket: u8) -> bool {
        if self.peek() != bracket {
            return false;
        }
        self.at += 1;
        true
    }

    fn skip_container(&mut self) {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.text();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
