//! Deltas that are logged and not in the tables yet.
//!
//! A transaction costs many times what a delta does, and deltas come one by one. So a delta is first written
//! to a [log](DeltaLog) of its own, in one call: from then on it survives the end of this process, and is
//! published. It gets into the tables with the next transaction, or when enough deltas are logged. This is
//! not visible outside: every reader has them moved into the tables first, and so does the next process that
//! opens the journal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;

use super::delta_log::{DeltaLog, LoggedDelta};
use super::events::SessionRow;
use crate::limits::{DELTAS_BYTES_MAX, DELTAS_MAX, DELTAS_STUCK_MAX};
use crate::{Event, EventDraft, Fence, Handle, JournalError, Key, Novelty, Stored};

pub(super) struct PendingDeltas {
    log: DeltaLog,
    /// In the order of their arrival.
    waiting: Vec<LoggedDelta>,
    bytes: usize,
    /// Number of waiting deltas, readable without the writer's lock.
    count: Arc<AtomicUsize>,
    /// Cached rows of sessions, with the number of their next delta. Other transactions may change them; then
    /// they are read again.
    sessions: HashMap<Key, SessionRow>,
}

/// Stored deltas: the results for the caller, and the events to publish.
pub(super) type Added = (Vec<Stored>, Vec<Arc<Event>>);

impl PendingDeltas {
    pub(super) fn new(log: DeltaLog) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        PendingDeltas { log, waiting: Vec::new(), bytes: 0, count, sessions: HashMap::new() }
    }

    pub(super) fn count(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.count)
    }

    /// Stores deltas. Returns none if they have to go through the queue.
    pub(super) fn add(
        &mut self,
        conn: &Connection,
        key: &Key,
        fence: Fence,
        drafts: &[EventDraft],
    ) -> Option<Result<Added, JournalError>> {
        if self.waiting.len() >= DELTAS_STUCK_MAX {
            return None;
        }
        let session = match self.sessions.get(key) {
            Some(session) => Ok(*session),
            None => SessionRow::find(conn, key),
        };
        let mut session = match session.and_then(|session| session.check_fence(key, fence)) {
            Ok(session) => session,
            Err(error) => return Some(Err(error)),
        };
        let mut deltas = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match session.number(draft) {
                Ok(event) => deltas.push(LoggedDelta {
                    handle: session.handle,
                    event: Arc::new(event),
                    host_offset: draft.host_offset,
                }),
                Err(error) => return Some(Err(error)),
            }
        }
        if let Err(error) = self.log.write(&deltas) {
            tracing::warn!(%error, "failed to log a delta; storing it directly");
            return None;
        }
        match self.sessions.get_mut(key) {
            Some(known) => *known = session,
            None => _ = self.sessions.insert(key.clone(), session),
        }
        let events: Vec<Arc<Event>> = deltas.iter().map(|delta| Arc::clone(&delta.event)).collect();
        let stored = events.iter().map(|event| Stored { cursor: event.cursor, novelty: Novelty::New });
        self.bytes += drafts.iter().map(|draft| draft.body.len()).sum::<usize>();
        self.waiting.extend(deltas);
        self.count.store(self.waiting.len(), Ordering::Release);
        Some(Ok((stored.collect(), events)))
    }

    /// True if enough are waiting to move them into the tables.
    pub(super) fn are_due(&self) -> bool {
        self.waiting.len() >= DELTAS_MAX || self.bytes >= DELTAS_BYTES_MAX
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the waiting deltas into the tables, within a transaction.
    pub(super) fn flush(&self, conn: &Connection) -> Result<(), JournalError> {
        flush(conn, &self.waiting)
    }

    /// Forgets the waiting deltas after they were committed to the tables.
    pub(super) fn forget_flushed(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
        self.count.store(0, Ordering::Release);
        self.log.begin_round();
    }

    /// Forgets the cached rows after another call was committed.
    pub(super) fn forget_rows(&mut self) {
        self.sessions.clear();
    }

    /// Forgets a deleted session.
    pub(super) fn forget(&mut self, key: &Key) {
        self.sessions.remove(key);
    }
}

/// Inserts deltas into the tables. Those that are there already, and those of deleted sessions, are skipped.
pub(super) fn flush(conn: &Connection, deltas: &[LoggedDelta]) -> Result<(), JournalError> {
    let mut sessions: HashMap<Handle, Option<SessionRow>> = HashMap::new();
    for delta in deltas {
        let session = match sessions.entry(delta.handle) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(SessionRow::of(conn, delta.handle)?),
        };
        let Some(session) = session else { continue };
        if delta.event.cursor == session.cursor(session.head + 1) {
            session.insert(conn, &delta.event)?;
            session.advance(&delta.event, delta.host_offset);
        }
    }
    sessions.values().flatten().try_for_each(|session| session.write(conn))
}
