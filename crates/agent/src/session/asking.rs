//! The agent asks; the policy, a grant or a person answers.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tidings::{Client, Decision, Options, PermissionAsk};
use tidings_protocol::ui::{PermissionDetails, PermissionRequest, PermissionResolved, Resolution, UiMessage};

use super::Setup;
use super::announce::Announced;
use super::notes::{Note, Notes};
use crate::desk::{AskKey, Waiting};
use crate::fold::Asked;
use crate::pending::{Outcome, Who};
use crate::permissions::{self, Answer, Ask, Emit, Requested};
use crate::policy::PolicyDecision;

/// Answers what the agent of one session asks.
pub(super) struct Asking {
    pub(super) setup: Arc<Setup>,
    pub(super) notes: Notes,
    client: OnceLock<Client>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// Where relative paths begin.
    folder: Option<String>,
    /// The batch that an open question is shown in.
    batch_of: HashMap<String, String>,
    pub(super) announced: Announced,
}

impl Asking {
    pub(super) fn new(setup: Arc<Setup>, notes: Notes) -> Self {
        Asking { setup, notes, client: OnceLock::new(), state: Mutex::default() }
    }

    /// The options with ourselves as the one who answers.
    pub(super) fn answer_for(self: &Arc<Self>, options: Options) -> Options {
        let (decides, fills_in) = (Arc::clone(self), Arc::clone(self));
        options
            .on_permission(move |ask: PermissionAsk| {
                let asking = Arc::clone(&decides);
                async move { asking.may(ask).await }
            })
            .on_elicitation(move |ask| {
                let asking = Arc::clone(&fills_in);
                async move { asking.fill_in(ask).await }
            })
    }

    /// The session that asks.
    pub(super) fn work_in(&self, client: &Client) {
        drop(self.client.set(client.guest()));
    }

    /// Nobody sees the session any more.
    pub(super) async fn leave(&self) {
        if let Some(client) = self.client.get() {
            // There is nobody left to tell how it ended.
            drop(client.close().await);
        }
    }

    /// The agent is gone; what was open is told as that.
    pub(super) fn disconnect(&self) {
        let handle = self.setup.handle;
        for ask in self.setup.permissions.disconnect_session(handle) {
            self.notes.tell_now(Note::Decided(self.resolved(&ask.key, &Outcome::Disconnected)));
        }
        self.disconnect_questions();
    }

    /// Takes in what an event says.
    pub(super) fn note(&self, event: &UiMessage) {
        if let UiMessage::SessionStarted(started) = event
            && let Some(cwd) = &started.cwd
        {
            self.state().folder = Some(cwd.clone());
        }
        self.end_of_turn(event);
    }

    /// Whether a question is part of a batch that was shown.
    pub(super) fn is_shown(&self, key: &AskKey) -> bool {
        self.state().batch_of.contains_key(&key.tool_use_id)
    }

    pub(super) fn folder(&self) -> Option<String> {
        self.state().folder.clone()
    }

    async fn may(&self, asked: PermissionAsk) -> Decision {
        if let Some(decision) = self.ask_person(&asked).await {
            return decision;
        }
        let id = asked.context.request_id();
        let ask = Ask::new(self.setup.handle, id, &asked.call, self.folder().as_deref());
        let outcome = self.outcome(&ask).await;
        permissions::decision(&ask, &outcome)
    }

    async fn outcome(&self, ask: &Ask) -> Outcome<Answer> {
        let Setup { handle, policy, permissions, clock, .. } = &*self.setup;
        let now = clock.now();
        let decided = policy.decide(ask, now);
        if let PolicyDecision::AllowWithGrant(grant) = &decided.decision {
            permissions.add_grant(*handle, grant.clone());
        }
        if let Some(outcome) = decided.outcome() {
            return self.told(ask, outcome).await;
        }
        let limit = decided.timeout.or(self.setup.ask_limit);
        let deadline = limit.map(|limit| Instant::now() + limit);
        // Shown before the agent asked.
        let shown = permissions.get(&ask.key).is_some_and(|open| open.digest == ask.digest);
        match permissions.request(ask.clone(), deadline, now) {
            Ok(Requested::Settled(outcome)) => self.told(ask, outcome).await,
            Ok(Requested::Waiting(waiting)) => {
                if !shown {
                    self.notes.tell(Note::Opened(Arc::new(ask.clone()))).await;
                }
                let outcome = self.wait(&ask.key, waiting, limit.zip(deadline)).await;
                self.told(ask, outcome).await
            }
            Err(error) => {
                let outcome = Outcome::by_rule(Answer::deny(error.to_string()), "registry");
                self.told(ask, outcome).await
            }
        }
    }

