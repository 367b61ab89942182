//! Limits for the events that a session keeps, and the walk that removes the oldest.

use jiff::Timestamp;

/// Limits for the events that a session keeps. Each one that is set is a bound; the tightest one counts.
///
/// An open ask and everything after it are kept in any case: a user can only answer what can be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Number of newest events.
    pub events: Option<u64>,
    /// Bytes of newest events.
    pub bytes: Option<u64>,
    /// Events of this time or later. The first event that is kept ends the removal, as times may go back.
    pub since: Option<Timestamp>,
}

/// Result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retained {
    /// The number of the oldest event that is left.
    pub floor: u64,
    /// Number of events that were removed.
    pub removed: u64,
    /// Tells if there is more to do.
    pub rest: Rest,
}

/// Remaining work of retention, which runs in steps, so that no append waits long for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Nothing is left to remove.
    Done,
    /// Call it again.
    More,
}

/// Walks over a session's oldest events and decides which of them to remove; the same for every engine.
#[derive(Debug)]
pub(crate) struct RetentionWalk {
    keep: Keep,
    events: u64,
    bytes: u64,
    floor: u64,
    first_kept: u64,
}

impl RetentionWalk {
    /// `asked` is the number of the oldest event that an open ask needs.
    pub(crate) fn new(keep: Keep, head: u64, floor: u64, bytes: u64, asked: Option<u64>) -> Self {
        RetentionWalk { keep, events: head + 1 - floor, bytes, floor, first_kept: asked.unwrap_or(u64::MAX) }
    }

    /// Decides if the oldest remaining event is removed; call it for each event in turn until it returns
    /// false.
    pub(crate) fn drops(&mut self, at: Timestamp, weight: u64) -> bool {
        let over = self.keep.events.is_some_and(|max| self.events > max)
            || self.keep.bytes.is_some_and(|max| self.bytes > max)
            || self.keep.since.is_some_and(|since| at < since);
        if !over || self.floor >= self.first_kept {
            return false;
        }
        self.events -= 1;
        self.bytes = self.bytes.saturating_sub(weight);
        self.floor += 1;
        true
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
