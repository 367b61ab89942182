//! Requests that wait for a person, and their answers.

pub(super) mod abandoned;
pub(super) mod answers;
pub(super) mod asks;
mod dialog_answers;
pub(super) mod facts;
pub(super) mod policy;
pub(super) mod stored_answer;

use std::collections::HashMap;

use tidings_api::{
    AnswerResult, BatchAnswer, BatchAnswered, Code, PendingPermission, PendingQuestion, PermissionAnswer,
    QuestionAnswer,
};
use tidings_journal::SessionName;

use self::asks::{PendingRequest, pending_request};
use super::{Sessions, view};
use crate::{Caller, Error};

impl Sessions {
    /// Pending permission requests of one session, or of all.
    pub async fn permissions(&self, name: Option<&str>) -> Result<Vec<PendingPermission>, Error> {
        let shown = self.waiting(name).await?;
        Ok(shown
            .into_iter()
            .filter_map(|shown| match shown {
                PendingRequest::Permission(permission) => Some(permission),
                PendingRequest::Question(_) => None,
            })
            .collect())
    }

    /// Pending questions of one session, or of all.
    pub async fn questions(&self, name: Option<&str>) -> Result<Vec<PendingQuestion>, Error> {
        let shown = self.waiting(name).await?;
        Ok(shown
            .into_iter()
            .filter_map(|shown| match shown {
                PendingRequest::Question(question) => Some(question),
                PendingRequest::Permission(_) => None,
            })
            .collect())
    }

    /// Answers a permission request. The first answer counts.
    pub async fn answer_permission(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: PermissionAnswer,
    ) -> Result<AnswerResult, Error> {
        let path = format!("permissions/{tool_use_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        let entry = self.active_for(caller, name).await?.entry;
        let (caller, id) = (caller.clone(), tool_use_id.to_owned());
        // A client that leaves meanwhile must not leave an answer behind that was given and not stored.
        let answered = tokio::spawn(async move { entry.answer_permission(&caller, &id, answer).await });
        answered.await.map_err(|_| lost())?
    }

    /// Answers the permission requests of a batch.
    pub async fn answer_batch(
        &self,
        caller: &Caller,
        name: &str,
        batch_id: &str,
        answer: BatchAnswer,
    ) -> Result<BatchAnswered, Error> {
        let path = format!("permission-batches/{batch_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        let entry = self.active_for(caller, name).await?.entry;
        let (caller, id) = (caller.clone(), batch_id.to_owned());
        let answered = tokio::spawn(async move { entry.answer_batch(&caller, &id, answer).await });
        answered.await.map_err(|_| lost())?
    }

    /// Answers questions. The first answer counts.
    pub async fn answer_question(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: QuestionAnswer,
    ) -> Result<AnswerResult, Error> {
        let path = format!("questions/{tool_use_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        self.active_for(caller, name).await?.entry.answer_question(caller, tool_use_id, answer).await
    }

    async fn waiting(&self, name: Option<&str>) -> Result<Vec<PendingRequest>, Error> {
        let journal = self.0.broadcast.journal();
        let row = match name {
            Some(name) => Some(self.row(name).await?),
            None => None,
        };
        let asks = journal.asks(row.as_ref().map(|row| &row.key)).await?;
        let mut handles = HashMap::new();
        let mut found = Vec::new();
        for ask in &asks {
            if !handles.contains_key(&ask.session) {
                let row = journal.session(&SessionName::Key(ask.session.clone())).await?;
                handles.insert(ask.session.clone(), view::number(row.handle));
            }
            let handle = handles.get(&ask.session).copied().unwrap_or_default();
            found.extend(pending_request(ask, handle));
        }
        Ok(found)
    }
}

fn lost() -> Error {
    Error::new(Code::Internal, "Failed to answer the request", "list the pending requests")
}
