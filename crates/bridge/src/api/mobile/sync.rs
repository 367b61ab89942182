//! `session_sync` in parts: each part announces the missed messages that follow it.

use tidings_protocol::mobile::{MessageSummary, MobileBody, MobileMessage, SessionSyncMessage};
use tidings_sessions::Sessions;

use super::position::MessagePosition;
use crate::limits::{MOBILE_SUMMARY_CHARS, MOBILE_SYNC_PART_MAX};

/// The missed messages of a phone that resumes.
pub(super) struct Sync {
    pub(super) sessions: Sessions,
    /// The announcement without messages.
    pub(super) announcement: SessionSyncMessage,
    /// The error that some messages are not kept; sent before the first message.
    pub(super) dropped: Option<MobileMessage>,
    /// The pending requests; sent after the first messages.
    pub(super) pending: Option<MobileMessage>,
    /// The number of messages to skip because they are not kept for a phone.
    pub(super) skip: usize,
    /// The number of messages that are not sent yet.
    pub(super) remaining: usize,
    /// The number of messages in the next part.
    pub(super) part_len: usize,
    /// The number of parts so far.
    pub(super) parts: u64,
    /// The position of the phone before the next part.
    pub(super) before: MessagePosition,
}

impl Sync {
    /// The announcement of a part and its messages; the first part also has `dropped` and `pending`.
    /// `position` is the position after `messages`.
    pub(super) fn part(
        &mut self,
        position: MessagePosition,
        messages: Vec<MobileMessage>,
    ) -> Vec<MobileMessage> {
        self.parts += 1;
        self.part_len = (self.part_len * 2).min(MOBILE_SYNC_PART_MAX);
        let announcement = SessionSyncMessage {
            message_history: messages.iter().map(summary).collect(),
            part: Some(self.parts),
            remaining: Some(self.remaining as u64),
            ..self.announcement.clone()
        };
        let config = self.sessions.config();
        let now_ms = config.clock.now().as_millisecond();
        let mut part =
            vec![MobileMessage::new(announcement).stamped(self.before.id_with(&config.ids.next()), now_ms)];
        part.extend(
            self.dropped
                .take()
                .map(|message| message.stamped(self.before.id_with(&config.ids.next()), now_ms)),
        );
        part.extend(messages);
        part.extend(
            self.pending.take().map(|message| message.stamped(position.id_with(&config.ids.next()), now_ms)),
        );
        self.before = position;
        part
    }
}

fn summary(message: &MobileMessage) -> MessageSummary {
    let text = match &message.body {
        MobileBody::ClaudeResponse(response) => response.content.clone(),
        MobileBody::PermissionRequest(request) => format!("{}: {}", request.tool, request.action),
        MobileBody::PermissionResponse(response) => {
            (if response.approved { "approved" } else { "not approved" }).to_owned()
        }
        MobileBody::ProgressUpdate(progress) => progress.current_step.clone().unwrap_or_default(),
        MobileBody::SubAgentProgress(progress) => progress.current_task.clone(),
        MobileBody::Error(error) => error.message.clone(),
        MobileBody::SessionStatus(status) => status.error.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let line = text.lines().next().unwrap_or_default();
    MessageSummary {
        id: message.id.clone().unwrap_or_default(),
        timestamp: message.timestamp.unwrap_or_default(),
        kind: message.kind().to_owned(),
        summary: line.chars().take(MOBILE_SUMMARY_CHARS).collect(),
    }
}
