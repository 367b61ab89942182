//! Answers that go to the server while the session is watched.

use std::collections::HashMap;

use tidings_bridge::{Code, Error};
use tidings_protocol::api::{
    Accepted, AnswerResult, Choice, Delivery, Input, PermissionAnswer, PermissionScope, QuestionAnswer,
    QuestionReply,
};
use tidings_protocol::ui::{QuestionKind, UiMessage};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::commands::decide::segment;
use crate::commands::run::answer::{answers, plan_answers};
use crate::commands::send::check_length;
use crate::output::printable;
use crate::remote::Remote;
use crate::terminal::ask::{Reach, Reply};

/// Knows what is asked, and carries answers.
pub(super) struct Answers {
    remote: Remote,
    handle: i64,
    /// The digest of each permission that waits.
    permissions: HashMap<String, Option<String>>,
    /// The kind of each question that waits, and the ids of its parts.
    questions: HashMap<String, (QuestionKind, Vec<String>)>,
    sending: JoinSet<Result<(), anyhow::Error>>,
}

impl Answers {
    pub(super) fn new(remote: Remote, handle: i64) -> Self {
        Answers {
            remote,
            handle,
            permissions: HashMap::new(),
            questions: HashMap::new(),
            sending: JoinSet::new(),
        }
    }

    /// The number of the session.
    pub(super) fn handle(&self) -> i64 {
        self.handle
    }

    /// Remembers what an answer will have to quote.
    pub(super) fn hear(&mut self, event: &UiMessage) {
        match event {
            UiMessage::PermissionDetails(details) => {
                self.permissions.insert(details.tool_use_id.clone(), details.digest.clone());
            }
            UiMessage::QuestionDetails(details) => {
                let entry = self.questions.entry(details.tool_use_id.clone());
                entry.or_insert((details.kind, Vec::new())).0 = details.kind;
            }
            UiMessage::UserInteractionRequired { tool_use_id, request, .. } => {
                let entry = self.questions.entry(tool_use_id.clone());
                entry.or_insert((QuestionKind::Questions, Vec::new())).1 =
                    request.questions.iter().map(|question| question.id.clone()).collect();
            }
            UiMessage::PermissionResolved(resolved) => {
                self.permissions.remove(&resolved.tool_use_id);
            }
            UiMessage::InteractionResolved(resolved) => {
                self.questions.remove(&resolved.tool_use_id);
            }
            _ => {}
        }
    }

    /// Sends a prompt, and goes on meanwhile. It waits for the end of the turn that is under way.
    pub(super) fn say(&mut self, content: String) {
        let (remote, handle) = (self.remote.clone(), self.handle);
        let client_id = Some(Uuid::new_v4().to_string());
        let input = Input { content, delivery: Delivery::Queue, client_id, ..Input::default() };
        self.sending.spawn(async move {
            check_length(&input)?;
            remote.post::<Accepted>(&format!("/v1/sessions/{handle}/input"), &input).await.map(drop)
        });
    }

    /// Sends an answer, and goes on meanwhile.
    pub(super) fn send(&mut self, id: String, reply: Reply) {
        let (remote, handle) = (self.remote.clone(), self.handle);
        if let Some((kind, ids)) = self.questions.get(&id) {
            let replies = match kind {
                QuestionKind::Plan => plan_answers(&reply),
                _ => answers(&reply),
            };
            let cancel = replies.is_none();
            let replies = ids.iter().cloned().zip(replies.unwrap_or_default());
            let answers =
                replies.map(|(question_id, answer)| QuestionReply { question_id, answer }).collect();
            let answer = QuestionAnswer { answers, cancel, client_id: Some(Uuid::new_v4().to_string()) };
            self.sending.spawn(async move {
                let path = format!("/v1/sessions/{handle}/questions/{}", segment(&id));
                remote.post::<AnswerResult>(&path, &answer).await.map(drop)
            });
            return;
        }
        let mut answer = PermissionAnswer {
            decision: Choice::Deny,
            scope: PermissionScope::Once,
            updated_input: None,
            message: None,
            interrupt: false,
            digest: self.permissions.get(&id).cloned().flatten(),
            client_id: Some(Uuid::new_v4().to_string()),
        };
        match reply {
            Reply::Allow(reach) => {
                answer.decision = Choice::Allow;
                answer.scope = match reach {
                    Reach::Once => PermissionScope::Once,
                    Reach::Session => PermissionScope::Session,
                    Reach::Always => PermissionScope::Always,
                };
            }
            Reply::Deny(reason) => answer.message = reason,
            Reply::Answers(_) | Reply::Declined => {}
        }
        self.sending.spawn(async move {
            let path = format!("/v1/sessions/{handle}/permissions/{}", segment(&id));
            remote.post::<AnswerResult>(&path, &answer).await.map(drop)
        });
    }

    /// Why an answer was not taken; none while nothing is being sent. Somebody who was faster is told by an event.
    pub(super) async fn refused(&mut self) -> Option<String> {
        loop {
            let sent = self.sending.join_next().await?;
            let Ok(Err(error)) = sent else { continue };
            let code = error.downcast_ref::<Error>().map(Error::code);
            if code != Some(Code::AlreadyAnswered) {
                return Some(printable(&error.to_string()));
            }
        }
    }
}
