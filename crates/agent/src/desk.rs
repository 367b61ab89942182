//! Open questions of one kind, with those who wait for their answers.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use serde::Serialize;
use tokio::sync::oneshot;

use crate::pending::{Already, Outcome, Pending, Refused};

/// What a question is called: the session, and the call in it.
///
/// Ids of calls are unique to a conversation only, so the session is part of the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct AskKey {
    /// The session, as in the events.
    pub session_id: i64,
    /// The call; where the CLI names none, the id of its request.
    pub tool_use_id: String,
}

impl AskKey {
    /// The name of a question.
    pub fn new(session_id: i64, tool_use_id: impl Into<String>) -> Self {
        AskKey { session_id, tool_use_id: tool_use_id.into() }
    }
}

impl fmt::Display for AskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session_id, self.tool_use_id)
    }
}

/// Something that can be asked.
pub(crate) trait Asked {
    fn key(&self) -> &AskKey;
}

/// A question that was asked, waiting for how it ends.
///
/// Dropping it says that the one who asked is gone: the question is settled as [`Outcome::Disconnected`].
#[must_use = "a question whose waiter is dropped is settled as disconnected"]
pub struct Waiting<A> {
    receiver: oneshot::Receiver<Outcome<A>>,
    /// What to do when nobody waits any more.
    abandon: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl<A> Future for Waiting<A> {
    type Output = Outcome<A>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<A>> {
        Pin::new(&mut self.receiver).poll(context).map(|received| {
            self.abandon = None;
            // A desk that is gone has told nobody.
            received.unwrap_or(Outcome::Lost)
        })
    }
}

impl<A> Drop for Waiting<A> {
    fn drop(&mut self) {
        if let Some(abandon) = self.abandon.take() {
            abandon();
        }
    }
}

impl<A> fmt::Debug for Waiting<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

/// Whether somebody waited for an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Yes,
    No,
}

pub(crate) struct Desk<T, A> {
    pending: Pending<AskKey, A>,
    entries: HashMap<AskKey, Entry<T, A>>,
}

struct Entry<T, A> {
    item: Arc<T>,
    waiter: Option<oneshot::Sender<Outcome<A>>>,
}

impl<T: Asked, A: Clone> Desk<T, A> {
    pub(crate) fn open(&mut self, item: Arc<T>, deadline: Option<Instant>) -> Result<(), Refused> {
        let key = item.key().clone();
        self.pending.open(key.clone(), deadline)?;
        self.entries.insert(key, Entry { item, waiter: None });
        Ok(())
    }

    /// Begins to wait for an open question; nothing if somebody does already. `abandon` runs if the waiter is dropped.
    pub(crate) fn wait(
        &mut self,
        key: &AskKey,
        abandon: impl FnOnce() + Send + Sync + 'static,
    ) -> Option<Waiting<A>> {
        let entry = self.entries.get_mut(key).filter(|entry| entry.waiter.is_none())?;
        let (sender, receiver) = oneshot::channel();
        entry.waiter = Some(sender);
        Some(Waiting { receiver, abandon: Some(Box::new(abandon)) })
    }

    pub(crate) fn set_deadline(&mut self, key: &AskKey, deadline: Option<Instant>) {
        self.pending.set_deadline(key, deadline);
    }

    /// Settles a question and tells the one who waits.
    pub(crate) fn settle(
        &mut self,
        key: &AskKey,
        outcome: Outcome<A>,
    ) -> Result<(Arc<T>, Heard), Already<A>> {
        self.pending.settle(key, outcome.clone())?;
        self.tell(key, outcome).ok_or(Already::Unknown)
    }

    fn tell(&mut self, key: &AskKey, outcome: Outcome<A>) -> Option<(Arc<T>, Heard)> {
        let entry = self.entries.remove(key)?;
        let heard = match entry.waiter.map(|waiter| waiter.send(outcome)) {
            Some(Ok(())) => Heard::Yes,
            // It was dropped at this very moment, and will find the question settled.
            Some(Err(_)) | None => Heard::No,
        };
        Some((entry.item, heard))
    }

    pub(crate) fn settle_session(&mut self, session_id: i64, outcome: &Outcome<A>) -> Vec<Arc<T>> {
        let keys: Vec<AskKey> = self.session(session_id).map(|item| item.key().clone()).collect();
        keys.iter().filter_map(|key| self.settle(key, outcome.clone()).ok()).map(|(item, _)| item).collect()
    }

    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Arc<T>> {
        let keys = self.pending.expire(now);
        keys.iter().filter_map(|key| self.tell(key, Outcome::TimedOut)).map(|(item, _)| item).collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.pending.next_deadline()
    }

    pub(crate) fn get(&self, key: &AskKey) -> Option<&Arc<T>> {
        self.entries.get(key).map(|entry| &entry.item)
    }

    pub(crate) fn settled(&self, key: &AskKey) -> Option<&Outcome<A>> {
        self.pending.settled(key)
    }

    /// The open questions, the oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<T>> {
        self.pending.open_keys().filter_map(|key| self.get(key))
    }

    pub(crate) fn session(&self, session_id: i64) -> impl Iterator<Item = &Arc<T>> {
        self.all().filter(move |item| item.key().session_id == session_id)
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn forget_session(&mut self, session_id: i64) {
        self.pending.retain_settled(|key| key.session_id != session_id);
    }
}

impl<T, A> Default for Desk<T, A> {
    fn default() -> Self {
        Desk { pending: Pending::default(), entries: HashMap::new() }
    }
}

impl<T: Asked, A: Clone> fmt::Debug for Desk<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pending.open_keys()).finish()
    }
}
