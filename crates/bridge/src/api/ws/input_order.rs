//! Order of prompts: those for one session keep the order in which a client sent them; other requests may
//! overtake.

use std::collections::HashMap;
use std::future::Future;

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use tokio::sync::oneshot;

/// The last prompt of each session.
#[derive(Default)]
pub(crate) struct InputOrder(HashMap<String, Shared<oneshot::Receiver<()>>>);

/// Signals on drop that a prompt was handled.
pub(crate) struct InputDone(#[expect(dead_code, reason = "dropping it is the signal")] oneshot::Sender<()>);

impl InputOrder {
    /// Waits until the earlier prompts of the session were handled.
    pub(crate) fn before(&self, session: &str) -> impl Future<Output = ()> + Send + use<> {
        let before = self.0.get(session).cloned();
        async move {
            if let Some(before) = before {
                _ = before.await;
            }
        }
    }

    /// The same, and later requests wait until the returned value is dropped.
    pub(crate) fn enter(&mut self, session: &str) -> (impl Future<Output = ()> + Send + use<>, InputDone) {
        let before = self.before(session);
        let (sender, receiver) = oneshot::channel();
        self.0.retain(|_, last| last.peek().is_none());
        self.0.insert(session.to_owned(), receiver.shared());
        (before, InputDone(sender))
    }
}
