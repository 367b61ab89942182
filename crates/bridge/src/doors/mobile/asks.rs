//! Answers of a phone: yes or no, and to questions.

use tidings_protocol::api::{Choice, PermissionAnswer, PermissionScope, QuestionAnswer, QuestionReply};
use tidings_protocol::mobile::PermissionResponse;

use super::outgoing::Refusal;
use crate::caller::{Caller, Scope};
use crate::doors::Doors;
use crate::doors::reach;

/// Passes an answer on. Everybody is told of it by the event that it makes, the phone that gave it too.
pub(super) async fn answer(
    doors: &Doors,
    caller: &Caller,
    id: Option<String>,
    response: PermissionResponse,
    answers: Vec<QuestionReply>,
) -> Result<(), Refusal> {
    caller.require(Scope::Decide)?;
    let asked = &response.request_id;
    let permissions = doors.sessions.permissions(None).await?;
    if let Some(permission) = permissions.iter().find(|permission| permission.tool_use_id == *asked) {
        reach::admit(&doors.sessions, caller, &permission.session).await?;
        let answer = PermissionAnswer {
            decision: if response.approved { Choice::Allow } else { Choice::Deny },
            scope: if response.remember { PermissionScope::Session } else { PermissionScope::Once },
            updated_input: None,
            message: None,
            interrupt: false,
            digest: None,
            client_id: id,
        };
        doors.sessions.answer_permission(caller, &permission.session, asked, answer).await?;
        return Ok(());
    }
    let questions = doors.sessions.questions(None).await?;
    let Some(question) = questions.iter().find(|question| question.tool_use_id == *asked) else {
        let message = format!("Nothing waits for an answer by the name `{asked}`: it may have been given");
        return Err(Refusal::new("ALREADY_ANSWERED", message));
    };
    reach::admit(&doors.sessions, caller, &question.session).await?;
    if response.approved && answers.is_empty() {
        let message = "A question needs `answers`: [{\"question_id\":…,\"answer\":[…]}]";
        return Err(Refusal::new("VALIDATION_FAILED", message));
    }
    let answer = QuestionAnswer { answers, cancel: !response.approved, client_id: id };
    doors.sessions.answer_question(caller, &question.session, asked, answer).await?;
    Ok(())
}
