//! What was said to the agent.

use super::events;
use crate::ui::TurnId;

events! {
    /// A prompt was taken and waits for its turn. A [`UserPrompt`] with the same `uuid` follows when the agent gets it,
    /// or a [`PromptDropped`].
    pub struct PromptQueued {
        required {
            /// The session.
            session_id: i64,
            /// Names the prompt.
            uuid: String,
            /// What was said.
            text: String,
            /// The turn that it will be, unless another prompt gets ahead of it: then it is a later one. Its id stays.
            turn_id: TurnId,
        }
        optional {
            /// Who said it.
            by: String,
        }
        defaulted {
            /// What came with it, in a word each.
            attachments: Vec<String>,
        }
    }

    /// Somebody, or something, said this to the agent.
    pub struct UserPrompt {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// What was said.
            text: String,
        }
        optional {
            /// Names the message, for cancelling it or rewinding to it.
            uuid: String,
            /// The turn of the person that it is.
            turn_id: TurnId,
            /// Who spoke, when it was no person: `task-notification`, `auto-continuation`, `synthetic`, …
            origin: String,
        }
        defaulted {
            /// What came with the text, one word each: `image`, `document`, …
            attachments: Vec<String>,
        }
    }

    /// A prompt that was sent will not be answered.
    pub struct PromptDropped {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Names the message.
            uuid: String,
        }
        optional {
            /// The turn of the person that it is.
            turn_id: TurnId,
            /// Why, in the agent's words: `cancelled`, `discarded` or `refused`.
            reason: String,
        }
    }
}
