//! Registry of open permission requests, grants, and answers that came before the CLI asked.

mod batches;
mod error;
mod grants;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use parking_lot::Mutex;
use tidings_protocol::ui::{AnsweredBy, PermissionRequest, PermissionScope, RequestOutcome};

pub use batches::{BatchAnswer, BatchRecorded, BatchResponse, Member, RegisteredBatch};
pub use error::RegistryError;

use self::batches::BatchTable;
use self::grants::Grants;
use super::{Allowed, Answer, Ask, Digest, Grant};
use crate::limits::HELD_MAX;
use crate::pending::Already;
use crate::request_table::{AskKey, Delivery, OutcomeFuture, RequestTable};

/// Registry of permission requests, each with exactly one outcome. Clones share the same registry.
///
/// ```
/// use jiff::Timestamp;
/// use tidings_agent::AskKey;
/// use tidings_agent::permissions::{Answer, Ask, PermissionRegistry, Requested, Response};
/// use tidings_protocol::control::CanUseTool;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let registry = PermissionRegistry::default();
/// let call = CanUseTool::new("Bash", serde_json::json!({"command": "make"}).into(), "toolu_1");
/// let ask = Ask::new(1, "r", &call, &tidings_agent::permissions::SessionFacts::unknown());
/// let Requested::Waiting(waiting) = registry.request(ask, None, Timestamp::UNIX_EPOCH)? else {
///     unreachable!("nothing was granted")
/// };
///
/// // Elsewhere, a user has seen `registry.pending_for_session(1)`.
/// let key = AskKey::new(1, "toolu_1");
/// registry.respond_to_request(&key, Response::person("phone", Answer::allow()), Timestamp::UNIX_EPOCH)?;
/// assert!(waiting.await.answer().is_some_and(Answer::is_allowed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PermissionRegistry(Arc<Mutex<RegistryState>>);

#[derive(Debug, Default)]
struct RegistryState {
    requests: RequestTable<Ask, Answer>,
    grants: Grants,
    batches: BatchTable,
    held: HeldAnswers,
}

/// The state of a request after it was registered.
#[derive(Debug)]
#[non_exhaustive]
pub enum Requested {
    /// It is settled: a grant covers it, or an answer was held for it.
    Settled(RequestOutcome<Answer>),
    /// It is open, and this future resolves to its outcome.
    Waiting(OutcomeFuture<Answer>),
}

/// An answer, with its author and subject.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The answer.
    pub answer: Answer,
    /// The author.
    pub by: AnsweredBy,
    /// Digest of the input that was shown. An answer about another input than the open one is rejected;
    /// `None` skips the check.
    pub digest: Option<Digest>,
}

/// The effect of an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recorded {
    /// The request.
    pub ask: Arc<Ask>,
    /// Its outcome, with the rules that "always" adds.
    pub outcome: RequestOutcome<Answer>,
    /// The grant that was added.
    pub grant: Option<Grant>,
    /// Other open requests that the grant settled.
    pub also_settled: Vec<Arc<Ask>>,
}

impl Response {
    /// An answer of a user, by the name of the front end or account.
    pub fn person(name: impl Into<String>, answer: Answer) -> Self {
        Response { answer, by: AnsweredBy::Person(name.into()), digest: None }
    }

    /// An answer of a rule.
    pub fn rule(name: impl Into<String>, answer: Answer) -> Self {
        Response { answer, by: AnsweredBy::Rule(name.into()), digest: None }
    }

    /// Ties the answer to the input that was shown.
    #[must_use]
    pub fn to_what_was_shown(mut self, digest: Digest) -> Self {
        self.digest = Some(digest);
        self
    }
}

impl PermissionRegistry {
    /// Registers a request of the CLI. A grant of the session or a held answer settles it immediately.
    /// Otherwise it is open until it is answered, its deadline passes, or the returned future is dropped.
    pub fn request(
        &self,
        ask: Ask,
        deadline: Option<Instant>,
        now: Timestamp,
    ) -> Result<Requested, RegistryError> {
        let mut state = self.0.lock();
        let key = ask.key.clone();
        if let Some(outcome) = state.held.take(&key, ask.digest) {
            return Ok(Requested::Settled(outcome));
        }
        match state.requests.get(&key).map(|open| open.digest) {
            // Announced before; now the CLI asks.
            Some(digest) if digest == ask.digest => state.requests.set_deadline(&key, deadline),
            other => {
                if let Some(grant) = state.grants.satisfying(&ask, now) {
                    return Ok(Requested::Settled(by_grant(grant)));
                }
                if other.is_some() {
                    // The input differs from the announced one, so answers to the announcement do not count.
                    drop(state.requests.settle(&key, RequestOutcome::Cancelled));
                }
                state.requests.open(Arc::new(ask), deadline)?;
            }
        }
        let registry = Arc::downgrade(&self.0);
        let abandoned = key.clone();
        let abandon = move || {
            if let Some(state) = registry.upgrade() {
                let mut state = state.lock();
                // It may be settled already.
                drop(state.requests.settle(&abandoned, RequestOutcome::Disconnected));
            }
        };
        state.requests.wait(&key, abandon).map(Requested::Waiting).ok_or(RegistryError::AlreadyAsked)
    }

