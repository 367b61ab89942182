//! Which open questions are shown together.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Ask;
use crate::limits::BATCH_MEMBERS_MAX;
use crate::request_table::AskKey;

/// Gathers questions that open at the same time, so that they are shown as one batch.
///
/// Tell it what opens and what is settled, and ask it what to show whenever nothing more is waiting to be read. Nothing
/// is shown twice, and a question that was settled before it was shown is not shown at all.
///
/// ```
/// use std::sync::Arc;
/// use tidings_agent::permissions::{Ask, Emit, Gather};
/// use tidings_protocol::control::CanUseTool;
///
/// let ask = |id: &str| {
///     let call = CanUseTool::new("Read", serde_json::json!({"file_path": "/a"}).into(), id);
///     Arc::new(Ask::new(1, "r", &call, None))
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

/// What is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Emit {
    /// One question: `PermissionRequired`.
    Single(Arc<Ask>),
    /// Several of one session: [`register_batch`](super::PermissionRegistry::register_batch), then
    /// `BatchPermissionRequired`.
    Batch(Vec<Arc<Ask>>),
}

impl Gather {
    /// A question has opened, and somebody has to be asked.
    pub fn opened(&mut self, ask: Arc<Ask>) {
        self.unseen.push_back(ask);
    }

    /// A question was settled, by whomever.
    pub fn settled(&mut self, key: &AskKey) {
        self.unseen.retain(|ask| ask.key != *key);
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.unseen.is_empty()
    }

    /// What to show next; call it until there is nothing.
    pub fn show(&mut self) -> Option<Emit> {
        let first = self.unseen.pop_front()?;
        let mut batch = vec![first];
        // A sub-agent asks for itself, so its questions are no part of the main conversation's batch.
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
