//! The ids that a message has as a part of a session.

use super::{Message, ResultError, ResultMessage};

/// Ids of a message: of its session, and its own.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageIds<'a> {
    /// The session.
    pub session_id: &'a mut Option<String>,
    /// Id of the message; the same as on disk.
    pub uuid: &'a mut Option<String>,
}

impl Message {
    /// The ids of the message, to set them; `None` for a message that has none, or has them only in its data.
    pub fn ids_mut(&mut self) -> Option<MessageIds<'_>> {
        Some(match self {
            Message::System(message) => return message.ids_mut(),
            Message::Result(message) => return message.ids_mut(),
            Message::Assistant(body) => of(&mut body.session_id, &mut body.uuid),
            Message::User(body) => of(&mut body.session_id, &mut body.uuid),
            Message::StreamEvent(body) => of(&mut body.session_id, &mut body.uuid),
            Message::ToolProgress(body) => of(&mut body.session_id, &mut body.uuid),
            Message::ToolUseSummary(body) => of(&mut body.session_id, &mut body.uuid),
            Message::AuthStatus(body) => of(&mut body.session_id, &mut body.uuid),
            Message::PromptSuggestion(body) => of(&mut body.session_id, &mut body.uuid),
            Message::ConversationReset(body) => of(&mut body.session_id, &mut body.uuid),
            Message::ActiveGoal(body) => of(&mut body.session_id, &mut body.uuid),
            Message::ControlRequest { .. }
            | Message::ControlResponse { .. }
            | Message::RateLimitEvent(_)
            | Message::McpMessage(_)
            | Message::ControlCancelRequest(_)
            | Message::KeepAlive(_)
            | Message::UpdateEnvironmentVariables(_)
            | Message::Unknown(_) => return None,
        })
    }
}

impl ResultMessage {
    fn ids_mut(&mut self) -> Option<MessageIds<'_>> {
        match self {
            ResultMessage::Success { session_id, details, .. } => Some(of(session_id, &mut details.uuid)),
            ResultMessage::Failed(error) => {
                let ResultError { session_id, details, .. } = &mut **error;
                Some(of(session_id, &mut details.uuid))
            }
            ResultMessage::Error { .. } | ResultMessage::InputRequired => None,
        }
    }
}

/// The ids in these fields.
pub(super) fn of<'a>(session_id: &'a mut Option<String>, uuid: &'a mut Option<String>) -> MessageIds<'a> {
    MessageIds { session_id, uuid }
}