    /// Opens a request for a call that the CLI has not asked about yet. The answer is held until the CLI asks
    /// about the same call with the same input.
    ///
    /// A call that a grant covers is not opened.
    pub fn announce(&self, ask: Ask, now: Timestamp) -> Result<Arc<Ask>, RegistryError> {
        let mut state = self.0.lock();
        let ask = Arc::new(ask);
        if state.grants.satisfying(&ask, now).is_none() {
            state.requests.open(Arc::clone(&ask), None)?;
        }
        Ok(ask)
    }

    /// Answers a request. The first answer wins; later callers get [`RegistryError::AlreadyResponded`] with
    /// it.
    pub fn respond_to_request(
        &self,
        key: &AskKey,
        response: Response,
        now: Timestamp,
    ) -> Result<Recorded, RegistryError> {
        self.0.lock().respond(key, response, now)
    }

    /// Withdraws a request: the CLI cancelled it, or the turn ended.
    pub fn cancel(&self, key: &AskKey) -> Result<Arc<Ask>, RegistryError> {
        let mut state = self.0.lock();
        state.held.remove(key);
        let (ask, _) = state.requests.settle(key, RequestOutcome::Cancelled)?;
        Ok(ask)
    }

    /// Withdraws all requests of a session, and drops the answers that are held for it.
    pub fn cancel_session(&self, session_id: i64) -> Vec<Arc<Ask>> {
        self.0.lock().end_session(session_id, &RequestOutcome::Cancelled)
    }

    /// Settles all requests of a session whose CLI has ended.
    pub fn disconnect_session(&self, session_id: i64) -> Vec<Arc<Ask>> {
        self.0.lock().end_session(session_id, &RequestOutcome::Disconnected)
    }

    /// Withdraws all requests of a session and forgets its settled requests, batches and grants.
    pub fn clear_session(&self, session_id: i64) -> Vec<Arc<Ask>> {
        let mut state = self.0.lock();
        let ended = state.end_session(session_id, &RequestOutcome::Cancelled);
        state.grants.clear(session_id);
        state.batches.clear(session_id);
        state.requests.forget_session(session_id);
        ended
    }

    /// Settles every request whose deadline has passed, and returns them.
    pub fn expire(&self, now: Instant) -> Vec<Arc<Ask>> {
        self.0.lock().requests.expire(now)
    }

    /// The next time at which [`PermissionRegistry::expire`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.0.lock().requests.next_deadline()
    }

    /// An open request.
    pub fn get(&self, key: &AskKey) -> Option<Arc<Ask>> {
        self.0.lock().requests.get(key).cloned()
    }

    /// The outcome of a settled request, if it is still remembered.
    pub fn outcome(&self, key: &AskKey) -> Option<RequestOutcome<Answer>> {
        self.0.lock().requests.settled(key).cloned()
    }

    /// The open requests of a session, oldest first, for clients that reconnect.
    pub fn pending_for_session(&self, session_id: i64) -> Vec<Arc<Ask>> {
        self.0.lock().requests.session(session_id).cloned().collect()
    }

    /// The open requests of all sessions, oldest first.
    pub fn pending(&self) -> Vec<Arc<Ask>> {
        self.0.lock().requests.all().cloned().collect()
    }

    /// True if a session has an open request.
    pub fn has_pending(&self, session_id: i64) -> bool {
        self.0.lock().requests.session(session_id).next().is_some()
    }

    /// The number of open requests.
    pub fn pending_count(&self) -> usize {
        self.0.lock().requests.len()
    }
}

