//! Registry of questions to the user, each with exactly one outcome.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidings_protocol::ui::{AnsweredBy, RequestOutcome};

use super::inquiry::{Inquiry, Replied, Reply};
use super::validate::Invalid;
use crate::pending::{Already, Refused};
use crate::request_table::{AskKey, OutcomeFuture, RequestTable};

/// Registry of questions to the user, each with exactly one outcome. Clones share the same registry.
///
/// ```
/// use tidings_agent::AskKey;
/// use tidings_protocol::ui::AnsweredBy;
/// use tidings_agent::questions::{Inquiry, Reply, UserInteractionRegistry};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::json::Json;
///
/// let registry = UserInteractionRegistry::default();
/// let call = CanUseTool::new("ExitPlanMode", Json::parse("{}")?, "toolu_1");
/// let inquiry = Inquiry::from_call(1, "request-1", &call, Some("1. Write it")).ok_or("no question")?;
/// let waiting = registry.register(inquiry, None)?;
///
/// let key = AskKey::new(1, "toolu_1");
/// registry.respond(&key, vec![Reply::new("plan", ["Approve"])], AnsweredBy::Person("phone".into()))?;
/// assert!(!registry.has_pending(1));
/// # drop(waiting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct UserInteractionRegistry(Arc<Mutex<RequestTable<Inquiry, Replied>>>);

/// Errors of the registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionError {
    /// The question does not exist, or was settled too long ago.
    #[error("No such question is open")]
    NotFound,
    /// The question was settled before, with this outcome.
    #[error("The question was already settled")]
    AlreadyResponded(Box<RequestOutcome<Replied>>),
    /// The question is already open.
    #[error("The question is already open")]
    AlreadyAsked,
    /// Too many questions are open.
    #[error("Too many questions are open")]
    Full,
    /// The answers are invalid, for these reasons. The question stays open.
    #[error("The answers are invalid")]
    Invalid(Vec<Invalid>),
}

impl UserInteractionRegistry {
    /// Opens questions until they are answered, the deadline passes, or the returned future is dropped.
    pub fn register(
        &self,
        inquiry: Inquiry,
        deadline: Option<Instant>,
    ) -> Result<OutcomeFuture<Replied>, InteractionError> {
        let key = inquiry.key.clone();
        let mut requests = self.0.lock();
        requests.open(Arc::new(inquiry), deadline)?;
        let registry = Arc::downgrade(&self.0);
        let abandoned = key.clone();
        let abandon = move || {
            if let Some(requests) = registry.upgrade() {
                let mut requests = requests.lock();
                // It may be settled already.
                drop(requests.settle(&abandoned, RequestOutcome::Disconnected));
            }
        };
        requests.wait(&key, abandon).ok_or(InteractionError::AlreadyAsked)
    }

    /// Answers questions. Invalid answers settle nothing; the first valid ones win.
    pub fn respond(
        &self,
        key: &AskKey,
        answers: Vec<Reply>,
        by: AnsweredBy,
    ) -> Result<Arc<Inquiry>, InteractionError> {
        let mut requests = self.0.lock();
        if let Some(inquiry) = requests.get(key) {
            let invalid = inquiry.check(&answers);
            if !invalid.is_empty() {
                return Err(InteractionError::Invalid(invalid));
            }
        }
        let (inquiry, _) =
            requests.settle(key, RequestOutcome::Answered { answer: Replied::Answers(answers), by })?;
        Ok(inquiry)
    }

    /// Declines to answer.
    pub fn decline(&self, key: &AskKey, by: AnsweredBy) -> Result<Arc<Inquiry>, InteractionError> {
        let (inquiry, _) =
            self.0.lock().settle(key, RequestOutcome::Answered { answer: Replied::Declined, by })?;
        Ok(inquiry)
    }

    /// Withdraws questions: the CLI cancelled them, or the turn ended.
    pub fn cancel(&self, key: &AskKey) -> Result<Arc<Inquiry>, InteractionError> {
        let (inquiry, _) = self.0.lock().settle(key, RequestOutcome::Cancelled)?;
        Ok(inquiry)
    }

    /// Withdraws all questions of a session.
    pub fn cancel_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.0.lock().settle_session(session_id, &RequestOutcome::Cancelled)
    }

    /// Settles all questions of a session whose CLI has ended.
    pub fn disconnect_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.0.lock().settle_session(session_id, &RequestOutcome::Disconnected)
    }

    /// Withdraws all questions of a session and forgets its settled ones.
    pub fn clear_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        let mut requests = self.0.lock();
        let ended = requests.settle_session(session_id, &RequestOutcome::Cancelled);
        requests.forget_session(session_id);
        ended
    }

    /// Settles all questions whose deadline has passed, and returns them.
    pub fn expire(&self, now: Instant) -> Vec<Arc<Inquiry>> {
        self.0.lock().expire(now)
    }

    /// The next time at which [`UserInteractionRegistry::expire`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.0.lock().next_deadline()
    }

    /// An open question.
    pub fn get(&self, key: &AskKey) -> Option<Arc<Inquiry>> {
        self.0.lock().get(key).cloned()
    }

    /// The outcome of settled questions, if it is still remembered.
    pub fn outcome(&self, key: &AskKey) -> Option<RequestOutcome<Replied>> {
        self.0.lock().settled(key).cloned()
    }

    /// The open questions of a session, oldest first.
    pub fn pending_for_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.0.lock().session(session_id).cloned().collect()
    }

    /// The open questions of all sessions, oldest first.
    pub fn pending(&self) -> Vec<Arc<Inquiry>> {
        self.0.lock().all().cloned().collect()
    }

    /// True if a session has open questions.
    pub fn has_pending(&self, session_id: i64) -> bool {
        self.0.lock().session(session_id).next().is_some()
    }

    /// The number of open questions.
    pub fn pending_count(&self) -> usize {
        self.0.lock().len()
    }
}

impl From<Refused> for InteractionError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Duplicate => InteractionError::AlreadyAsked,
            Refused::Full => InteractionError::Full,
        }
    }
}

impl From<Already<Replied>> for InteractionError {
    fn from(already: Already<Replied>) -> Self {
        match already {
            Already::Settled(outcome) => InteractionError::AlreadyResponded(Box::new(outcome)),
            Already::Unknown => InteractionError::NotFound,
        }
    }
}
