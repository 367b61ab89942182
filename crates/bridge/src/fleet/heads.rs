//! Heads of sessions: this server announces how far its own go, and compares those of others with its
//! replicas. So it knows what it lacks, also after the stream was lost, and asks the owner for it.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tidings_fleet::{Name, SessionHead};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{
    Commit, Cursor, Epoch, ErrorKind, Event, Journal, JournalError, Key, Max, Session, SessionName,
};
use tidings_sessions::Sessions;
use tokio::time::Instant;

use crate::limits::HASHED_EVENTS;

/// The events that the journal has of a session.
#[derive(Debug, Clone)]
pub(super) struct StoredHead {
    /// The server that owns it; none if this one does.
    pub(super) node: Option<String>,
    pub(super) head: SessionHead,
    /// Time of the last event.
    pub(super) changed: Instant,
}

/// The heads of all sessions in the journal. Commits keep it up to date.
#[derive(Debug, Default)]
pub(super) struct StoredHeads(Mutex<HeadTable>);

#[derive(Debug, Default)]
struct HeadTable {
    heads: HashMap<String, StoredHead>,
    /// Sessions whose row has to be read.
    unread: HashSet<String>,
    /// Announced heads whose hash was compared with the replica, by node and session, with the result.
    compared: HashMap<(Name, String), (SessionHead, IsSame)>,
}

/// Result of the comparison of two hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsSame {
    Yes,
    No,
}

impl StoredHeads {
    /// Reads the rows of all sessions.
    pub(super) async fn load(&self, sessions: &Sessions) -> Result<(), JournalError> {
        let mut after = None;
        loop {
            let rows = sessions.broadcast().journal().sessions(after, LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.handle);
            let mut table = self.0.lock();
            for row in rows {
                table.heads.entry(row.key.to_string()).or_insert_with(|| StoredHead::of(&row));
            }
        }
    }

    /// Notes a commit. It neither blocks nor waits.
    pub(super) fn note(&self, commit: Commit<'_>) {
        let mut table = self.0.lock();
        match commit {
            Commit::Events(key, events) => {
                let Some(last) = events.last() else { return };
                match table.heads.get_mut(key.as_str()) {
                    Some(known) if known.head.epoch == last.cursor.epoch.number() => {
                        known.head.last = known.head.last.max(last.cursor.seq);
                        (known.head.hash, known.changed) = (None, Instant::now());
                    }
                    _ => drop(table.unread.insert(key.to_string())),
                }
            }
            Commit::Restarted(key) => drop(table.unread.insert(key.to_string())),
            Commit::Deleted(key) => {
                table.compared.retain(|(_, session), _| session != key.as_str());
                table.heads.remove(key.as_str());
                table.unread.remove(key.as_str());
            }
        }
    }

