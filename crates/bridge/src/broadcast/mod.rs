//! What happens, for whoever watches.
//!
//! The hub is told of each commit and keeps the newest events of every session that is watched, once for all its
//! watchers. A watcher is only a place in the session: it takes what comes after its place, from the hub where that
//! still has it, and from the journal where not. Events have numbers without holes, so the seam between the two can
//! neither lose nor repeat nor reorder any (F93), and a watcher that never reads costs nothing (F98).

mod subscription;
mod tail;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use subscription::{Cut, Delivery, Subscription};

use crate::journal::{Ask, Commit, Cursor, Journal, JournalError, Key, Session, Verdict};
use crate::limits::WATCHER_BYTES_UNTAKEN;
use tail::Tail;

/// Shows a journal to watchers.
#[derive(Clone)]
pub struct Broadcast {
    journal: Arc<dyn Journal>,
    tails: Arc<Tails>,
    published: Arc<AtomicU64>,
}

/// What a watcher wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// The last event that it has.
    pub after: Option<Cursor>,
    /// How many bytes may be published while it takes nothing; then it is cut off.
    pub bytes_untaken_max: u64,
    /// Whether it can answer what is asked in the session; one that cannot is not waited for.
    pub may_answer: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { after: None, bytes_untaken_max: WATCHER_BYTES_UNTAKEN, may_answer: true }
    }
}

impl Watch {
    /// From the event after this one.
    pub fn after(cursor: Option<Cursor>) -> Self {
        Watch { after: cursor, ..Watch::default() }
    }
}

/// What a watcher is told first.
#[derive(Debug)]
pub struct Subscribed {
    /// Whether it can go on from where it was.
    pub verdict: Verdict,
    /// The place that what follows comes after.
    pub from: Cursor,
    /// The newest event at this moment; what is up to here is replay, and what is after it is live.
    pub head: Cursor,
    /// The number of the oldest event that is kept.
    pub floor: u64,
    /// What waits for a person, as of `head`.
    pub pending: Vec<Ask>,
    /// The session, as of `head`.
    pub session: Session,
    /// The events.
    pub events: Subscription,
}

impl Broadcast {
    /// A hub for a journal, whose tap it takes.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        let tails = Arc::new(Tails::default());
        let told = Arc::clone(&tails);
        let published = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&published);
        journal.tap(Arc::new(move |commit| {
            if let Commit::Events(_, events) = commit {
                counted.fetch_add(events.len() as u64, Ordering::Relaxed);
            }
            told.tell(commit);
        }));
        Broadcast { journal, tails, published }
    }

    /// The journal behind it. What is appended there is seen here.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Begins to watch a session: the verdict, what waits, then everything after the cursor as it comes.
    pub async fn subscribe(&self, key: &Key, watch: Watch) -> Result<Subscribed, JournalError> {
        // The tail is there before the journal is read, so that whatever is committed later is in one of them.
        let watched = self.tails.watch(key, watch.may_answer);
        let tail = Arc::clone(&watched.tail);
        // Until a long event is shared with the other subscribers.
        let _reading = tail.lock_reading().await;
        let resumed = self.journal.resume(key, watch.after, subscription::PORTION).await?;
        let (page, session) = (resumed.page, resumed.session);
        let from = match (page.verdict, watch.after) {
            (Verdict::Ok, Some(after)) => after.seq,
            _ => page.floor - 1,
        };
        Ok(Subscribed {
            verdict: page.verdict,
            from: Cursor::new(page.head.epoch, from),
            head: page.head,
            floor: page.floor,
            pending: resumed.pending,
            session,
            events: Subscription::new(
                Arc::clone(&self.journal),
                watched,
                Cursor::new(page.head.epoch, from),
                page.events,
                watch.bytes_untaken_max,
            ),
        })
    }

    /// Whether somebody watches a session who can answer what is asked there.
    pub fn is_attended(&self, key: &Key) -> bool {
        self.tails.lock().get(key).is_some_and(|shared| shared.answering > 0)
    }

    /// Sessions that are being watched.
    pub fn watched(&self) -> usize {
        self.tails.lock().len()
    }

    /// Those who watch, each session for itself.
    pub fn watchers_total(&self) -> usize {
        self.tails.lock().values().map(|shared| shared.watchers).sum()
    }

    /// Events that were stored and shown since the hub was made.
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("journal", &self.journal).finish_non_exhaustive()
    }
}

/// The newest events of each session that is watched.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<Key, Shared>>);

/// A tail, and how many watch it.
#[derive(Default)]
struct Shared {
    tail: Arc<Tail>,
    watchers: usize,
    /// Those of them who can answer.
    answering: usize,
}

/// A session's tail for as long as somebody watches it; the last one to leave takes it away.
pub(crate) struct Watched {
    tails: Arc<Tails>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) key: Key,
    may_answer: bool,
}

impl Tails {
    fn watch(self: &Arc<Self>, key: &Key, may_answer: bool) -> Watched {
        let mut tails = self.lock();
        let shared = tails.entry(key.clone()).or_default();
        shared.watchers += 1;
        shared.answering += usize::from(may_answer);
        Watched { tails: Arc::clone(self), tail: Arc::clone(&shared.tail), key: key.clone(), may_answer }
    }

    fn tell(&self, commit: Commit<'_>) {
        match commit {
            Commit::Events(key, events) => {
                let tail = self.lock().get(key).map(|shared| Arc::clone(&shared.tail));
                if let Some(tail) = tail {
                    tail.push(events);
                }
            }
            Commit::Deleted(key) => {
                let shared = self.lock().remove(key);
                if let Some(shared) = shared {
                    shared.tail.end();
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut tails = self.tails.lock();
        // A session of the same key may have been made after this one was deleted; its tail is not ours.
        let Some(shared) = tails.get_mut(&self.key).filter(|shared| Arc::ptr_eq(&shared.tail, &self.tail))
        else {
            return;
        };
        shared.watchers -= 1;
        shared.answering -= usize::from(self.may_answer);
        if shared.watchers == 0 {
            tails.remove(&self.key);
        }
    }
}
