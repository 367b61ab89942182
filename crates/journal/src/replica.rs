//! Events of a session that another server owns, as a unit to store.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Epoch, ErrorKind, Event, Extent, JournalError, Key, StoredRequest};
use crate::limits::{BODY_BYTES_MAX, DRAFTS_MAX, SEQ_MAX};

/// Events of a session that another server owns, with their own numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// The key of the session.
    pub key: Key,
    /// The server that owns it.
    pub node: String,
    /// The epoch of the events.
    pub epoch: Epoch,
    /// The number of the first event; without events, that of the next one.
    pub first: u64,
    /// True if events of other epochs are void.
    pub restart: bool,
    /// Epochs that ended, each with its last surviving number.
    pub past: Vec<(Epoch, u64)>,
    /// The events, with consecutive cursors.
    pub events: Vec<Event>,
    /// The row of the session; none if it has not changed.
    pub row: Option<ReplicaRow>,
}

/// The row of a session that another server owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaRow {
    /// Its working directory.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// Labels to find it by.
    pub labels: BTreeMap<String, String>,
    /// Its settings, as JSON that is opaque to the journal.
    pub settings: String,
    /// Its state, in one word.
    pub state: String,
    /// The CLI's own ids for it.
    pub cli_sessions: Vec<String>,
    /// Time of its creation.
    pub created: Timestamp,
    /// Its open asks.
    pub asks: Vec<StoredRequest>,
}

/// Effect of a unit on the events of a replica; the same for every engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplicaStep {
    /// It is older than the replica, and changes nothing.
    Old,
    /// Its events follow; the first ones may be there already.
    Append {
        /// Number of events to skip.
        skip: usize,
    },
    /// The events of the replica are dropped, and its own are the first.
    Restart,
}

impl Replica {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        let invalid = |message: &str| JournalError::new(ErrorKind::Invalid, message, "");
        if self.events.len() > DRAFTS_MAX {
            return Err(JournalError::too_large("The number of events in one append", DRAFTS_MAX));
        }
        if self.events.iter().any(|event| event.body.len() > BODY_BYTES_MAX) {
            return Err(JournalError::too_large("The length of an event", BODY_BYTES_MAX));
        }
        if self.first == 0 || self.first.saturating_add(self.events.len() as u64) > SEQ_MAX {
            return Err(invalid("The numbers of a replica are out of range"));
        }
        let is_dense = (self.first..)
            .zip(&self.events)
            .all(|(seq, event)| event.cursor.seq == seq && event.cursor.epoch == self.epoch);
        if is_dense { Ok(()) } else { Err(invalid("The events of a replica are not consecutive")) }
    }

    /// The effect on a replica with these events.
    pub(crate) fn step(&self, extent: &Extent) -> ReplicaStep {
        let next = extent.head + 1;
        let is_empty = extent.head == 0 && extent.floor == 1;
        if self.epoch != extent.epoch && !is_empty {
            let is_past = extent.past.iter().any(|(epoch, _)| *epoch == self.epoch);
            return match (is_past, self.restart, self.first == next) {
                (true, ..) => ReplicaStep::Old,
                (false, false, true) => ReplicaStep::Append { skip: 0 },
                (false, ..) => ReplicaStep::Restart,
            };
        }
        // The owner publishes everything again for readers that lack the beginning.
        let has_beginning = self.restart && !is_empty && self.first < extent.floor;
        if self.first > next || has_beginning || (is_empty && self.first != 1) {
            return ReplicaStep::Restart;
        }
        let last = self.first + self.events.len() as u64;
        if last < next {
            return ReplicaStep::Old;
        }
        ReplicaStep::Append { skip: usize::try_from(next - self.first).unwrap_or(usize::MAX) }
    }

    /// The error for a session of the same key that another server owns.
    pub(crate) fn is_of_another(&self) -> JournalError {
        let message = format!("The session `{}` of `{}` has the key of another one", self.key, self.node);
        JournalError::new(ErrorKind::Exists, message, "delete one of them")
    }
}
