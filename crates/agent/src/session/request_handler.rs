//! Handler of the agent's requests: the policy, a grant or the user answers.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tidings::{Decision, Options, PermissionAsk};
use tidings_protocol::control::CanUseTool;
use tidings_protocol::ui::{RequestOutcome, UiMessage};

use super::Setup;
use super::identical_calls::IdenticalCalls;
use super::notes::{Note, NoteSender};
use super::outcomes::ToolPermissions;
use crate::permissions::{
    self, Answer, Ask, RegistryError, Requested, SessionFacts, SessionFolder, SessionKind,
};
use crate::policy::PolicyDecision;

/// Answers the requests of one session's agent.
///
/// It must not hold a session handle: the session's client owns it, and a cycle would keep both alive.
pub(super) struct RequestHandler {
    pub(super) setup: Arc<Setup>,
    pub(super) notes: NoteSender,
    /// The facts about the session.
    facts: Mutex<Arc<SessionFacts>>,
    /// Requests that were answered in the agent's own dialog, with an answer that is not known.
    pub(super) closed_dialogs: Mutex<HashSet<String>>,
    /// The calls of an observed agent.
    pub(super) identical_calls: Mutex<IdenticalCalls>,
}

/// A decision for the CLI.
pub(super) struct HandlerDecision {
    pub(super) decision: Decision,
    /// False if the request ended without an answer; the decision denies it then.
    pub(super) is_answered: bool,
}

impl RequestHandler {
    pub(super) fn new(setup: Arc<Setup>, notes: NoteSender) -> Self {
        let facts = Mutex::new(Arc::new(setup.facts.clone()));
        RequestHandler {
            setup,
            notes,
            facts,
            closed_dialogs: Mutex::default(),
            identical_calls: Mutex::default(),
        }
    }

    /// Installs this handler in the options.
    pub(super) fn install(self: &Arc<Self>, options: Options) -> Options {
        let (decides, elicits) = (Arc::clone(self), Arc::clone(self));
        options
            .on_permission(move |ask: PermissionAsk| {
                let handler = Arc::clone(&decides);
                async move {
                    let facts = handler.facts();
                    handler.decide(ask.context.request_id(), &ask.call, &facts).await.decision
                }
            })
            .on_elicitation(move |ask| {
                let handler = Arc::clone(&elicits);
                async move { handler.answer_elicitation(ask).await }
            })
    }

    /// Records the working directory from an event. Where an observed agent works is in the input of its
    /// hooks.
    pub(super) fn record(&self, event: &UiMessage) {
        if let UiMessage::SessionStarted(started) = event
            && let Some(cwd) = &started.cwd
            && self.setup.facts.kind == SessionKind::Driven
        {
            let place = SessionFolder::on_disk(cwd);
            let facts = match self.setup.facts.folder {
                SessionFolder::Known(_) => self.setup.facts.at(&place),
                SessionFolder::Unknown => SessionFacts { folder: place, ..self.setup.facts.clone() },
            };
            *self.facts.lock() = Arc::new(facts);
        }
    }

    pub(super) fn facts(&self) -> Arc<SessionFacts> {
        Arc::clone(&self.facts.lock())
    }

    /// Decides about a tool call: by the policy, a grant, or the user.
    pub(super) async fn decide(
        &self,
        request_id: &str,
        call: &CanUseTool,
        facts: &SessionFacts,
    ) -> HandlerDecision {
        if let Some(decision) = self.answer_question_tool(request_id, call).await {
            return decision;
        }
        let ask = Ask::new(self.setup.handle, request_id, call, facts).on_disk();
        let outcome = self.outcome(&ask).await;
        HandlerDecision {
            decision: permissions::decision(&ask, &outcome),
            is_answered: outcome.is_answered(),
        }
    }

    async fn outcome(&self, ask: &Ask) -> RequestOutcome<Answer> {
        let Setup { handle, policy, permissions, clock, .. } = &*self.setup;
        let now = clock.now();
        let decided = policy.decide(ask, now);
        if let PolicyDecision::AllowWithGrant(grant) = &decided.decision {
            permissions.add_grant(*handle, grant.clone());
        }
        if let Some(outcome) = decided.outcome() {
            return self.decided(ask, outcome).await;
        }
        let limit = decided.timeout.or(self.setup.ask_limit);
        let deadline = deadline(limit);
        match permissions.request(ask.clone(), deadline, now) {
            Ok(Requested::Settled(outcome)) => self.decided(ask, outcome).await,
            Ok(Requested::Waiting(waiting)) => {
                let opened = Note::Opened(Arc::new(ask.clone()), self.deadline_ms(limit));
                self.notes.send(opened).await;
                self.wait_and_report::<ToolPermissions>(&ask.key, waiting, deadline).await
            }
            Err(error) => {
                let outcome = RequestOutcome::by_rule(Answer::deny(error.to_string()), "registry");
                match error {
                    // The first request stays open, and its outcome is reported once.
                    RegistryError::AlreadyAsked => outcome,
                    _ => self.decided(ask, outcome).await,
                }
            }
        }
    }

    async fn decided(&self, ask: &Ask, outcome: RequestOutcome<Answer>) -> RequestOutcome<Answer> {
        self.notes.send(Note::Decided(ask.key.clone(), outcome.clone())).await;
        outcome
    }

    /// Wall-clock deadline of a request that opens now, in milliseconds since the Unix epoch.
    pub(super) fn deadline_ms(&self, limit: Option<Duration>) -> Option<i64> {
        Some(self.setup.clock.now().checked_add(limit?).ok()?.as_millisecond())
    }
}

/// Deadline of a request that opens now; `None` if there is no limit or the time cannot be represented.
pub(super) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}
