//! Waiting for the outcome of an open request, and reporting it once.

use std::time::Instant;

use tidings_protocol::ui::RequestOutcome;

use super::Setup;
use super::notes::Note;
use super::request_handler::RequestHandler;
use crate::permissions::Answer;
use crate::questions::Replied;
use crate::request_table::{AskKey, OutcomeFuture};

/// A kind of requests, with its registry.
pub(super) trait RequestKind {
    type Answer: Clone;

    /// Withdraws a request, unless it is settled.
    fn cancel(setup: &Setup, key: &AskKey);

    /// The outcome of a settled request.
    fn outcome(setup: &Setup, key: &AskKey) -> Option<RequestOutcome<Self::Answer>>;

    /// Settles the requests whose deadline has passed.
    fn expire(setup: &Setup, deadline: Instant);

    /// The note that reports an outcome.
    fn note(key: AskKey, outcome: RequestOutcome<Self::Answer>) -> Note;
}

/// Permission requests for tools.
pub(super) struct ToolPermissions;

/// Questions to the user.
pub(super) struct UserQuestions;

impl RequestHandler {
    /// Waits for the outcome of an open request, and reports it.
    pub(super) async fn wait_and_report<K: RequestKind>(
        &self,
        key: &AskKey,
        waiting: OutcomeFuture<K::Answer>,
        deadline: Option<Instant>,
    ) -> RequestOutcome<K::Answer> {
        let mut reporter = OutcomeReporter::<K> { handler: self, key, waiting, is_reported: false };
        let outcome = reporter.wait(deadline).await;
        self.notes.send(K::note(key.clone(), outcome.clone())).await;
        reporter.is_reported = true;
        outcome
    }
}

/// Reports the outcome even if the future is dropped: the agent withdraws a request by dropping its handler,
/// at any moment.
struct OutcomeReporter<'a, K: RequestKind> {
    handler: &'a RequestHandler,
    key: &'a AskKey,
    waiting: OutcomeFuture<K::Answer>,
    is_reported: bool,
}

impl<K: RequestKind> OutcomeReporter<'_, K> {
    async fn wait(&mut self, deadline: Option<Instant>) -> RequestOutcome<K::Answer> {
        if let Some(deadline) = deadline {
            tokio::select! {
                outcome = &mut self.waiting => return outcome,
                () = tokio::time::sleep_until(deadline.into()) => K::expire(&self.handler.setup, deadline),
            }
        }
        (&mut self.waiting).await
    }
}

impl<K: RequestKind> Drop for OutcomeReporter<'_, K> {
    fn drop(&mut self) {
        if self.is_reported {
            return;
        }
        let setup = &self.handler.setup;
        // The request may be settled already; then that outcome is reported.
        K::cancel(setup, self.key);
        let outcome = K::outcome(setup, self.key).unwrap_or(RequestOutcome::Cancelled);
        self.handler.notes.send_urgent(K::note(self.key.clone(), outcome));
    }
}

impl RequestKind for ToolPermissions {
    type Answer = Answer;

    fn cancel(setup: &Setup, key: &AskKey) {
        drop(setup.permissions.cancel(key));
    }

    fn outcome(setup: &Setup, key: &AskKey) -> Option<RequestOutcome<Answer>> {
        setup.permissions.outcome(key)
    }

    fn expire(setup: &Setup, deadline: Instant) {
        drop(setup.permissions.expire(deadline));
    }

    fn note(key: AskKey, outcome: RequestOutcome<Answer>) -> Note {
        Note::Settled(key, outcome)
    }
}

impl RequestKind for UserQuestions {
    type Answer = Replied;

    fn cancel(setup: &Setup, key: &AskKey) {
        drop(setup.questions.cancel(key));
    }

    fn outcome(setup: &Setup, key: &AskKey) -> Option<RequestOutcome<Replied>> {
        setup.questions.outcome(key)
    }

    fn expire(setup: &Setup, deadline: Instant) {
        drop(setup.questions.expire(deadline));
    }

    fn note(key: AskKey, outcome: RequestOutcome<Replied>) -> Note {
        Note::Answered(key, outcome)
    }
}