impl RegistryState {
    fn respond(
        &mut self,
        key: &AskKey,
        response: Response,
        now: Timestamp,
    ) -> Result<Recorded, RegistryError> {
        let Some(ask) = self.requests.get(key).cloned() else {
            return Err(self.requests.settled(key).cloned().map_or(RegistryError::NotFound, |outcome| {
                RegistryError::AlreadyResponded(Box::new(outcome))
            }));
        };
        if response.digest.is_some_and(|digest| digest != ask.digest) {
            return Err(RegistryError::DigestMismatch);
        }
        let (answer, grant) = complete(&ask, response.answer)?;
        let outcome = RequestOutcome::Answered { answer, by: response.by };
        self.settle(key, outcome.clone())?;
        let mut also_settled = Vec::new();
        if let Some(grant) = &grant {
            self.grants.add(key.session_id, grant.clone());
            also_settled = self.settle_granted(key.session_id, now);
        }
        Ok(Recorded { ask, outcome, grant, also_settled })
    }

    /// Settles a request, and holds the outcome if the CLI has not asked yet.
    fn settle(&mut self, key: &AskKey, outcome: RequestOutcome<Answer>) -> Result<(), Already<Answer>> {
        let (ask, delivery) = self.requests.settle(key, outcome.clone())?;
        if delivery == Delivery::NoWaiter && outcome.answer().is_some() {
            self.held.put(ask.key.clone(), ask.digest, outcome);
        }
        Ok(())
    }

    /// Settles the open requests that the grants of a session now cover.
    fn settle_granted(&mut self, session_id: i64, now: Timestamp) -> Vec<Arc<Ask>> {
        let covered: Vec<(Arc<Ask>, String)> = self
            .requests
            .session(session_id)
            .filter_map(|ask| Some((Arc::clone(ask), self.grants.satisfying(ask, now)?)))
            .collect();
        let mut settled = Vec::new();
        for (ask, grant) in covered {
            if self.settle(&ask.key, by_grant(grant)).is_ok() {
                settled.push(ask);
            }
        }
        settled
    }

    fn end_session(&mut self, session_id: i64, outcome: &RequestOutcome<Answer>) -> Vec<Arc<Ask>> {
        self.held.clear(session_id);
        self.requests.settle_session(session_id, outcome)
    }
}

/// Completes an answer with the grant or the rules of its scope.
fn complete(ask: &Ask, answer: Answer) -> Result<(Answer, Option<Grant>), RegistryError> {
    match answer {
        Answer::Allow(Allowed { scope: PermissionScope::Session, updated_input, updates }) => {
            let grant = ask.suggested_grant().ok_or(RegistryError::NotGrantable)?;
            Ok((
                Answer::Allow(Allowed { scope: PermissionScope::Session, updated_input, updates }),
                Some(grant),
            ))
        }
        Answer::Allow(Allowed { scope: PermissionScope::Always, updated_input, updates }) => {
            if !ask.can_be_always || ask.needs_person {
                return Err(RegistryError::AlwaysNotOffered);
            }
            let updates = if updates.is_empty() { ask.always_updates() } else { updates };
            if updates.is_empty() {
                return Err(RegistryError::AlwaysNotOffered);
            }
            Ok((Answer::Allow(Allowed { scope: PermissionScope::Always, updated_input, updates }), None))
        }
        answer => Ok((answer, None)),
    }
}

fn by_grant(id: String) -> RequestOutcome<Answer> {
    RequestOutcome::Answered { answer: Answer::allow(), by: AnsweredBy::Grant(id) }
}

/// Answers that came before the CLI asked.
#[derive(Debug, Default)]
struct HeldAnswers {
    answers: HashMap<AskKey, (Digest, RequestOutcome<Answer>)>,
    /// Oldest first.
    order: VecDeque<AskKey>,
}

impl HeldAnswers {
    fn put(&mut self, key: AskKey, digest: Digest, outcome: RequestOutcome<Answer>) {
        self.remove(&key);
        if self.order.len() >= HELD_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.answers.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.answers.insert(key, (digest, outcome));
    }

    /// Takes the answer for a call, if it was given for the same input. It is removed in any case.
    fn take(&mut self, key: &AskKey, digest: Digest) -> Option<RequestOutcome<Answer>> {
        let (shown, outcome) = self.remove(key)?;
        (shown == digest).then_some(outcome)
    }

    fn remove(&mut self, key: &AskKey) -> Option<(Digest, RequestOutcome<Answer>)> {
        let removed = self.answers.remove(key)?;
        self.order.retain(|held| held != key);
        Some(removed)
    }

    fn clear(&mut self, session_id: i64) {
        self.answers.retain(|key, _| key.session_id != session_id);
        self.order.retain(|key| key.session_id != session_id);
    }
}

fn requests(asks: &[Arc<Ask>]) -> Vec<PermissionRequest> {
    asks.iter().map(|ask| ask.request.clone()).collect()
}
