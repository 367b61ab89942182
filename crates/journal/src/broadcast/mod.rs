//! Delivers the events of sessions to their subscribers.
//!
//! The broadcast receives each commit and keeps the newest events of every session with subscribers, once for
//! all of them. A subscriber is only a cursor: it takes the events after it from the broadcast, or from the
//! journal if they are older. Sequence numbers have no holes, so the switch between the two can neither lose
//! nor repeat nor reorder events (F93), and a subscriber that never reads costs nothing (F98).

mod subscription;
mod tail;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tail::Tail;
use tidings_protocol::ui::UiMessage;
use tokio::sync::broadcast;

pub use subscription::{Cut, Delivery, Subscription};

use crate::limits::{
    INBOX_BEHIND_MAX, TAIL_BYTES_MAX, TAIL_BYTES_MIN, TAILS_BYTES_MAX, WATCHER_BYTES_UNTAKEN,
};
use crate::{
    Class, Commit, Cursor, CursorVerdict, Event, Journal, JournalError, Key, Session, StoredRequest,
};

/// Publishes the events of a journal to subscribers.
#[derive(Clone)]
pub struct Broadcast {
    journal: Arc<dyn Journal>,
    tails: Arc<Tails>,
    published: Arc<AtomicU64>,
    news: broadcast::Sender<News>,
    /// Devices that are notified of requests and can answer them.
    reachable: Arc<AtomicUsize>,
    observer: Arc<OnceLock<Observer>>,
}

/// A callback for the commits of all sessions. It runs on the writing thread, so it must not block.
pub(crate) type Observer = Box<dyn Fn(Commit<'_>) + Send + Sync>;

/// Something that may belong into the inbox.
#[derive(Debug, Clone)]
pub enum News {
    /// An event of a session.
    Event(Key, Arc<Event>),
    /// The session was deleted.
    Deleted(Key),
}

/// True for events that may belong into the inbox. Imported ones are not durable, and are old.
pub fn is_news(event: &Event) -> bool {
    event.class == Class::Durable && UiMessage::facts_of(event.kind.as_str()).is_some_and(|facts| facts.inbox)
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
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        SubscribeOptions { after: None, bytes_untaken_max: WATCHER_BYTES_UNTAKEN, may_answer: true }
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
    /// A broadcast for a journal, whose tap it takes.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        let tails = Arc::new(Tails::default());
        let tap_tails = Arc::clone(&tails);
        let published = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&published);
        let news = broadcast::Sender::new(INBOX_BEHIND_MAX);
        let tap_news = news.clone();
        let observer = Arc::<OnceLock<Observer>>::default();
        let observing = Arc::clone(&observer);
        journal.tap(Arc::new(move |commit| {
            if let Commit::Events(_, events) = commit {
                counted.fetch_add(events.len() as u64, Ordering::Relaxed);
            }
            if tap_news.receiver_count() > 0 {
                tell(&tap_news, commit);
            }
            tap_tails.publish(commit);
            if let Some(observe) = observing.get() {
                observe(commit);
            }
        }));
        Broadcast { journal, tails, published, news, reachable: Arc::default(), observer }
    }

    /// The journal behind it. Events that are appended there are published here.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Subscribes to a session: the verdict, open asks, then all events after the cursor as they come.
    pub async fn subscribe(&self, key: &Key, watch: SubscribeOptions) -> Result<Subscribed, JournalError> {
        // The tail exists before the journal is read, so that each later commit is in one of them.
        let handle = self.tails.watch(key, watch.may_answer);
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
                watch.bytes_untaken_max,
            ),
        })
    }

    /// Events of all sessions that may belong into the inbox. A receiver that is too slow misses some.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Calls `observer` with every commit, after it was published. Only the first call counts.
    pub fn observe(&self, observer: Observer) {
        drop(self.observer.set(observer));
    }

    /// Sets the number of devices that are notified of every request and can answer it.
    pub fn set_reachable(&self, devices: usize) {
        self.reachable.store(devices, Ordering::Relaxed);
    }

    /// True if a subscriber of the session can answer requests, or a device that is notified of them.
    pub fn is_attended(&self, key: &Key) -> bool {
        self.reachable.load(Ordering::Relaxed) > 0 || self.has_answering_subscriber(key)
    }

    fn has_answering_subscriber(&self, key: &Key) -> bool {
        self.tails.0.lock().get(key).is_some_and(|shared| shared.answering > 0)
    }

    /// Number of sessions with subscribers.
    pub fn subscribed_sessions(&self) -> usize {
        self.tails.0.lock().len()
    }

    /// Number of subscriptions to all sessions.
    pub fn subscription_count(&self) -> usize {
        self.tails.0.lock().values().map(|shared| shared.watchers).sum()
    }

    /// Number of events that were stored and published since the broadcast was created.
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }
}

fn tell(news: &broadcast::Sender<News>, commit: Commit<'_>) {
    // Without a receiver the notice is not needed.
    match commit {
        Commit::Events(key, events) => {
            for event in events.iter().filter(|event| is_news(event)) {
                drop(news.send(News::Event(key.clone(), Arc::clone(event))));
            }
        }
        Commit::Restarted(_) => {}
        Commit::Deleted(key) => drop(news.send(News::Deleted(key.clone()))),
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast").field("journal", &self.journal).finish_non_exhaustive()
    }
}

/// The newest events of each session with subscribers.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<Key, SharedTail>>);

/// A tail, and the number of its subscribers.
#[derive(Default)]
struct SharedTail {
    tail: Arc<Tail>,
    watchers: usize,
    /// Subscribers that can answer.
    answering: usize,
}

/// A session's tail for as long as it has subscribers; the last one to leave removes it.
pub(crate) struct TailHandle {
    tails: Arc<Tails>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) key: Key,
    may_answer: bool,
}

impl Tails {
    fn watch(self: &Arc<Self>, key: &Key, may_answer: bool) -> TailHandle {
        let mut tails = self.0.lock();
        let shared = tails.entry(key.clone()).or_default();
        shared.watchers += 1;
        shared.answering += usize::from(may_answer);
        TailHandle { tails: Arc::clone(self), tail: Arc::clone(&shared.tail), key: key.clone(), may_answer }
    }

    fn publish(&self, commit: Commit<'_>) {
        match commit {
            Commit::Events(key, events) => {
                let found = {
                    let tails = self.0.lock();
                    tails.get(key).map(|shared| (Arc::clone(&shared.tail), share_of(tails.len())))
                };
                if let Some((tail, bytes_max)) = found {
                    tail.push(events, bytes_max);
                }
            }
            Commit::Restarted(key) => {
                let shared = self.0.lock().remove(key);
                if let Some(shared) = shared {
                    shared.tail.restart();
                }
            }
            Commit::Deleted(key) => {
                let shared = self.0.lock().remove(key);
                if let Some(shared) = shared {
                    shared.tail.end();
                }
            }
        }
    }
}

/// Memory that each of several tails may take.
fn share_of(tails: usize) -> usize {
    (TAILS_BYTES_MAX / tails.max(1)).clamp(TAIL_BYTES_MIN, TAIL_BYTES_MAX)
}

impl Drop for TailHandle {
    fn drop(&mut self) {
        let mut tails = self.tails.0.lock();
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
