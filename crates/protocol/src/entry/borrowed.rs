//! An entry that borrows its line, decoded on demand.

use std::borrow::Cow;

use super::head::{EntryHead, EntryHeadBuilder};
use super::{Dialect, Entry, EntryBody, EntryKind, TypedEntry};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::frame::{MessageSpans, scan, scan_text};
use crate::json::{Raw, Reading, Text};

/// An entry that borrows its line. [`Entry`] owns its line.
///
/// Decoding checks the whole line once and notes the positions of the usual keys; bodies are read on demand.
#[derive(Debug, Clone, Copy)]
pub struct EntryRef<'a> {
    text: &'a str,
    head: EntryHead,
}

/// Accessors for strings whose positions are in the head.
macro_rules! texts {
    ($( $(#[$meta:meta])* $name:ident; )+) => {$(
        $(#[$meta])*
        pub fn $name(&self) -> Option<Cow<'a, str>> {
            self.head.$name.text(self.text).map(Text::get)
        }
    )+};
}

impl<'a> EntryRef<'a> {
    /// Decodes one line. White space around the object and a byte order mark before it are allowed.
    #[inline]
    pub fn decode(line: &'a [u8]) -> Result<Self, DecodeError> {
        let mut builder = EntryHeadBuilder::default();
        let scanned = scan(line, &mut builder)?;
        Ok(builder.finish(scanned.text, scanned.lone_surrogate))
    }

    /// Decodes the object at the start of `text`, and returns the text after it.
    pub fn decode_first(text: &'a str) -> Result<(Self, &'a str), DecodeError> {
        let mut builder = EntryHeadBuilder::default();
        let scanned = scan_text(text, &mut builder)?;
        Ok((builder.finish(scanned.text, scanned.lone_surrogate), scanned.after))
    }

    /// Decodes a line with several concatenated objects, as left by a crash during a write.
    ///
    /// Text after the last whole object is an error.
    pub fn decode_glued(line: &'a [u8]) -> Result<Vec<Self>, DecodeError> {
        let mut entries = Vec::new();
        let mut rest = std::str::from_utf8(line)
            .map_err(|error| DecodeError::new(DecodeErrorKind::Utf8, line, error.valid_up_to()))?;
        loop {
            let (entry, after) = Self::decode_first(rest)?;
            entries.push(entry);
            rest = after.trim_start();
            if rest.is_empty() {
                return Ok(entries);
            }
        }
    }

    /// Bytes of the entry, without the white space around it.
    pub fn raw(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The entry as a JSON value.
    pub fn json(&self) -> Raw<'a> {
        Raw::new(self.text)
    }

    /// Value of a top-level key. Of duplicate keys the last counts.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.json().get(key)
    }

    /// Kind of the entry, from its `type`.
    pub fn kind(&self) -> EntryKind {
        self.head.kind
    }

    texts! {
        /// The `type` as written, unknown ones included; `None` when it is missing or not a string.
        type_name;
        /// The `subtype`: of system entries, and of assistant entries in the session specification.
        subtype;
        /// Id of the entry. Forks repeat it, so it is unique only within one file.
        uuid;
        /// Parent of the entry; `None` for a root.
        parent_uuid;
        /// Predecessor of a compaction boundary, whose `parentUuid` is `null`.
        logical_parent_uuid;
        /// Session id. Entries of sub-agents have the id of the session that started them.
        session_id;
        /// Sub-agent that the entry belongs to.
        agent_id;
        /// API id of the request that was answered.
        request_id;
        /// Working folder of the session.
        cwd;
        /// Leaf that a `summary` or a `last-prompt` refers to. It may be further down, or in another file.
        leaf_uuid;
    }

    /// Name for statistics: `assistant`, `attachment`, `system/compact_boundary`, …
    pub fn name(&self) -> Cow<'a, str> {
        let name = self.type_name().unwrap_or(Cow::Borrowed("(no type)"));
        match self.subtype() {
            Some(subtype) if self.kind() == EntryKind::System => Cow::Owned(format!("{name}/{subtype}")),
            _ => name,
        }
    }

    /// Time of the entry, as written: ISO 8601, or milliseconds since 1970 in the later revision of the
    /// session specification.
    ///
    /// Entries may be out of order by timestamp; the order of lines and the parents are authoritative.
    pub fn timestamp(&self) -> Option<Cow<'a, str>> {
        let raw = self.head.timestamp.raw(self.text)?;
        match raw.text() {
            Some(text) => Some(text.get()),
            None => raw.f64().map(|_| Cow::Borrowed(raw.as_str())),
        }
    }

    /// True if the entry is part of the tree: it has a uuid, and its kind is chained or unknown.
    pub fn is_chained(&self) -> bool {
        (self.kind().is_chained() || self.kind() == EntryKind::Unknown)
            && self.head.uuid.text(self.text).is_some()
    }

    /// True if the entry belongs to a sub-agent.
    pub fn is_sidechain(&self) -> bool {
        self.head.is_sidechain
    }

    /// True if the client wrote it for the model and not for the user.
    pub fn is_meta(&self) -> bool {
        self.head.is_meta
    }

    /// True if text of the entry has a lone surrogate, which decodes to U+FFFD. The raw bytes still have it.
    pub fn repaired(&self) -> bool {
        self.head.repaired
    }

    /// Dialect of the entry.
    pub fn dialect(&self) -> Dialect {
        Dialect::of(self)
    }

    /// The entry as an owned value.
    pub fn body(&self) -> EntryBody {
        self.typed().body
    }

    /// The entry as an owned value, with the fields that did not fit.
    pub fn typed(&self) -> TypedEntry {
        let mut reading = Reading::default();
        let body = EntryBody::read_entry(self, &mut reading);
        TypedEntry { body, refused: reading.refused }
    }

    /// An owned copy.
    pub fn to_entry(&self) -> Entry {
        Entry::new(self.text.into(), self.head)
    }

    /// The `message` of a kind of entry that has one; a key of that name in other kinds is ignored.
    pub(super) fn message(&self) -> Option<Raw<'a>> {
        if self.kind().has_message() { self.head.message.raw(self.text) } else { None }
    }

    /// Positions of the parts of the message, and the text they refer to; meaningless if the message is not
    /// an object.
    pub(super) fn message_spans(&self) -> (&MessageSpans, &'a str) {
        (&self.head.message_spans, self.text)
    }

    /// True if the timestamp is a number.
    pub(super) fn counts_millis(&self) -> bool {
        self.head.timestamp.raw(self.text).and_then(Raw::f64).is_some()
    }

    pub(super) fn from_parts(text: &'a str, head: EntryHead) -> Self {
        EntryRef { text, head }
    }
}
