//! Questions that wait for exactly one answer.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::limits::{OPEN_MAX, SETTLED_MAX};

/// Questions that are open, and those that were settled lately.
///
/// The first answer wins, and every later one learns who was first. It has no clock, no lock and no task of its own:
/// time is handed in, so that a test can run every order of events.
///
/// ```
/// use tidings_agent::pending::{Already, Outcome, Pending, Who};
///
/// let mut pending = Pending::default();
/// pending.open("toolu_1", None)?;
///
/// let yes = Outcome::Answered { answer: "yes", by: Who::Person("phone".into()) };
/// let no = Outcome::Answered { answer: "no", by: Who::Person("browser".into()) };
/// assert_eq!(pending.settle(&"toolu_1", yes.clone()), Ok(()));
/// assert_eq!(pending.settle(&"toolu_1", no), Err(Already::Settled(yes)));
/// # Ok::<(), tidings_agent::pending::Refused>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pending<K, A> {
    open: HashMap<K, Open>,
    /// Open keys in the order in which they were asked.
    order: BTreeMap<u64, K>,
    next: u64,
    settled: HashMap<K, Outcome<A>>,
    /// Settled keys, oldest first.
    forget: VecDeque<K>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    number: u64,
    deadline: Option<Instant>,
}

/// How a question ended.
///
/// Only [`Outcome::Answered`] is somebody's will. A time-out is never told as a person's refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome<A> {
    /// Somebody or some rule answered.
    Answered {
        /// What was answered.
        answer: A,
        /// Who was first.
        by: Who,
    },
    /// Nobody answered in time.
    TimedOut,
    /// The CLI that asked is gone. A front end that leaves settles nothing.
    Disconnected,
    /// The CLI took the question back, or the turn ended.
    Cancelled,
    /// The question was open when the program ended, and nobody can say what became of it.
    Lost,
}

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Who {
    /// A person, by the name of the front end or account.
    Person(String),
    /// A rule of a policy, by its name.
    Rule(String),
    /// A grant that somebody gave earlier, by its id.
    Grant(String),
}

/// Why a question was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The same question is open; it is not asked twice.
    #[error("The question is open already")]
    Duplicate,
    /// Too many questions are open.
    #[error("Too many questions are open")]
    Full,
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Already<A> {
    /// The question was settled before, in this way.
    Settled(Outcome<A>),
    /// There is no such question, or it was settled so long ago that it is forgotten.
    Unknown,
}

impl<K: Eq + Hash + Clone, A: Clone> Pending<K, A> {
    /// Opens a question. It may have a deadline, which counts once [`Pending::expire`] is told that it has passed.
    ///
    /// A key that was settled can be opened again: the CLI may ask anew about a call after it was restarted.
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

    /// Settles a question, unless somebody was faster.
    pub fn settle(&mut self, key: &K, outcome: Outcome<A>) -> Result<(), Already<A>> {
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

    /// Gives an open question another deadline, or none.
    pub fn set_deadline(&mut self, key: &K, deadline: Option<Instant>) {
        if let Some(open) = self.open.get_mut(key) {
            open.deadline = deadline;
        }
    }

    /// Takes a question back.
    pub fn cancel(&mut self, key: &K) -> Result<(), Already<A>> {
        self.settle(key, Outcome::Cancelled)
    }

    /// Settles everything whose deadline has passed as [`Outcome::TimedOut`], and says what that was.
    pub fn expire(&mut self, now: Instant) -> Vec<K> {
        let late =
            |key: &&K| self.open.get(*key).is_some_and(|open| open.deadline.is_some_and(|at| at <= now));
        let keys: Vec<K> = self.order.values().filter(late).cloned().collect();
        for key in &keys {
            // Each was found open a moment ago, and nobody else holds this value.
            drop(self.settle(key, Outcome::TimedOut));
        }
        keys
    }

    /// When [`Pending::expire`] has something to do next.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.deadline).min()
    }

    /// The open questions, the oldest first.
    pub fn open_keys(&self) -> impl Iterator<Item = &K> {
        self.order.values()
    }

    /// Whether a question is open.
    pub fn is_open(&self, key: &K) -> bool {
        self.open.contains_key(key)
    }

    /// How a question was settled, if that is still remembered.
    pub fn settled(&self, key: &K) -> Option<&Outcome<A>> {
        self.settled.get(key)
    }

    /// How many questions are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no question is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets settled questions that `keep` does not want.
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

impl<A> Outcome<A> {
    /// Answered by a person.
    pub fn by_person(answer: A, name: impl Into<String>) -> Self {
        Outcome::Answered { answer, by: Who::Person(name.into()) }
    }

    /// Answered by a rule.
    pub fn by_rule(answer: A, rule: impl Into<String>) -> Self {
        Outcome::Answered { answer, by: Who::Rule(rule.into()) }
    }

    /// The answer, if there is one.
    pub fn answer(&self) -> Option<&A> {
        match self {
            Outcome::Answered { answer, .. } => Some(answer),
            Outcome::TimedOut | Outcome::Disconnected | Outcome::Cancelled | Outcome::Lost => None,
        }
    }
}
