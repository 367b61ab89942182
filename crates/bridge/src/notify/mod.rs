//! Notifications for users who have no page open: webhooks, and ntfy for phones.
//!
//! Texts leave out what the agent wants to do and what it has said, unless the owner enables
//! `include_details`: they pass through servers of third parties and appear on locked screens.

mod compose;
mod queue;
mod send;
mod signature;
mod target;

use std::collections::HashMap;
use std::sync::Arc;

use tidings_protocol::api::{Notice, ServerPhase};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

pub use compose::{Details, Notification};
pub use target::{Occasion, Target, TargetKind};

use self::send::Sender;
use crate::error::Error;
use crate::journal::Handle;
use crate::limits::{LIST_MAX, NOTIFY_KNOWN_MAX, NOTIFY_QUEUE_MAX};
use crate::sessions::Sessions;

/// Sends notifications to the configured targets.
#[derive(Debug)]
pub struct Notifier {
    senders: Vec<Sender>,
    /// The URL of this server's page, for links.
    page: Option<String>,
}

impl Notifier {
    /// Checks the targets. Nothing is sent before [`Notifier::run`].
    pub fn new(targets: Vec<Target>, page: Option<String>) -> Result<Self, Error> {
        let senders = targets.into_iter().map(Sender::new).collect::<Result<_, _>>()?;
        Ok(Notifier { senders, page })
    }

    /// Sends notifications until the server stops. Unsent ones are dropped then; the journal has their
    /// events.
    pub async fn run(self, sessions: Sessions, stopping: CancellationToken) {
        let mut notices = sessions.notices();
        let mut queues = Vec::new();
        let mut tasks = tokio::task::JoinSet::new();
        for sender in self.senders {
            let (queue, waiting) = mpsc::channel(NOTIFY_QUEUE_MAX);
            queues.push((sender.wants(), queue));
            tasks.spawn(sender.run(sessions.clone(), waiting));
        }
        let mut phases = KnownPhases::of(&sessions).await;
        loop {
            let notice = tokio::select! {
                () = stopping.cancelled() => break,
                notice = notices.recv() => notice,
            };
            let notice = match notice {
                Ok(notice) => notice,
                Err(broadcast::error::RecvError::Lagged(count)) => {
                    tracing::warn!(count, "too many notices at once; some notifications were not sent");
                    continue;
                }
                Err(broadcast::error::RecvError::Closed) => break,
            };
            let Some(occasion) = phases.occasion(&notice) else { continue };
            if !queues.iter().any(|(wants, _)| wants.contains(&occasion)) {
                continue;
            }
            let notification =
                compose::notification(&sessions, &notice, occasion, self.page.as_deref()).await;
            let notification = Arc::new(notification);
            for (_, queue) in queues.iter().filter(|(wants, _)| wants.contains(&occasion)) {
                // The sender task takes it at once and drops from its own queue, so this never waits long.
                if queue.send(Arc::clone(&notification)).await.is_err() {
                    break;
                }
            }
        }
        tasks.shutdown().await;
    }
}

/// The last known phase of each session, so that a failure is notified once.
#[derive(Debug, Default)]
struct KnownPhases(HashMap<String, ServerPhase>);

impl KnownPhases {
    /// Reads the phases at start, so that an old failure is not notified again when the title of its session
    /// changes.
    async fn of(sessions: &Sessions) -> Self {
        let (mut phases, mut after) = (HashMap::new(), None);
        loop {
            let page = sessions.list(after, LIST_MAX).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "failed to read the phases of sessions");
                Vec::new()
            });
            let Some(last) = page.last() else { return KnownPhases(phases) };
            after = u64::try_from(last.handle).ok().map(Handle::new);
            let ended = page.into_iter().filter(|view| has_ended(view.state));
            phases.extend(ended.map(|view| (view.key, view.state)).take(NOTIFY_KNOWN_MAX - phases.len()));
        }
    }

    /// The occasion of a notice; `None` if it needs no notification.
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

/// True if a session has failed or was cut off. A user or a server that stops does not cause these phases.
fn has_ended(phase: ServerPhase) -> bool {
    matches!(phase, ServerPhase::Failed | ServerPhase::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interrupted turn is an error for the agent, but not for the user who interrupted it.
    #[test]
    fn an_interrupted_turn_has_not_failed() {
        for (is_error, interrupted, occasion, words) in [
            (true, true, Occasion::TurnEnded, "shop: the turn was interrupted"),
            (true, false, Occasion::Failed, "shop: the turn has failed"),
            (false, false, Occasion::TurnEnded, "shop: the turn has ended"),
        ] {
            let session = "session".to_owned();
            let notice = Notice::TurnEnded { session, is_error, interrupted, last_line: None };
            assert_eq!(KnownPhases::default().occasion(&notice), Some(occasion));
            assert_eq!(compose::text(&notice, "shop"), words);
        }
    }
}
