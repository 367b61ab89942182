//! Answers of the user at the terminal, passed to the session.

use jiff::Timestamp;
use tidings_agent::AskKey;
use tidings_agent::permissions::{Answer, Response};
use tidings_agent::questions::{self, Origin};
use tidings_agent::session::AgentSession;
use tidings_protocol::ui::{AnsweredBy, PermissionScope};

use crate::terminal::ask::Reply;

/// Name of the answering client in the audit log.
const WHO: &str = "terminal";

/// Passes an answer to the session. A request that is no longer pending is not an error.
pub(super) fn answer(session: &AgentSession, id: &str, reply: Reply) -> Result<(), String> {
    let key = AskKey::new(session.handle(), id);
    if session.permissions().get(&key).is_some() {
        let answer = match reply {
            Reply::Allow(scope) => Answer::allow_for(scope),
            Reply::Deny(Some(reason)) => Answer::deny(reason),
            Reply::Deny(None) | Reply::Answers(_) | Reply::Declined => {
                Answer::deny("The user does not want this to be done")
            }
        };
        // Fails if the request was answered or withdrawn, which events report.
        drop(session.permissions().respond_to_request(&key, Response::person(WHO, answer), Timestamp::now()));
        return Ok(());
    }
    let Some(inquiry) = session.questions().get(&key) else { return Ok(()) };
    let by = AnsweredBy::Person(WHO.to_owned());
    let is_plan = matches!(inquiry.origin, Origin::Plan(_));
    let Some(answers) = (if is_plan { plan_answers(&reply) } else { answers(&reply) }) else {
        drop(session.questions().decline(&key, by));
        return Ok(());
    };
    let ids = inquiry.fields.iter().map(|field| field.question.id.clone());
    let replies = ids.zip(answers).map(|(id, answer)| questions::Reply::new(id, answer)).collect();
    match session.questions().respond(&key, replies, by) {
        Err(error @ questions::InteractionError::Invalid(_)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

pub fn answers(reply: &Reply) -> Option<Vec<Vec<String>>> {
    match reply {
        Reply::Answers(answers) => Some(answers.clone()),
        Reply::Allow(_) | Reply::Deny(_) | Reply::Declined => None,
    }
}

/// Converts a reply into the answers to a plan: a decision, and a comment.
pub fn plan_answers(reply: &Reply) -> Option<Vec<Vec<String>>> {
    let choice = |text: &str| vec![text.to_owned()];
    Some(match reply {
        Reply::Allow(PermissionScope::Once | PermissionScope::Always) => vec![choice(questions::APPROVE)],
        Reply::Allow(PermissionScope::Session) => vec![choice(questions::APPROVE_AND_ACCEPT_EDITS)],
        Reply::Deny(None) => vec![choice(questions::KEEP_PLANNING)],
        Reply::Deny(Some(reason)) => vec![choice(questions::KEEP_PLANNING), vec![reason.clone()]],
        Reply::Answers(_) | Reply::Declined => return None,
    })
}
