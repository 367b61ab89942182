//! Tells people who look at nothing of ours that something needs them: webhooks, and ntfy for phones.
//!
//! The words leave out what the agent wants to do and what it has said, unless the owner asks for that: they pass
//! through other people's servers and lie on locked screens.

mod compose;
mod send;
pub(crate) mod signature;
mod target;
mod waiting;

use std::collections::HashMap;
use std::sync::Arc;

use tidings_protocol::api::{Notice, ServerPhase};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

pub use compose::{Delivery, Details};
pub use target::{Kind, Occasion, Target};

use self::send::Sender;
use crate::error::Error;
use crate::journal::Handle;
use crate::limits::{LIST_MAX, NOTIFY_KNOWN_MAX, NOTIFY_QUEUE_MAX};
use crate::sessions::Sessions;

/// Sends what needs a person to where its owner wants it.
#[derive(Debug)]
pub struct Notifier {
    senders: Vec<Sender>,
    /// The page of this server, for links.
    page: Option<String>,
}

impl Notifier {
    /// Checks the targets. Nothing is sent before it runs.
    pub fn new(targets: Vec<Target>, page: Option<String>) -> Result<Self, Error> {
        let senders = targets.into_iter().map(Sender::new).collect::<Result<_, _>>()?;
        Ok(Notifier { senders, page })
    }

    /// Sends until the server stops. What is on its way then is given up: it is news, and the journal has it.
    pub async fn run(self, sessions: Sessions, stopping: CancellationToken) {
        let mut notices = sessions.notices();
        let mut queues = Vec::new();
        let mut tasks = tokio::task::JoinSet::new();
        for sender in self.senders {
            let (queue, waiting) = mpsc::channel(NOTIFY_QUEUE_MAX);
            queues.push((sender.wants(), queue));
            tasks.spawn(sender.run(sessions.clone(), waiting));
        }
        let mut states = States::of(&sessions).await;
        loop {
            let notice = tokio::select! {
                () = stopping.cancelled() => break,
                notice = notices.recv() => notice,
            };
            let notice = match notice {
                Ok(notice) => notice,
                Err(broadcast::error::RecvError::Lagged(count)) => {
                    tracing::warn!(count, "too much happened at once to tell of all of it");
                    continue;
                }
                Err(broadcast::error::RecvError::Closed) => break,
            };
            let Some(occasion) = states.occasion(&notice) else { continue };
            if !queues.iter().any(|(wants, _)| wants.contains(&occasion)) {
                continue;
            }
            let delivery = compose::delivery(&sessions, &notice, occasion, self.page.as_deref()).await;
            let delivery = Arc::new(delivery);
            for (_, queue) in queues.iter().filter(|(wants, _)| wants.contains(&occasion)) {
                // Whoever sends takes it at once, and chooses what to drop; so there is always room.
                if queue.send(Arc::clone(&delivery)).await.is_err() {
                    break;
                }
            }
        }
        tasks.shutdown().await;
    }
}

/// How sessions stood, so that an end that nobody wanted is told once.
#[derive(Debug, Default)]
struct States(HashMap<String, ServerPhase>);

impl States {
    /// What had ended before anybody listened is known, and not told again when its title changes.
    async fn of(sessions: &Sessions) -> Self {
        let (mut states, mut after) = (HashMap::new(), None);
        loop {
            let page = sessions.list(after, LIST_MAX).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "how sessions stand could not be read");
                Vec::new()
            });
            let Some(last) = page.last() else { return States(states) };
            after = u64::try_from(last.handle).ok().map(Handle::new);
            let ended = page.into_iter().filter(|view| has_ended(view.state));
            states.extend(ended.map(|view| (view.key, view.state)).take(NOTIFY_KNOWN_MAX - states.len()));
        }
    }

    /// What a notice is to a person; nothing if it needs nobody.
    fn occasion(&mut self, notice: &Notice) -> Option<Occasion> {
        match notice {
            Notice::Permission { .. } => Some(Occasion::Permission),
            Notice::Question { .. } => Some(Occasion::Question),
            Notice::TurnEnded { is_error: true, interrupted: false, .. } => Some(Occasion::Failed),
            Notice::TurnEnded { .. } => Some(Occasion::TurnEnded),
            Notice::Session { session } => {
                if self.0.len() >= NOTIFY_KNOWN_MAX && !self.0.contains_key(&session.key) {
                    self.0.clear();
                }
                let before = self.0.insert(session.key.clone(), session.state);
                let is_new = before != Some(session.state);
                (is_new && has_ended(session.state)).then_some(Occasion::Failed)
            }
            Notice::Deleted { key, .. } => {
                self.0.remove(key);
                None
            }
            Notice::Settled { .. } | Notice::Resync {} => None,
        }
    }
}

/// Whether a session is at its end without anybody having wanted it: neither a person nor a server that stops leaves these.
fn has_ended(phase: ServerPhase) -> bool {
    matches!(phase, ServerPhase::Failed | ServerPhase::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agent calls it an error; whoever pressed the button does not.
    #[test]
    fn a_turn_that_somebody_interrupted_has_not_failed() {
        for (is_error, interrupted, occasion, words) in [
            (true, true, Occasion::TurnEnded, "shop: the turn was interrupted"),
            (true, false, Occasion::Failed, "shop: the turn has failed"),
            (false, false, Occasion::TurnEnded, "shop: the turn has ended"),
        ] {
            let session = "session".to_owned();
            let notice = Notice::TurnEnded { session, is_error, interrupted, last_line: None };
            assert_eq!(States::default().occasion(&notice), Some(occasion));
            assert_eq!(compose::text(&notice, "shop"), words);
        }
    }
}
