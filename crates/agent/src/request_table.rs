//! Open requests of one kind, with the futures that wait for their answers.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use serde::Serialize;
use tidings_protocol::ui::RequestOutcome;
use tokio::sync::oneshot;

use crate::pending::{Already, Pending, Refused};

/// Key of a request: the session, and the call in it.
///
/// Ids of calls are unique within one conversation only, so the session is part of the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct AskKey {
    /// The session, as in the events.
    pub session_id: i64,
    /// The id of the tool call; if the CLI gives none, the id of its control request.
    pub tool_use_id: String,
}

impl AskKey {
    /// Creates the key of a request.
    pub fn new(session_id: i64, tool_use_id: impl Into<String>) -> Self {
        AskKey { session_id, tool_use_id: tool_use_id.into() }
    }
}

impl fmt::Display for AskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session_id, self.tool_use_id)
    }
}

/// A request that can be stored here.
pub(crate) trait Keyed {
    fn key(&self) -> &AskKey;
}

/// A future that resolves to the outcome of a request.
///
/// Dropping it settles the request as [`RequestOutcome::Disconnected`], because its caller is gone.
#[must_use = "a request whose waiter is dropped is settled as disconnected"]
pub struct OutcomeFuture<A> {
    receiver: oneshot::Receiver<RequestOutcome<A>>,
    /// Runs if the future is dropped before the request is settled.
    abandon: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl<A> Future for OutcomeFuture<A> {
    type Output = RequestOutcome<A>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<RequestOutcome<A>> {
        Pin::new(&mut self.receiver).poll(context).map(|received| {
            self.abandon = None;
            // The registry was dropped without settling the request.
            received.unwrap_or(RequestOutcome::Lost)
        })
    }
}

impl<A> Drop for OutcomeFuture<A> {
    fn drop(&mut self) {
        if let Some(abandon) = self.abandon.take() {
            abandon();
        }
    }
}

impl<A> fmt::Debug for OutcomeFuture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutcomeFuture").finish_non_exhaustive()
    }
}

/// Tells if an outcome was delivered to a waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Delivered,
    NoWaiter,
}

pub(crate) struct RequestTable<T, A> {
    pending: Pending<AskKey, A>,
    entries: HashMap<AskKey, Entry<T, A>>,
}

struct Entry<T, A> {
    item: Arc<T>,
    waiter: Option<oneshot::Sender<RequestOutcome<A>>>,
}

impl<T: Keyed, A: Clone> RequestTable<T, A> {
    pub(crate) fn open(&mut self, item: Arc<T>, deadline: Option<Instant>) -> Result<(), Refused> {
        let key = item.key().clone();
        self.pending.open(key.clone(), deadline)?;
        self.entries.insert(key, Entry { item, waiter: None });
        Ok(())
    }

    /// Begins to wait for an open request; `None` if it is not open or has a waiter already.
    /// `abandon` runs if the waiter is dropped.
    pub(crate) fn wait(
        &mut self,
        key: &AskKey,
        abandon: impl FnOnce() + Send + Sync + 'static,
    ) -> Option<OutcomeFuture<A>> {
        let entry = self.entries.get_mut(key).filter(|entry| entry.waiter.is_none())?;
        let (sender, receiver) = oneshot::channel();
        entry.waiter = Some(sender);
        Some(OutcomeFuture { receiver, abandon: Some(Box::new(abandon)) })
    }

    pub(crate) fn set_deadline(&mut self, key: &AskKey, deadline: Option<Instant>) {
        self.pending.set_deadline(key, deadline);
    }

    /// Settles a request and delivers the outcome to its waiter.
    pub(crate) fn settle(
        &mut self,
        key: &AskKey,
        outcome: RequestOutcome<A>,
    ) -> Result<(Arc<T>, Delivery), Already<A>> {
        self.pending.settle(key, outcome.clone())?;
        self.deliver(key, outcome).ok_or(Already::Unknown)
    }

    fn deliver(&mut self, key: &AskKey, outcome: RequestOutcome<A>) -> Option<(Arc<T>, Delivery)> {
        let entry = self.entries.remove(key)?;
        let delivery = match entry.waiter.map(|waiter| waiter.send(outcome)) {
            Some(Ok(())) => Delivery::Delivered,
            // The waiter is being dropped right now, and will find the request settled.
            Some(Err(_)) | None => Delivery::NoWaiter,
        };
        Some((entry.item, delivery))
    }

    pub(crate) fn settle_session(&mut self, session_id: i64, outcome: &RequestOutcome<A>) -> Vec<Arc<T>> {
        let keys: Vec<AskKey> = self.session(session_id).map(|item| item.key().clone()).collect();
        keys.iter().filter_map(|key| self.settle(key, outcome.clone()).ok()).map(|(item, _)| item).collect()
    }

    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Arc<T>> {
        let keys = self.pending.expire(now);
        keys.iter()
            .filter_map(|key| self.deliver(key, RequestOutcome::TimedOut))
            .map(|(item, _)| item)
            .collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.pending.next_deadline()
    }

    pub(crate) fn get(&self, key: &AskKey) -> Option<&Arc<T>> {
        self.entries.get(key).map(|entry| &entry.item)
    }

    pub(crate) fn settled(&self, key: &AskKey) -> Option<&RequestOutcome<A>> {
        self.pending.settled(key)
    }

    /// The open requests, oldest first.
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

impl<T, A> Default for RequestTable<T, A> {
    fn default() -> Self {
        RequestTable { pending: Pending::default(), entries: HashMap::new() }
    }
}

impl<T: Keyed, A: Clone> fmt::Debug for RequestTable<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pending.open_keys()).finish()
    }
}
