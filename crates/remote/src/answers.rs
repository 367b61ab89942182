//! Answers to pending requests. The first answer wins, and the others learn of it.

use tidings_api::{
    AnswerResult, BatchAnswer, BatchAnswered, Choice, Code, PendingPermission, PermissionAnswer,
    QuestionAnswer,
};

use crate::error::{Error, ErrorKind};
use crate::route::segment;
use crate::server::RemoteServer;
use crate::sessions::RemoteSession;

/// Result of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// This answer was the first.
    First(AnswerResult),
    /// Another answer was first, and this one has no effect. The result is that of the other.
    Before(AnswerResult),
}

impl Answered {
    /// The result that counts.
    pub fn result(&self) -> &AnswerResult {
        match self {
            Answered::First(result) | Answered::Before(result) => result,
        }
    }

    fn new(result: Result<AnswerResult, Error>) -> Result<Self, Error> {
        match result {
            Ok(result) => Ok(Answered::First(result)),
            Err(error) => match error.winner() {
                Some(winner) if error.kind() == ErrorKind::Refused(Code::AlreadyAnswered) => {
                    Ok(Answered::Before(winner.clone()))
                }
                _ => Err(error),
            },
        }
    }
}

impl RemoteServer {
    /// Allows a tool call, this one only, as it was shown: if it has changed since, the error is
    /// [`Code::DigestMismatch`].
    pub async fn approve(&self, request: &PendingPermission) -> Result<Answered, Error> {
        self.answer(request, PermissionAnswer::new(Choice::Allow)).await
    }

    /// Denies a tool call, with a reason for the agent.
    pub async fn deny(&self, request: &PendingPermission, reason: Option<&str>) -> Result<Answered, Error> {
        let message = reason.map(str::to_owned);
        self.answer(request, PermissionAnswer { message, ..PermissionAnswer::new(Choice::Deny) }).await
    }

    /// Answers a permission request as it was shown.
    pub async fn answer(
        &self,
        request: &PendingPermission,
        answer: PermissionAnswer,
    ) -> Result<Answered, Error> {
        let digest = answer.digest.or_else(|| request.details.digest.clone());
        let session = self.session(&request.session);
        session.answer_permission(&request.tool_use_id, &PermissionAnswer { digest, ..answer }).await
    }
}

impl RemoteSession {
    /// Answers a permission request.
    pub async fn answer_permission(
        &self,
        tool_use_id: &str,
        answer: &PermissionAnswer,
    ) -> Result<Answered, Error> {
        let path = self.path(&format!("/permissions/{}", segment(tool_use_id)));
        Answered::new(self.server().command(&path, answer).await)
    }

    /// Answers several permission requests at once. One that was answered before has the result of that
    /// answer.
    pub async fn answer_batch(&self, batch_id: &str, answer: &BatchAnswer) -> Result<BatchAnswered, Error> {
        let path = self.path(&format!("/permission-batches/{}", segment(batch_id)));
        self.server().command(&path, answer).await
    }

    /// Answers questions, or declines to.
    pub async fn answer_question(
        &self,
        tool_use_id: &str,
        answer: &QuestionAnswer,
    ) -> Result<Answered, Error> {
        let path = self.path(&format!("/questions/{}", segment(tool_use_id)));
        Answered::new(self.server().command(&path, answer).await)
    }
}