    async fn wait(
        &self,
        key: &AskKey,
        waiting: Waiting<Answer>,
        limit: Option<(Duration, Instant)>,
    ) -> Outcome<Answer> {
        let mut waiting = pin!(waiting);
        // The agent takes a question back by dropping the one who answers it.
        let mut guard = TakenBack { asking: self, key, armed: true };
        let outcome = match limit {
            None => waiting.await,
            Some((limit, deadline)) => tokio::select! {
                outcome = &mut waiting => outcome,
                () = tokio::time::sleep(limit) => {
                    drop(self.setup.permissions.expire(deadline));
                    waiting.await
                }
            },
        };
        guard.armed = false;
        outcome
    }

    async fn told(&self, ask: &Ask, outcome: Outcome<Answer>) -> Outcome<Answer> {
        self.notes.tell(Note::Decided(self.resolved(&ask.key, &outcome))).await;
        outcome
    }

    pub(super) fn resolved(&self, key: &AskKey, outcome: &Outcome<Answer>) -> PermissionResolved {
        let resolution = match outcome {
            Outcome::Answered { answer: Answer::Allow(_), .. } => Resolution::Allowed,
            Outcome::Answered { answer: Answer::Deny(_), .. } => Resolution::Denied,
            other => without_answer(other),
        };
        let mut resolved = PermissionResolved::new(key.session_id, key.tool_use_id.as_str(), resolution);
        resolved.batch_id = self.state().batch_of.remove(&key.tool_use_id);
        if let Outcome::Answered { answer, by } = outcome {
            (resolved.by, resolved.rule) = who(by);
            match answer {
                Answer::Allow(allowed) => resolved.scope = Some(allowed.scope.as_str().to_owned()),
                Answer::Deny(denied) => resolved.reason.clone_from(&denied.message),
            }
        }
        resolved
    }

    /// What to show of questions that have gathered; nothing if they were settled meanwhile.
    pub(super) fn shown(&self, emit: Emit) -> Option<Asked> {
        match emit {
            Emit::Single(ask) => {
                let (request, details) = self.described(&ask, None);
                Some(Asked::Permission { request, details })
            }
            Emit::Batch(asks) => {
                let batch_id = self.setup.ids.next();
                let asks = asks.iter().map(|ask| Ask::clone(ask)).collect();
                let registered =
                    self.setup.permissions.register_batch(&*batch_id, asks, self.setup.clock.now()).ok()?;
                let mut state = self.state();
                for ask in &registered.asks {
                    state.batch_of.insert(ask.key.tool_use_id.clone(), batch_id.clone());
                }
                drop(state);
                let requests: Vec<_> =
                    registered.asks.iter().map(|ask| self.described(ask, Some(&batch_id))).collect();
                (!requests.is_empty()).then_some(Asked::Batch { batch_id, requests })
            }
        }
    }

    fn described(&self, ask: &Ask, batch_id: Option<&str>) -> (PermissionRequest, PermissionDetails) {
        let input = ask.input.raw().value().unwrap_or_default();
        let mut details = PermissionDetails::new(
            ask.key.session_id,
            ask.key.tool_use_id.as_str(),
            ask.tool_name.as_str(),
            input,
            ask.risk,
        );
        details.batch_id = batch_id.map(str::to_owned);
        details.digest = Some(ask.digest.to_string());
        details.agent_id.clone_from(&ask.agent_id);
        details.decision_reason.clone_from(&ask.request.reason);
        details.description.clone_from(&ask.model_says);
        if ask.can_be_always {
            details.suggestions = serde_json::to_value(ask.always_updates()).ok();
        }
        details.deadline_ms = self.deadline_ms();
        (ask.request.clone(), details)
    }

    /// When a question that is asked now will be settled without an answer.
    pub(super) fn deadline_ms(&self) -> Option<i64> {
        let limit = self.setup.ask_limit?;
        Some(self.setup.clock.now().checked_add(limit).ok()?.as_millisecond())
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole before something can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells that a question was taken back, unless it was settled before.
struct TakenBack<'a> {
    asking: &'a Asking,
    key: &'a AskKey,
    armed: bool,
}

impl Drop for TakenBack<'_> {
    fn drop(&mut self) {
        if self.armed && self.asking.setup.permissions.cancel(self.key).is_ok() {
            let resolved = self.asking.resolved(self.key, &Outcome::Cancelled);
            self.asking.notes.tell_now(Note::Decided(resolved));
        }
    }
}

/// How a question ended that nobody answered.
pub(super) fn without_answer<A>(outcome: &Outcome<A>) -> Resolution {
    match outcome {
        Outcome::Answered { .. } => Resolution::Answered,
        Outcome::TimedOut => Resolution::TimedOut,
        Outcome::Disconnected => Resolution::Disconnected,
        Outcome::Cancelled => Resolution::Cancelled,
        Outcome::Lost => Resolution::Lost,
    }
}

/// Who answered, and by which rule.
pub(super) fn who(by: &Who) -> (Option<String>, Option<String>) {
    match by {
        Who::Person(name) => (Some(name.clone()), None),
        Who::Rule(rule) => (Some("policy".to_owned()), Some(rule.clone())),
        Who::Grant(id) => (Some("grant".to_owned()), Some(id.clone())),
    }
}
