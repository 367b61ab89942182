//! Delivers the events of sessions to their subscribers.
//!
//! A journal passes each commit to its [`Publisher`], which keeps the newest events of every session with
//! subscribers, once for all of them. A subscriber is only a cursor: it takes the events after it from there,
//! or from the journal if they are older. Sequence numbers have no holes, so the switch between the two can
//! neither lose nor repeat nor reorder events (F93), and a subscriber that never reads costs nothing (F98).

mod merger;
mod publisher;
mod subscription;
mod tail;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use merger::Merging;
use publisher::TailHandle;
pub use publisher::{News, Publisher, is_news};
pub use subscription::{Cut, Delivery, Subscription};

use crate::limits::WATCHER_BYTES_UNTAKEN;
use crate::{Cursor, CursorVerdict, Journal, JournalError, Key, Session, StoredRequest};

/// Delivers the events that a journal publishes to subscribers.
#[derive(Clone)]
pub struct Broadcast {
    journal: Arc<dyn Journal>,
    /// Devices that are notified of requests and can answer them.
    reachable: Arc<AtomicUsize>,
}

/// Parameters of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// The last event that the subscriber has.
    pub after: Option<Cursor>,
    /// Bytes that may be published while the subscriber takes nothing; past it, it is cut off.
    pub bytes_untaken_max: u64,
    /// True if the subscriber can answer requests of the session; requests do not wait for others.
    pub may_answer: bool,
    /// The rule by which deltas are merged; without one, each comes by itself.
    pub merging: Option<Merging>,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        SubscribeOptions {
            after: None,
            bytes_untaken_max: WATCHER_BYTES_UNTAKEN,
            may_answer: true,
            merging: None,
        }
    }
}

impl SubscribeOptions {
    /// Starts after this cursor (exclusive).
    pub fn after(cursor: Option<Cursor>) -> Self {
        SubscribeOptions { after: cursor, ..SubscribeOptions::default() }
    }
}

/// First response to a subscriber, and its events.
#[derive(Debug)]
pub struct Subscribed {
    /// The verdict on the subscriber's cursor.
    pub verdict: CursorVerdict,
    /// The cursor after which the events start.
    pub from: Cursor,
    /// The newest event at this moment; events up to here are replay, and later ones are live.
    pub head: Cursor,
    /// The number of the oldest event that is kept.
    pub floor: u64,
    /// Open asks, as of `head`.
    pub pending: Vec<StoredRequest>,
    /// The session, as of `head`.
    pub session: Session,
    /// The events.
    pub events: Subscription,
}

impl Broadcast {
    /// A broadcast of the events that a journal publishes.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Broadcast { journal, reachable: Arc::default() }
    }

    /// The journal behind it. Events that are appended there are published here.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Subscribes to a session: the verdict, open asks, then all events after the cursor as they come.
    pub async fn subscribe(&self, key: &Key, watch: SubscribeOptions) -> Result<Subscribed, JournalError> {
        // The tail exists before the journal is read, so that each later commit is in one of them.
        let handle = self.publisher().watch(key, watch.may_answer);
        let tail = Arc::clone(&handle.tail);
        // Held until a long event is shared with the other subscribers.
        let _reading = tail.lock_reading().await;
        let resumed = self.journal.resume(key, watch.after, subscription::PORTION).await?;
        let (page, session) = (resumed.page, resumed.session);
        let from = match (page.verdict, watch.after) {
            (CursorVerdict::Ok, Some(after)) => after.seq,
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
                handle,
                Cursor::new(page.head.epoch, from),
                page.events,
                &watch,
            ),
        })
    }

    /// The step in which the journal publishes what it has stored.
    pub fn publisher(&self) -> &Arc<Publisher> {
        self.journal.publisher()
    }

    /// Sets the number of devices that are notified of every request and can answer it.
    pub fn set_reachable(&self, devices: usize) {
        self.reachable.store(devices, Ordering::Relaxed);
    }

    /// True if a subscriber of the session can answer requests, or a device that is notified of them.
    pub fn is_attended(&self, key: &Key) -> bool {
        self.reachable.load(Ordering::Relaxed) > 0 || self.publisher().has_answering_subscriber(key)
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast").field("journal", &self.journal).finish_non_exhaustive()
    }
}
