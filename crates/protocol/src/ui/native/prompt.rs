//! Prompts to the agent.

use super::events;
use crate::ui::TurnId;

events! {
    /// A prompt was accepted and waits for its turn. A [`UserPrompt`] or a [`PromptDropped`] with the same
    /// `uuid` follows.
    pub struct PromptQueued {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Id of the prompt.
            uuid: String,
            /// Text of the prompt.
            text: String,
            /// Expected turn. If another prompt gets ahead of it, the turn is a later one; the prompt's id
            /// stays.
            turn_id: TurnId,
        }
        optional {
            /// Author of the prompt.
            by: String,
        }
        defaulted {
            /// Kinds of its attachments.
            attachments: Vec<String>,
        }
    }

    /// A prompt reached the agent.
    pub struct UserPrompt {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Text of the prompt.
            text: String,
        }
        optional {
            /// Id of the message, for cancelling it or rewinding to it.
            uuid: String,
            /// The user's turn.
            turn_id: TurnId,
            /// Origin, when the user did not write it: `task-notification`, `auto-continuation`, `synthetic`,
            /// …
            origin: String,
        }
        defaulted {
            /// Kinds of its attachments: `image`, `document`, …
            attachments: Vec<String>,
        }
    }

    /// A prompt that was sent will not be answered.
    pub struct PromptDropped {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Id of the message.
            uuid: String,
        }
        optional {
            /// The user's turn.
            turn_id: TurnId,
            /// Reason given by the agent: `cancelled`, `discarded` or `refused`.
            reason: String,
        }
    }
}
