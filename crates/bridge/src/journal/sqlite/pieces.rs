//! Pieces of text that were stored and are not in the tables yet.
//!
//! A transaction costs many times what a piece of text does, and pieces come one by one. So a piece is first written to a
//! [log](PieceLog) of its own, in one go: from then on it survives the end of this process, and whoever watches may see
//! it. It gets into the tables with the next transaction, whomever that is for, or when enough pieces wait. Nobody can tell:
//! whoever reads has them put in first, and so does the next process that opens the journal.

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
    /// In the order in which they came.
    waiting: Vec<Piece>,
    bytes: usize,
    /// How many wait, for those who want to know without sitting down at the desk.
    count: Arc<AtomicUsize>,
    /// Where the next piece of a session goes. Other transactions may change that, and then it is looked up again.
    places: HashMap<Key, Place>,
}

/// Pieces that were stored: what to answer, and what to tell.
pub(super) type Added = (Vec<Stored>, Vec<Arc<Event>>);

impl Pieces {
    pub(super) fn new(log: PieceLog) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        Pieces { log, waiting: Vec::new(), bytes: 0, count, places: HashMap::new() }
    }

    pub(super) fn count(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.count)
    }

    /// Stores pieces. Gives nothing if they have to take the way of everything else.
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
            tracing::warn!(%error, "a piece of text could not be written to its log, and is stored without it");
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

    /// Whether so many wait that they should be put in.
    pub(super) fn are_due(&self) -> bool {
        self.waiting.len() >= PIECES_MAX || self.bytes >= PIECES_BYTES_MAX
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts those that wait into the tables, within a transaction.
    pub(super) fn put_in(&self, conn: &Connection) -> Result<(), JournalError> {
        put_in(conn, &self.waiting)
    }

    /// They are in the tables, and that is committed.
    pub(super) fn are_in(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
        self.count.store(0, Ordering::Release);
        self.log.begin_again();
    }

    /// Something else was committed with them: a place may be another one now.
    pub(super) fn forget_places(&mut self) {
        self.places.clear();
    }

    /// A session is gone.
    pub(super) fn forget(&mut self, key: &Key) {
        self.places.remove(key);
    }
}

/// Puts pieces into the tables. Those that are there already, and those of sessions that are gone, are left out.
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
