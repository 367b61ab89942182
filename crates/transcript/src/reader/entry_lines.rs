//! Entries in memory, for sessions of other agents.

use tidings_protocol::entry::{Entry, EntryRef};

use crate::Position;

/// Entries in memory: a session of another agent, converted to the entries of Claude Code.
///
/// The line of a position is the one in the agent's own file, and its offset is in memory.
#[derive(Debug, Clone, Default)]
pub struct EntryLines {
    bytes: Vec<u8>,
    places: Vec<Position>,
}

impl EntryLines {
    /// Appends an entry that was made from this line of the agent's file.
    pub(crate) fn push(&mut self, line: u64, entry: &str) {
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(entry.as_bytes());
        self.places.push(Position { line, offset, bytes: entry.len() as u64 });
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true without entries.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The entries with their positions.
    pub fn iter(&self) -> impl Iterator<Item = (Position, EntryRef<'_>)> {
        self.places.iter().filter_map(|place| Some((*place, EntryRef::decode(self.slice(*place)).ok()?)))
    }

    /// The entry at a position.
    pub(crate) fn read(&self, place: Position) -> Option<Entry> {
        Entry::decode_lossy(self.slice(place)).ok()
    }

    fn slice(&self, place: Position) -> &[u8] {
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.bytes.get(at(place.offset)..at(place.offset.saturating_add(place.bytes))).unwrap_or_default()
    }
}
