//! The step after storing: what was committed reaches its subscribers.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tidings_protocol::ui::UiMessage;
use tokio::sync::broadcast;

use super::tail::Tail;
use crate::limits::{INBOX_BEHIND_MAX, TAIL_BYTES_MAX, TAIL_BYTES_MIN, TAILS_BYTES_MAX};
use crate::{Class, Commit, Event, Key};

/// Publishes the commits of one journal, which tells it about each of them.
pub struct Publisher {
    tails: Tails,
    published: AtomicU64,
    news: broadcast::Sender<News>,
    observer: OnceLock<Observer>,
}

/// A callback for the commits of all sessions. It runs on the writing thread, so it must neither block nor
/// call the journal.
type Observer = Box<dyn Fn(Commit<'_>) + Send + Sync>;

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

impl Publisher {
    /// Publishes a commit. A journal calls it after it has stored the commit, in the order of the commits and
    /// before the callers of the journal return. It does not block.
    pub(crate) fn publish(&self, commit: Commit<'_>) {
        if let Commit::Events(_, events) = commit {
            self.published.fetch_add(events.len() as u64, Ordering::Relaxed);
        }
        if self.news.receiver_count() > 0 {
            self.send_news(commit);
        }
        self.tails.publish(commit);
        if let Some(observe) = self.observer.get() {
            observe(commit);
        }
    }

    /// Events of all sessions that may belong into the inbox. A receiver that is too slow misses some.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Calls `observer` with every commit, after it was published. Only the first call counts.
    pub fn observe(&self, observer: impl Fn(Commit<'_>) + Send + Sync + 'static) {
        drop(self.observer.set(Box::new(observer)));
    }

    /// Number of sessions with subscribers.
    pub fn subscribed_sessions(&self) -> usize {
        self.tails.0.lock().len()
    }

    /// Number of subscriptions to all sessions.
    pub fn subscription_count(&self) -> usize {
        self.tails.0.lock().values().map(|shared| shared.watchers).sum()
    }

    /// Number of events that were stored and published since the journal was opened.
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    pub(super) fn has_answering_subscriber(&self, key: &Key) -> bool {
        self.tails.0.lock().get(key).is_some_and(|shared| shared.answering > 0)
    }

    /// The tail of a session, which exists from now on.
    pub(super) fn watch(self: &Arc<Self>, key: &Key, may_answer: bool) -> TailHandle {
        let mut tails = self.tails.0.lock();
        let shared = tails.entry(key.clone()).or_default();
        shared.watchers += 1;
        shared.answering += usize::from(may_answer);
        let tail = Arc::clone(&shared.tail);
        TailHandle { publisher: Arc::clone(self), tail, key: key.clone(), may_answer }
    }

    fn send_news(&self, commit: Commit<'_>) {
        // Without a receiver the notice is not needed.
        match commit {
            Commit::Events(key, events) => {
                for event in events.iter().filter(|event| is_news(event)) {
                    drop(self.news.send(News::Event(key.clone(), Arc::clone(event))));
                }
            }
            Commit::Restarted(_) => {}
            Commit::Deleted(key) => drop(self.news.send(News::Deleted(key.clone()))),
        }
    }
}

impl Default for Publisher {
    fn default() -> Self {
        Publisher {
            tails: Tails::default(),
            published: AtomicU64::new(0),
            news: broadcast::Sender::new(INBOX_BEHIND_MAX),
            observer: OnceLock::new(),
        }
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("published", &self.published).finish_non_exhaustive()
    }
}

/// The newest events of each session with subscribers.
#[derive(Default)]
struct Tails(Mutex<HashMap<Key, SharedTail>>);

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
    publisher: Arc<Publisher>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) key: Key,
    may_answer: bool,
}

impl Tails {
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
        let mut tails = self.publisher.tails.0.lock();
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
