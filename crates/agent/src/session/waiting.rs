//! Waiting for how an open question ends, and telling it once.

use std::time::Instant;

use super::Setup;
use super::asking::Asking;
use super::notes::Note;
use crate::desk::{AskKey, Waiting};
use crate::pending::Outcome;
use crate::permissions::Answer;
use crate::questions::Replied;

/// Questions of one kind, in their registry.
pub(super) trait Kind {
    type Answer: Clone;

    /// Takes a question back, unless it is settled.
    fn cancel(setup: &Setup, key: &AskKey);

    /// How a question was settled.
    fn outcome(setup: &Setup, key: &AskKey) -> Option<Outcome<Self::Answer>>;

    /// Settles what nobody has answered in time.
    fn expire(setup: &Setup, deadline: Instant);

    /// How the end of a question is told.
    fn note(key: AskKey, outcome: Outcome<Self::Answer>) -> Note;
}

/// Whether a tool may run.
pub(super) struct Tools;

/// What only the person knows.
pub(super) struct Person;

impl Asking {
    /// Waits for the end of a question that is open, and tells it.
    pub(super) async fn end_of<K: Kind>(
        &self,
        key: &AskKey,
        waiting: Waiting<K::Answer>,
        deadline: Option<Instant>,
    ) -> Outcome<K::Answer> {
        let mut duty = Duty::<K> { asking: self, key, waiting, is_told: false };
        let outcome = duty.wait(deadline).await;
        self.notes.tell(K::note(key.clone(), outcome.clone())).await;
        duty.is_told = true;
        outcome
    }
}

/// The agent takes a question back by dropping the one who answers it, at any moment. The end is told all the same.
struct Duty<'a, K: Kind> {
    asking: &'a Asking,
    key: &'a AskKey,
    waiting: Waiting<K::Answer>,
    is_told: bool,
}

impl<K: Kind> Duty<'_, K> {
    async fn wait(&mut self, deadline: Option<Instant>) -> Outcome<K::Answer> {
        if let Some(deadline) = deadline {
            tokio::select! {
                outcome = &mut self.waiting => return outcome,
                () = tokio::time::sleep_until(deadline.into()) => K::expire(&self.asking.setup, deadline),
            }
        }
        (&mut self.waiting).await
    }
}

impl<K: Kind> Drop for Duty<'_, K> {
    fn drop(&mut self) {
        if self.is_told {
            return;
        }
        let setup = &self.asking.setup;
        // Somebody may have been faster; then their answer is what is told.
        K::cancel(setup, self.key);
        let outcome = K::outcome(setup, self.key).unwrap_or(Outcome::Cancelled);
        self.asking.notes.tell_now(K::note(self.key.clone(), outcome));
    }
}

impl Kind for Tools {
    type Answer = Answer;

    fn cancel(setup: &Setup, key: &AskKey) {
        drop(setup.permissions.cancel(key));
    }

    fn outcome(setup: &Setup, key: &AskKey) -> Option<Outcome<Answer>> {
        setup.permissions.outcome(key)
    }

    fn expire(setup: &Setup, deadline: Instant) {
        drop(setup.permissions.expire(deadline));
    }

    fn note(key: AskKey, outcome: Outcome<Answer>) -> Note {
        Note::Settled(key, outcome)
    }
}

impl Kind for Person {
    type Answer = Replied;

    fn cancel(setup: &Setup, key: &AskKey) {
        drop(setup.questions.cancel(key));
    }

    fn outcome(setup: &Setup, key: &AskKey) -> Option<Outcome<Replied>> {
        setup.questions.outcome(key)
    }

    fn expire(setup: &Setup, deadline: Instant) {
        drop(setup.questions.expire(deadline));
    }

    fn note(key: AskKey, outcome: Outcome<Replied>) -> Note {
        Note::Answered(key, outcome)
    }
}
