//! The agent asks; the policy, a grant or a person answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tidings::{Decision, Options, PermissionAsk};
use tidings_protocol::ui::UiMessage;

use super::Setup;
use super::notes::{Note, Notes};
use super::waiting::Tools;
use crate::pending::Outcome;
use crate::permissions::{self, Answer, Ask, RegistryError, Requested};
use crate::policy::PolicyDecision;

/// Answers what the agent of one session asks.
///
/// It must not keep the session: the session keeps it.
pub(super) struct Asking {
    pub(super) setup: Arc<Setup>,
    pub(super) notes: Notes,
    /// Where relative paths begin.
    folder: Mutex<Option<String>>,
}

impl Asking {
    pub(super) fn new(setup: Arc<Setup>, notes: Notes) -> Self {
        Asking { setup, notes, folder: Mutex::default() }
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

    /// Takes in what an event says.
    pub(super) fn note(&self, event: &UiMessage) {
        if let UiMessage::SessionStarted(started) = event
            && let Some(cwd) = &started.cwd
        {
            *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(cwd.clone());
        }
    }

    pub(super) fn folder(&self) -> Option<String> {
        // It is replaced as a whole, so a panic elsewhere leaves nothing half done.
        self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn may(&self, asked: PermissionAsk) -> Decision {
        if let Some(decision) = self.ask_person(&asked).await {
            return decision;
        }
        let id = asked.context.request_id();
        let ask = Ask::new(self.setup.handle, id, &asked.call, self.folder().as_deref()).on_disk();
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
            return self.decided(ask, outcome).await;
        }
        let limit = decided.timeout.or(self.setup.ask_limit);
        let deadline = deadline(limit);
        match permissions.request(ask.clone(), deadline, now) {
            Ok(Requested::Settled(outcome)) => self.decided(ask, outcome).await,
            Ok(Requested::Waiting(waiting)) => {
                let opened = Note::Opened(Arc::new(ask.clone()), self.deadline_ms(limit));
                self.notes.tell(opened).await;
                self.end_of::<Tools>(&ask.key, waiting, deadline).await
            }
            Err(error) => {
                let outcome = Outcome::by_rule(Answer::deny(error.to_string()), "registry");
                match error {
                    // The first question goes on, and how it ends is told once.
                    RegistryError::AlreadyAsked => outcome,
                    _ => self.decided(ask, outcome).await,
                }
            }
        }
    }

    async fn decided(&self, ask: &Ask, outcome: Outcome<Answer>) -> Outcome<Answer> {
        self.notes.tell(Note::Decided(ask.key.clone(), outcome.clone())).await;
        outcome
    }

    /// When a question that is asked now will be settled without an answer, in the time that people read.
    pub(super) fn deadline_ms(&self, limit: Option<Duration>) -> Option<i64> {
        Some(self.setup.clock.now().checked_add(limit?).ok()?.as_millisecond())
    }
}

/// When a question that is asked now will be settled without an answer. A limit beyond all time is none.
pub(super) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}
