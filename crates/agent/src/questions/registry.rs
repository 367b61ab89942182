//! Where questions to the user wait for their one answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::inquiry::{Inquiry, Replied, Reply};
use super::validate::Invalid;
use crate::pending::{Already, Outcome, Refused, Who};
use crate::request_table::{AskKey, OutcomeFuture, RequestTable};

/// Where questions to the user wait for their one answer. Cheap to clone; all clones are the same registry.
///
/// ```
/// use tidings_agent::AskKey;
/// use tidings_agent::pending::Who;
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
/// registry.respond(&key, vec![Reply::new("plan", ["Approve"])], Who::Person("phone".into()))?;
/// assert!(!registry.has_pending(1));
/// # drop(waiting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct UserInteractionRegistry(Arc<Mutex<RequestTable<Inquiry, Replied>>>);

/// Why the registry did not do what it was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionError {
    /// There is no such question, or it is long forgotten.
    #[error("There is no such question")]
    NotFound,
    /// The question was settled before; this is how.
    #[error("The question was answered before")]
    AlreadyResponded(Box<Outcome<Replied>>),
    /// The question is open already.
    #[error("The question is open already")]
    AlreadyAsked,
    /// Too many questions are open.
    #[error("Too many questions are open")]
    Full,
    /// The answers cannot be sent, for these reasons. The question stays open.
    #[error("The answers cannot be sent")]
    Invalid(Vec<Invalid>),
}

impl UserInteractionRegistry {
    /// Opens questions until somebody answers, the deadline passes, or the waiter is dropped.
    pub fn register(
        &self,
        inquiry: Inquiry,
        deadline: Option<Instant>,
    ) -> Result<OutcomeFuture<Replied>, InteractionError> {
        let key = inquiry.key.clone();
        let mut requests = self.lock();
        requests.open(Arc::new(inquiry), deadline)?;
        let registry = Arc::downgrade(&self.0);
        let abandoned = key.clone();
        let abandon = move || {
            if let Some(requests) = registry.upgrade() {
                let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
                // Somebody may have been faster.
                drop(requests.settle(&abandoned, Outcome::Disconnected));
            }
        };
        requests.wait(&key, abandon).ok_or(InteractionError::AlreadyAsked)
    }

    /// Somebody answers. Answers that cannot be sent settle nothing; of those that can, the first count.
    pub fn respond(
        &self,
        key: &AskKey,
        answers: Vec<Reply>,
        by: Who,
    ) -> Result<Arc<Inquiry>, InteractionError> {
        let mut requests = self.lock();
        if let Some(inquiry) = requests.get(key) {
            let invalid = inquiry.check(&answers);
            if !invalid.is_empty() {
                return Err(InteractionError::Invalid(invalid));
            }
        }
        let (inquiry, _) =
            requests.settle(key, Outcome::Answered { answer: Replied::Answers(answers), by })?;
        Ok(inquiry)
    }

    /// Somebody does not want to answer.
    pub fn decline(&self, key: &AskKey, by: Who) -> Result<Arc<Inquiry>, InteractionError> {
        let (inquiry, _) = self.lock().settle(key, Outcome::Answered { answer: Replied::Declined, by })?;
        Ok(inquiry)
    }

    /// The CLI took the questions back, or the turn is over.
    pub fn cancel(&self, key: &AskKey) -> Result<Arc<Inquiry>, InteractionError> {
        let (inquiry, _) = self.lock().settle(key, Outcome::Cancelled)?;
        Ok(inquiry)
    }

    /// Takes back all questions of a session.
    pub fn cancel_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.lock().settle_session(session_id, &Outcome::Cancelled)
    }

    /// The CLI of a session is gone.
    pub fn disconnect_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.lock().settle_session(session_id, &Outcome::Disconnected)
    }

    /// Takes back all questions of a session and forgets everything about it.
    pub fn clear_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        let mut requests = self.lock();
        let ended = requests.settle_session(session_id, &Outcome::Cancelled);
        requests.forget_session(session_id);
        ended
    }

    /// Ends all questions whose deadline has passed, and says which.
    pub fn expire(&self, now: Instant) -> Vec<Arc<Inquiry>> {
        self.lock().expire(now)
    }

    /// When [`UserInteractionRegistry::expire`] has something to do next.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.lock().next_deadline()
    }

    /// Open questions.
    pub fn get(&self, key: &AskKey) -> Option<Arc<Inquiry>> {
        self.lock().get(key).cloned()
    }

    /// How questions ended, if that is still remembered.
    pub fn outcome(&self, key: &AskKey) -> Option<Outcome<Replied>> {
        self.lock().settled(key).cloned()
    }

    /// The open questions of a session, the oldest first.
    pub fn pending_for_session(&self, session_id: i64) -> Vec<Arc<Inquiry>> {
        self.lock().session(session_id).cloned().collect()
    }

    /// The open questions of all sessions, the oldest first.
    pub fn pending(&self) -> Vec<Arc<Inquiry>> {
        self.lock().all().cloned().collect()
    }

    /// Whether a session has open questions.
    pub fn has_pending(&self, session_id: i64) -> bool {
        self.lock().session(session_id).next().is_some()
    }

    /// How many questions are open.
    pub fn pending_count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, RequestTable<Inquiry, Replied>> {
        // Every change is whole before something can panic, so a poisoned lock hides nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
