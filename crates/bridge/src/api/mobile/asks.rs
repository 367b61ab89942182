//! Answers of a phone to permission requests and questions.

use tidings_api::{Choice, PermissionAnswer, PermissionScope, QuestionAnswer, QuestionReply, Scope};
use tidings_protocol::mobile::PermissionResponse;
use tidings_sessions::Caller;

use super::outgoing::Refusal;
use crate::api::Api;
use crate::api::visibility::Visibility;

/// Passes an answer to its session. All subscribers, this phone included, learn of it by the event that it
/// causes.
pub(super) async fn answer(
    api: &Api,
    caller: &Caller,
    id: Option<String>,
    response: PermissionResponse,
    answers: Vec<QuestionReply>,
) -> Result<(), Refusal> {
    caller.require(Scope::Decide)?;
    let asked = &response.request_id;
    let mut visibility = Visibility::new(caller.clone());
    for permission in api.sessions.permissions(None).await? {
        if permission.tool_use_id != *asked
            || !visibility.sees_session(&api.sessions, &permission.session).await
        {
            continue;
        }
        let decision = if response.approved { Choice::Allow } else { Choice::Deny };
        let scope = if response.remember { PermissionScope::Session } else { PermissionScope::Once };
        let answer = PermissionAnswer { scope, client_id: id, ..PermissionAnswer::new(decision) };
        api.sessions.answer_permission(caller, &permission.session, asked, answer).await?;
        return Ok(());
    }
    for question in api.sessions.questions(None).await? {
        if question.tool_use_id != *asked || !visibility.sees_session(&api.sessions, &question.session).await
        {
            continue;
        }
        if response.approved && answers.is_empty() {
            let message = "A question needs `answers`: [{\"question_id\":…,\"answer\":[…]}]";
            return Err(Refusal::new("VALIDATION_FAILED", message));
        }
        let answer = QuestionAnswer { answers, cancel: !response.approved, client_id: id };
        api.sessions.answer_question(caller, &question.session, asked, answer).await?;
        return Ok(());
    }
    let message = format!("No request `{asked}` is pending; it may be answered already");
    Err(Refusal::new("ALREADY_ANSWERED", message))
}
