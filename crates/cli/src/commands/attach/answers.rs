//! Sends prompts and answers to the server while the session is shown.

use std::collections::HashMap;

use tidings_api::{
    Accepted, AnswerResult, Choice, Code, CommandRequest, Delivery, Input, PermissionAnswer, QuestionAnswer,
    QuestionReply,
};
use tidings_commands::output::printable;
use tidings_commands::run::answer::{answers, plan_answers};
use tidings_commands::terminal::Draft;
use tidings_commands::terminal::ask::Reply;
use tidings_protocol::ui::{QuestionKind, UiMessage};
use tidings_sessions::Error;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::commands::decide::segment;
use crate::commands::remote::Remote;
use crate::commands::send::check_length;

/// Pending requests of a session, and the answers being sent.
pub(super) struct Answers {
    remote: Remote,
    handle: i64,
    /// Digest of each pending permission request.
    permissions: HashMap<String, Option<String>>,
    /// Kind of each pending question, and the ids of its parts.
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

    /// Number of the session.
    pub(super) fn handle(&self) -> i64 {
        self.handle
    }

    /// Tracks pending requests, whose digests and ids an answer must quote.
    pub(super) fn observe(&mut self, event: &UiMessage) {
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

    /// Sends a prompt in the background.
    pub(super) fn prompt(&mut self, draft: Draft, delivery: Delivery) {
        let (remote, handle) = (self.remote.clone(), self.handle);
        let client_id = Some(Uuid::new_v4().to_string());
        let attachments = draft.images.into_iter().map(|(_, image)| image).collect();
        let input = Input { content: draft.text, delivery, client_id, attachments, ..Input::default() };
        self.sending.spawn(async move {
            check_length(&input)?;
            remote.post::<Accepted>(&format!("/v1/sessions/{handle}/input"), &input).await.map(drop)
        });
    }

    /// Interrupts the turn in the background.
    pub(super) fn interrupt(&mut self) {
        let (remote, handle) = (self.remote.clone(), self.handle);
        let request =
            CommandRequest { client_id: Some(Uuid::new_v4().to_string()), ..CommandRequest::default() };
        self.sending.spawn(async move {
            remote.post::<Accepted>(&format!("/v1/sessions/{handle}/interrupt"), &request).await.map(drop)
        });
    }

    /// Sends an answer in the background.
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
            digest: self.permissions.get(&id).cloned().flatten(),
            client_id: Some(Uuid::new_v4().to_string()),
            ..PermissionAnswer::new(Choice::Deny)
        };
        match reply {
            Reply::Allow(scope) => {
                answer.decision = Choice::Allow;
                answer.scope = scope;
            }
            Reply::Deny(reason) => answer.message = reason,
            Reply::Answers(_) | Reply::Declined => {}
        }
        self.sending.spawn(async move {
            let path = format!("/v1/sessions/{handle}/permissions/{}", segment(&id));
            remote.post::<AnswerResult>(&path, &answer).await.map(drop)
        });
    }

    /// Waits for an answer or prompt that failed, and returns its error; none once nothing is being sent.
    /// Requests that another client answered first are skipped, since an event reports them.
    pub(super) async fn next_error(&mut self) -> Option<String> {
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
