//! Deltas that are logged and not in the tables yet.
//!
//! A transaction costs many times what a delta does, and deltas come one by one. So a delta is first written
//! to a [log](PieceLog) of its own, in one call: from then on it survives the end of this process, and is
//! published. It gets into the tables with the next transaction, or when enough deltas are logged. This is
//! not visible outside: every reader has them moved into the tables first, and so does the next process that
//! opens the journal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;

use super::events::Place;
use super::piece_log::{Piece, PieceLog};
use crate::journal::{Draft, Event, Fence, Handle, JournalError, Key, Novelty, Stored};
use crate::limits::{PIECES_BYTES_MAX, PIECES_MAX, PIECES_STUCK_MAX};

pub(super) struct Pieces {
    log: PieceLog,
    /// In the order of their arrival.
    waiting: Vec<Piece>,
    bytes: usize,
    /// Number of waiting deltas, readable without the writer's lock.
    count: Arc<AtomicUsize>,
    /// Cached rows of sessions, with the number of their next delta. Other transactions may change them; then
    /// they are read again.
    places: HashMap<Key, Place>,
}

/// Stored deltas: the results for the caller, and the events to publish.
pub(super) type Added = (Vec<Stored>, Vec<Arc<Event>>);

impl Pieces {
    pub(super) fn new(log: PieceLog) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        Pieces { log, waiting: Vec::new(), bytes: 0, count, places: HashMap::new() }
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
        drafts: &[Draft],
    ) -> Option<Result<Added, JournalError>> {
        if self.waiting.len() >= PIECES_STUCK_MAX {
            return None;
        }
        let place = match self.places.get(key) {
            Some(place) => Ok(*place),
            None => Place::find(conn, key),
        };
        let mut place = match place.and_then(|place| place.guarded(key, fence)) {
            Ok(place) => place,
            Err(error) => return Some(Err(error)),
        };
        let mut pieces = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match place.follow(draft) {
                Ok(event) => pieces.push(Piece {
                    handle: place.handle,
                    event: Arc::new(event),
                    host_offset: draft.host_offset,
                }),
                Err(error) => return Some(Err(error)),
            }
        }
        if let Err(error) = self.log.write(&pieces) {
            tracing::warn!(%error, "failed to log a delta; storing it directly");
            return None;
        }
        match self.places.get_mut(key) {
            Some(known) => *known = place,
            None => _ = self.places.insert(key.clone(), place),
        }
        let events: Vec<Arc<Event>> = pieces.iter().map(|piece| Arc::clone(&piece.event)).collect();
        let stored = events.iter().map(|event| Stored { cursor: event.cursor, novelty: Novelty::New });
        self.bytes += drafts.iter().map(|draft| draft.body.len()).sum::<usize>();
        self.waiting.extend(pieces);
        self.count.store(self.waiting.len(), Ordering::Release);
        Some(Ok((stored.collect(), events)))
    }

    /// True if enough are waiting to move them into the tables.
    pub(super) fn are_due(&self) -> bool {
        self.waiting.len() >= PIECES_MAX || self.bytes >= PIECES_BYTES_MAX
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the waiting deltas into the tables, within a transaction.
    pub(super) fn put_in(&self, conn: &Connection) -> Result<(), JournalError> {
        put_in(conn, &self.waiting)
    }

    /// Forgets the waiting deltas after they were committed to the tables.
    pub(super) fn are_in(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
        self.count.store(0, Ordering::Release);
        self.log.begin_again();
    }

    /// Forgets the cached rows after another call was committed.
    pub(super) fn forget_places(&mut self) {
        self.places.clear();
    }

    /// Forgets a deleted session.
    pub(super) fn forget(&mut self, key: &Key) {
        self.places.remove(key);
    }
}

/// Inserts deltas into the tables. Those that are there already, and those of deleted sessions, are skipped.
pub(super) fn put_in(conn: &Connection, pieces: &[Piece]) -> Result<(), JournalError> {
    let mut places: HashMap<Handle, Option<Place>> = HashMap::new();
    for piece in pieces {
        let place = match places.entry(piece.handle) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(Place::of(conn, piece.handle)?),
        };
        let Some(place) = place else { continue };
        if piece.event.cursor == place.cursor(place.head + 1) {
            place.insert(conn, &piece.event)?;
            place.take(&piece.event, piece.host_offset);
        }
    }
    places.values().flatten().try_for_each(|place| place.write(conn))
}
