//! Requests that wait for exactly one answer.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::time::Instant;

use tidings_protocol::ui::RequestOutcome;

use crate::limits::{OPEN_MAX, SETTLED_MAX};

/// Requests that are open, and those that were settled recently.
///
/// The first answer wins, and every later caller gets the winning outcome.
/// It has no clock, no lock and no task of its own: time is a parameter, so that a test can run every order
/// of events.
///
/// ```
/// use tidings_protocol::ui::{RequestOutcome, AnsweredBy};
/// use tidings_agent::pending::{Already, Pending};
///
/// let mut pending = Pending::default();
/// pending.open("toolu_1", None)?;
///
/// let yes = RequestOutcome::Answered { answer: "yes", by: AnsweredBy::Person("phone".into()) };
/// let no = RequestOutcome::Answered { answer: "no", by: AnsweredBy::Person("browser".into()) };
/// assert_eq!(pending.settle(&"toolu_1", yes.clone()), Ok(()));
/// assert_eq!(pending.settle(&"toolu_1", no), Err(Already::Settled(yes)));
/// # Ok::<(), tidings_agent::pending::Refused>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pending<K, A> {
    open: HashMap<K, Open>,
    /// Open keys in the order in which they were opened.
    order: BTreeMap<u64, K>,
    next: u64,
    settled: HashMap<K, RequestOutcome<A>>,
    /// Settled keys, oldest first.
    forget: VecDeque<K>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    number: u64,
    deadline: Option<Instant>,
}

/// Reasons why a request was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The same request is open; it is not opened twice.
    #[error("The request is already open")]
    Duplicate,
    /// Too many requests are open.
    #[error("Too many requests are open")]
    Full,
}

/// Reasons why an answer is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Already<A> {
    /// The request was settled before, with this outcome.
    Settled(RequestOutcome<A>),
    /// The request does not exist, or was settled so long ago that it is forgotten.
    Unknown,
}

impl<K: Eq + Hash + Clone, A: Clone> Pending<K, A> {
    /// Opens a request. Its deadline, if any, takes effect when [`Pending::expire`] is called with a later
    /// time.
    ///
    /// A settled key can be opened again: a restarted CLI may ask about the same call.
    pub fn open(&mut self, key: K, deadline: Option<Instant>) -> Result<(), Refused> {
        if self.open.contains_key(&key) {
            return Err(Refused::Duplicate);
        }
        if self.open.len() >= OPEN_MAX {
            return Err(Refused::Full);
        }
        if self.settled.remove(&key).is_some() {
            self.forget.retain(|settled| *settled != key);
        }
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        self.open.insert(key, Open { number, deadline });
        Ok(())
    }

    /// Settles a request, unless it is settled already.
    pub fn settle(&mut self, key: &K, outcome: RequestOutcome<A>) -> Result<(), Already<A>> {
        let Some((key, open)) = self.open.remove_entry(key) else {
            return Err(self.settled.get(key).cloned().map_or(Already::Unknown, Already::Settled));
        };
        self.order.remove(&open.number);
        if self.forget.len() >= SETTLED_MAX
            && let Some(oldest) = self.forget.pop_front()
        {
            self.settled.remove(&oldest);
        }
        self.forget.push_back(key.clone());
        self.settled.insert(key, outcome);
        Ok(())
    }

    /// Changes or removes the deadline of an open request.
    pub fn set_deadline(&mut self, key: &K, deadline: Option<Instant>) {
        if let Some(open) = self.open.get_mut(key) {
            open.deadline = deadline;
        }
    }

    /// Withdraws a request.
    pub fn cancel(&mut self, key: &K) -> Result<(), Already<A>> {
        self.settle(key, RequestOutcome::Cancelled)
    }

    /// Settles all requests whose deadline has passed as [`RequestOutcome::TimedOut`], and returns their
    /// keys.
    pub fn expire(&mut self, now: Instant) -> Vec<K> {
        let late =
            |key: &&K| self.open.get(*key).is_some_and(|open| open.deadline.is_some_and(|at| at <= now));
        let keys: Vec<K> = self.order.values().filter(late).cloned().collect();
        for key in &keys {
            // Each key was open a moment ago, and `&mut self` excludes other callers.
            drop(self.settle(key, RequestOutcome::TimedOut));
        }
        keys
    }

    /// The earliest deadline: the next time at which [`Pending::expire`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.deadline).min()
    }

    /// The open requests, oldest first.
    pub fn open_keys(&self) -> impl Iterator<Item = &K> {
        self.order.values()
    }

    /// True if a request is open.
    pub fn is_open(&self, key: &K) -> bool {
        self.open.contains_key(key)
    }

    /// The outcome of a settled request, if it is still remembered.
    pub fn settled(&self, key: &K) -> Option<&RequestOutcome<A>> {
        self.settled.get(key)
    }

    /// The number of open requests.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// True if no request is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets the settled requests for which `keep` returns false.
    pub fn retain_settled(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.forget.retain(|key| {
            let kept = keep(key);
            if !kept {
                self.settled.remove(key);
            }
            kept
        });
    }
}

impl<K, A> Default for Pending<K, A> {
    fn default() -> Self {
        Pending {
            open: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
            settled: HashMap::new(),
            forget: VecDeque::new(),
        }
    }
}
