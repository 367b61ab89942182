//! Grouping of open requests into batches.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Ask;
use crate::limits::BATCH_MEMBERS_MAX;
use crate::request_table::AskKey;

/// Gathers requests that open at the same time, so that they are shown as one batch.
///
/// Report opened and settled requests to it, and call [`Gather::show`] when no more input is pending.
/// No request is shown twice, and a request that was settled before it was shown is not shown at all.
///
/// ```
/// use std::sync::Arc;
/// use tidings_agent::permissions::{Ask, Emit, Gather};
/// use tidings_protocol::control::CanUseTool;
///
/// let ask = |id: &str| {
///     let call = CanUseTool::new("Read", serde_json::json!({"file_path": "/a"}).into(), id);
///     Arc::new(Ask::new(1, "r", &call, &tidings_agent::permissions::SessionFacts::unknown()))
/// };
/// let mut gather = Gather::default();
/// gather.opened(ask("toolu_1"));
/// assert!(matches!(gather.show(), Some(Emit::Single(_))));
/// gather.opened(ask("toolu_2"));
/// gather.opened(ask("toolu_3"));
/// assert!(matches!(gather.show(), Some(Emit::Batch(asks)) if asks.len() == 2));
/// assert!(gather.show().is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Gather {
    unseen: VecDeque<Arc<Ask>>,
}

/// The next requests to show.
#[derive(Debug, Clone, PartialEq)]
pub enum Emit {
    /// One request: `PermissionRequired`.
    Single(Arc<Ask>),
    /// Several requests of one session: [`register_batch`](super::PermissionRegistry::register_batch), then
    /// `BatchPermissionRequired`.
    Batch(Vec<Arc<Ask>>),
}

impl Gather {
    /// Adds an opened request that the user must answer.
    pub fn opened(&mut self, ask: Arc<Ask>) {
        self.unseen.push_back(ask);
    }

    /// Removes a settled request.
    pub fn settled(&mut self, key: &AskKey) {
        self.unseen.retain(|ask| ask.key != *key);
    }

    /// True if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.unseen.is_empty()
    }

    /// The next requests to show; call it until it returns `None`.
    pub fn show(&mut self) -> Option<Emit> {
        let first = self.unseen.pop_front()?;
        let mut batch = vec![first];
        // Requests of a sub-agent are not part of the main conversation's batch.
        let (session, agent) = (batch[0].key.session_id, batch[0].agent_id.clone());
        let mut rest = VecDeque::new();
        for ask in self.unseen.drain(..) {
            let belongs = ask.key.session_id == session && ask.agent_id == agent;
            if belongs && batch.len() < BATCH_MEMBERS_MAX {
                batch.push(ask);
            } else {
                rest.push_back(ask);
            }
        }
        self.unseen = rest;
        Some(match batch.pop() {
            Some(only) if batch.is_empty() => Emit::Single(only),
            last => {
                batch.extend(last);
                Emit::Batch(batch)
            }
        })
    }
}
