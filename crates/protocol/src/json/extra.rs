//! Members of an object that no typed field holds, kept as written.

use std::fmt;

use super::text::write_string;
use super::{Cursor, Members, Raw, Text, Wire};

/// Members of an object that its typed fields would not write back identically: unknown keys, an explicit
/// `null`, an explicit default, and values that did not fit.
///
/// They are kept as written, in one string.
#[derive(Clone, Default)]
pub struct Extra {
    /// Members as written in the line, joined by commas.
    text: String,
}

/// Usual size in bytes of the members kept for a frame.
const EXTRA_BYTES_USUAL: usize = 128;

impl Extra {
    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Value of a key. Of duplicate keys the last counts.
    pub fn get(&self, key: &str) -> Option<Raw<'_>> {
        self.iter().filter(|(name, _)| *name == key).last().map(|(_, value)| value)
    }

    /// All members in their original order.
    pub fn iter(&self) -> Members<'_> {
        Members::inside(&self.text)
    }

    /// Sets a key, replacing its value. Accepts any [`serde_json::Value`].
    pub fn insert<T: Wire>(&mut self, key: &str, value: &T) {
        self.remove(key);
        let mut member = String::new();
        write_string(key, &mut member);
        member.push(':');
        value.write(&mut member);
        self.keep(&member);
    }

    /// Removes a key; returns whether it was present.
    pub fn remove(&mut self, key: &str) -> bool {
        let mut rest = Extra::default();
        let mut found = false;
        let mut cursor = Cursor::new(&self.text);
        while let Some((name, member)) = cursor.next_member() {
            if name == key {
                found = true;
            } else {
                rest.keep(member);
            }
        }
        if found {
            *self = rest;
        }
        found
    }

    /// Keeps one member (`"key":value`) as written.
    #[inline]
    pub(crate) fn keep(&mut self, member: &str) {
        self.make_room(member.len());
        self.text.push_str(member);
    }

    /// Keeps an explicit `null` under a key that needs no escapes.
    pub(crate) fn keep_null(&mut self, key: &str) {
        self.make_room(key.len() + 7);
        for part in ["\"", key, "\":null"] {
            self.text.push_str(part);
        }
    }

    #[inline]
    fn make_room(&mut self, length: usize) {
        if self.text.is_empty() {
            // Most frames keep a few short members: reserve space for them at once.
            self.text.reserve(length.max(EXTRA_BYTES_USUAL));
        } else {
            self.text.push(',');
        }
    }

    /// Writes all members except those that `taken` names, with a comma before each but the first of the
    /// object.
    pub(crate) fn write(&self, out: &mut String, first: &mut bool, taken: &dyn Fn(&str) -> bool) {
        let mut cursor = Cursor::new(&self.text);
        while let Some((name, member)) = cursor.next_member() {
            if taken(&name.get()) {
                continue;
            }
            if !std::mem::take(first) {
                out.push(',');
            }
            out.push_str(member);
        }
    }

    /// The members as text, without the brackets of the object.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Cursor inside the object of these members, for reading typed values.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.text)
    }
}

impl<'a> IntoIterator for &'a Extra {
    type Item = (Text<'a>, Raw<'a>);
    type IntoIter = Members<'a>;

    fn into_iter(self) -> Members<'a> {
        self.iter()
    }
}

/// Compares the members as one JSON object.
impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            || super::same_json(
                Raw::new(&format!("{{{}}}", self.text)),
                Raw::new(&format!("{{{}}}", other.text)),
            )
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.text)
    }
}
