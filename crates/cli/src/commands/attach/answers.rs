//! Sends prompts and answers to the server while the session is shown.

use std::collections::HashMap;

use tidings_api::{Choice, Delivery, Input, PermissionAnswer, QuestionAnswer, QuestionReply};
use tidings_commands::output::printable;
use tidings_commands::run::answer::{answers, plan_answers};
use tidings_commands::terminal::Draft;
use tidings_commands::terminal::ask::Reply;
use tidings_protocol::ui::{QuestionKind, UiMessage};
use tidings_remote::RemoteSession;
use tokio::task::JoinSet;

use crate::commands::send::check_length;

/// Pending requests of a session, and the answers being sent.
pub(super) struct Answers {
    session: RemoteSession,
    /// Number of the session.
    handle: i64,
    /// Digest of each pending permission request.
    permissions: HashMap<String, Option<String>>,
    /// Kind of each pending question, and the ids of its parts.
    questions: HashMap<String, (QuestionKind, Vec<String>)>,
    sending: JoinSet<Result<(), anyhow::Error>>,
}

impl Answers {
    pub(super) fn new(session: RemoteSession, handle: i64) -> Self {
        Answers {
            session,
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
        let session = self.session.clone();
        let attachments = draft.images.into_iter().map(|(_, image)| image).collect();
        let input = Input { content: draft.text, delivery, attachments, ..Input::default() };
        self.sending.spawn(async move {
            check_length(&input)?;
            session.send(&input).await?;
            Ok(())
        });
    }

    /// Interrupts the turn in the background.
    pub(super) fn interrupt(&mut self) {
        let session = self.session.clone();
        self.sending.spawn(async move {
            session.interrupt().await?;
            Ok(())
        });
    }

    /// Sends an answer in the background.
    pub(super) fn send(&mut self, id: String, reply: Reply) {
        let session = self.session.clone();
        if let Some((kind, ids)) = self.questions.get(&id) {
            let replies = match kind {
                QuestionKind::Plan => plan_answers(&reply),
                _ => answers(&reply),
            };
            let cancel = replies.is_none();
            let replies = ids.iter().cloned().zip(replies.unwrap_or_default());
            let answers =
                replies.map(|(question_id, answer)| QuestionReply { question_id, answer }).collect();
            let answer = QuestionAnswer { answers, cancel, client_id: None };
            self.sending.spawn(async move {
                session.answer_question(&id, &answer).await?;
                Ok(())
            });
            return;
        }
        let mut answer = PermissionAnswer {
            digest: self.permissions.get(&id).cloned().flatten(),
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
            session.answer_permission(&id, &answer).await?;
            Ok(())
        });
    }

    /// Waits for an answer or prompt that failed, and returns its error; none once nothing is being sent.
    /// Requests that another client answered first are no errors: an event reports them.
    pub(super) async fn next_error(&mut self) -> Option<String> {
        loop {
            let sent = self.sending.join_next().await?;
            let Ok(Err(error)) = sent else { continue };
            return Some(printable(&error.to_string()));
        }
    }
}