    /// Reads the rows of sessions that are new or have begun anew.
    pub(super) async fn read_rows(&self, sessions: &Sessions) -> Result<(), JournalError> {
        let unread: Vec<String> = self.0.lock().unread.iter().cloned().collect();
        for key in unread {
            self.0.lock().unread.remove(&key);
            let name = SessionName::Key(Key::new(key.as_str())?);
            let row = sessions.broadcast().journal().session(&name).await;
            let mut table = self.0.lock();
            match row {
                Ok(row) => drop(table.heads.insert(key, StoredHead::of(&row))),
                Err(error) if error.kind() == ErrorKind::NotFound => drop(table.heads.remove(&key)),
                Err(error) => {
                    table.unread.insert(key);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Announced heads that the replicas here have reached, and whose hash was not compared yet.
    pub(super) fn to_compare(
        &self,
        node: &Name,
        announced: Vec<(String, SessionHead)>,
    ) -> Vec<(String, SessionHead)> {
        let table = self.0.lock();
        let is_open = |(session, head): &(String, SessionHead)| {
            let here = table.heads.get(session).filter(|here| here.node.as_deref() == Some(node.as_str()));
            let is_whole = here.is_some_and(|here| {
                here.head.last >= head.last
                    && here.head.floor <= head.hash_from
                    && here.head.epoch == head.epoch
            });
            let known = table.compared.get(&(node.clone(), session.clone()));
            head.hash.is_some() && is_whole && known.is_none_or(|(known, _)| known != head)
        };
        announced.into_iter().filter(is_open).collect()
    }

    /// Keeps the result of a comparison.
    pub(super) fn set_compared(&self, node: &Name, session: String, head: SessionHead, result: IsSame) {
        self.0.lock().compared.insert((node.clone(), session), (head, result));
    }

    /// The number of sessions of a server whose replicas have other events than it has announced.
    pub(super) fn differing(&self, node: &Name) -> u64 {
        let table = self.0.lock();
        let differing =
            table.compared.iter().filter(|((of, _), (_, result))| of == node && *result == IsSame::No);
        differing.count() as u64
    }

    /// The head of a session.
    pub(super) fn get(&self, session: &str) -> Option<StoredHead> {
        self.0.lock().heads.get(session).cloned()
    }

    /// The heads of this server's own sessions.
    pub(super) fn own(&self) -> Vec<(String, StoredHead)> {
        let table = self.0.lock();
        let own = table.heads.iter().filter(|(_, stored)| stored.node.is_none());
        own.map(|(session, stored)| (session.clone(), stored.clone())).collect()
    }

    /// Keeps the hash of a session that has not changed meanwhile.
    pub(super) fn set_hash(&self, session: &str, hashed: &SessionHead) {
        if let Some(stored) = self.0.lock().heads.get_mut(session)
            && (stored.head.epoch, stored.head.last) == (hashed.epoch, hashed.last)
        {
            stored.head = hashed.clone();
        }
    }
}

impl StoredHead {
    fn of(row: &Session) -> Self {
        Self::at(row.node.clone(), row.head, row.floor)
    }

    fn at(node: Option<String>, head: Cursor, floor: u64) -> Self {
        let (epoch, last) = (head.epoch.number(), head.seq);
        let head = SessionHead { epoch, floor, last, ..SessionHead::default() };
        StoredHead { node, head, changed: Instant::now() }
    }
}

/// A session of another server compared with the head that the server has announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedHead {
    pub(super) session: String,
    /// Events that are missing at the end.
    pub(super) missing: u64,
    /// Position of the last event that is here.
    pub(super) after: Option<(u64, u64)>,
}

/// Compares the heads that a server has announced with the replicas that are here.
pub(super) fn compare(
    stored: &StoredHeads,
    node: &Name,
    announced: &[(String, SessionHead)],
) -> Vec<ComparedHead> {
    let behind = announced.iter().filter_map(|(session, head)| {
        let here = stored.get(session).filter(|here| here.node.as_deref() == Some(node.as_str()));
        let after = here.map(|here| (here.head.epoch, here.head.last)).filter(|(_, last)| *last > 0);
        let missing = head.last.saturating_sub(after.map_or(0, |(_, last)| last));
        (missing > 0).then(|| ComparedHead { session: session.clone(), missing, after })
    });
    behind.collect()
}

/// A head with the hash of its last events, from the journal; none if the journal has others by now.
pub(super) async fn hashed(
    journal: &dyn Journal,
    session: &str,
    head: &SessionHead,
) -> Result<Option<SessionHead>, JournalError> {
    let floor = head.floor.max(1);
    let from = floor.max(head.last.saturating_sub(HASHED_EVENTS - 1));
    let hash = hash_of(journal, session, head.epoch, (from, head.last)).await?;
    Ok(hash.map(|hash| SessionHead { hash: Some(hash), hash_from: from, ..head.clone() }))
}

/// The hash of a range of events; none if the journal does not have all of them.
pub(super) async fn hash_of(
    journal: &dyn Journal,
    session: &str,
    epoch: u64,
    (from, last): (u64, u64),
) -> Result<Option<String>, JournalError> {
    let key = Key::new(session)?;
    let mut after = Cursor::new(Epoch::from_random(epoch), from.saturating_sub(1));
    let mut hash = Sha256::new();
    while after.seq < last {
        let left = usize::try_from(last - after.seq).unwrap_or(usize::MAX);
        let page = journal.read(&key, Some(after), Max::events(left)).await?;
        let follows = |event: &Event| event.cursor.seq > after.seq && event.cursor.seq <= last;
        let events = page.events.iter().filter(|event| follows(event));
        let mut seq = after.seq;
        for event in events {
            if event.cursor.seq != seq + 1 {
                return Ok(None);
            }
            seq += 1;
            hash.update(seq.to_be_bytes());
            hash.update((event.kind.as_str().len() as u64).to_be_bytes());
            hash.update(event.kind.as_str());
            hash.update((event.body.len() as u64).to_be_bytes());
            hash.update(&event.body);
        }
        if seq == after.seq {
            return Ok(None);
        }
        after = Cursor::new(after.epoch, seq);
    }
    Ok(Some(STANDARD.encode(&hash.finalize()[..16])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(session: &str, last: u64) -> (String, SessionHead) {
        (session.to_owned(), SessionHead { epoch: 7, floor: 1, last, ..SessionHead::default() })
    }

    #[test]
    fn r1_events_that_an_owner_has_announced_and_that_are_not_here_are_counted() {
        let stored = StoredHeads::default();
        let at = |node: &str, seq| {
            StoredHead::at(Some(node.to_owned()), Cursor::new(Epoch::from_random(7), seq), 1)
        };
        for (session, node, seq) in [("short", "two", 45), ("whole", "two", 78), ("other", "three", 3)] {
            stored.0.lock().heads.insert(session.to_owned(), at(node, seq));
        }
        let two = Name::new("two").unwrap();
        let heads =
            [announced("short", 78), announced("whole", 78), announced("new", 4), announced("other", 9)];
        let behind = compare(&stored, &two, &heads);
        let behind: Vec<_> = behind.iter().map(|it| (it.session.as_str(), it.missing, it.after)).collect();
        assert_eq!(behind, [("short", 33, Some((7, 45))), ("new", 4, None), ("other", 9, None)]);
    }
}
