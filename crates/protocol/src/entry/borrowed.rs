use std::borrow::Cow;

use super::head::{Head, Noting};
use super::{Dialect, Entry, EntryBody, EntryKind, TypedEntry};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::frame::{SaidSpans, scan, scan_text};
use crate::json::{Raw, Reading, Text};

/// An entry that borrows its line. [`Entry`] is the same with the line its own.
///
/// Decoding checks the whole line once and notes where the usual keys stand; bodies are read when asked for.
#[derive(Debug, Clone, Copy)]
pub struct EntryRef<'a> {
    text: &'a str,
    head: Head,
}

/// Accessors for strings whose places the head knows.
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
        let mut noting = Noting::default();
        let scanned = scan(line, &mut noting)?;
        Ok(noting.finish(scanned.text, scanned.lone_surrogate))
    }

    /// Decodes the object that `text` begins with, and gives what follows it.
    pub fn decode_first(text: &'a str) -> Result<(Self, &'a str), DecodeError> {
        let mut noting = Noting::default();
        let scanned = scan_text(text, &mut noting)?;
        Ok((noting.finish(scanned.text, scanned.lone_surrogate), scanned.after))
    }

    /// Decodes a line on which several objects are glued together, as after a crash in mid-write.
    ///
    /// Whatever follows the last whole object is an error.
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

    /// The entry's own bytes, without what surrounded it on the line.
    pub fn raw(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The entry as a JSON value to look into.
    pub fn json(&self) -> Raw<'a> {
        Raw::new(self.text)
    }

    /// The value of a top-level key. Of duplicate keys the last counts.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.json().get(key)
    }

    /// Which `type`.
    pub fn kind(&self) -> EntryKind {
        self.head.kind
    }

    texts! {
        /// The `type` as written, also of a kind that nobody knows; `None` when it is missing or no string.
        type_name;
        /// The `subtype`: of system entries, and of assistant entries in seed 001.
        subtype;
        /// The entry's own id. Forks repeat it, so that it is unique only within one file.
        uuid;
        /// The entry that this one follows; `None` for a root.
        parent_uuid;
        /// What a compaction boundary follows, where `parentUuid` says that it follows nothing.
        logical_parent_uuid;
        /// The session. Entries of sub-agents name the session that started them.
        session_id;
        /// The sub-agent that the entry belongs to.
        agent_id;
        /// The API's id of the request that was answered.
        request_id;
        /// The folder that the session worked in.
        cwd;
        /// The leaf that a `summary` or a `last-prompt` speaks of. It may stand further down, or in another file.
        leaf_uuid;
    }

    /// The name under which entries are counted: `assistant`, `attachment`, `system/compact_boundary`, …
    pub fn name(&self) -> Cow<'a, str> {
        let name = self.type_name().unwrap_or(Cow::Borrowed("(no type)"));
        match self.subtype() {
            Some(subtype) if self.kind() == EntryKind::System => Cow::Owned(format!("{name}/{subtype}")),
            _ => name,
        }
    }

    /// When the entry was made, as written: ISO 8601, or milliseconds since 1970 in the rewrite of seed 001.
    ///
    /// Neighbours may be out of order by this; the order of lines and the parents rule.
    pub fn timestamp(&self) -> Option<Cow<'a, str>> {
        let raw = self.head.timestamp.raw(self.text)?;
        match raw.text() {
            Some(text) => Some(text.get()),
            None => raw.f64().map(|_| Cow::Borrowed(raw.as_str())),
        }
    }

    /// Whether the entry has a place in the tree: its kind has one, or nobody knows the kind, and it has a uuid.
    pub fn is_chained(&self) -> bool {
        (self.kind().is_chained() || self.kind() == EntryKind::Unknown)
            && self.head.uuid.text(self.text).is_some()
    }

    /// Whether the entry belongs to a sub-agent.
    pub fn is_sidechain(&self) -> bool {
        self.head.is_sidechain
    }

    /// Whether the client wrote this for the model and not for a person.
    pub fn is_meta(&self) -> bool {
        self.head.is_meta
    }

    /// Whether text of the entry holds a lone surrogate, which shows as U+FFFD. The raw bytes still have it.
    pub fn repaired(&self) -> bool {
        self.head.repaired
    }

    /// Which way of writing entries this one follows.
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

    /// The `message` of an entry that says something; no other kind's key of that name counts.
    pub(super) fn message(&self) -> Option<Raw<'a>> {
        if self.kind().has_message() { self.head.message.raw(self.text) } else { None }
    }

    /// Where the parts of the message stand, and in which text; they mean nothing where it is no object.
    pub(super) fn said_spans(&self) -> (&SaidSpans, &'a str) {
        (&self.head.said, self.text)
    }

    /// Whether the time is a number.
    pub(super) fn counts_millis(&self) -> bool {
        self.head.timestamp.raw(self.text).and_then(Raw::f64).is_some()
    }

    pub(super) fn from_parts(text: &'a str, head: Head) -> Self {
        EntryRef { text, head }
    }
}
