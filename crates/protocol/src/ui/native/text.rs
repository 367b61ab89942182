//! Text, reasoning, suggestions and retractions.

use super::{closed_enums, events};
use crate::ui::TurnId;

events! {
    /// The text since the last `TextEnded` or tool is complete: later text starts a new block.
    pub struct TextEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
        }
    }

    /// A delta of the model's reasoning, as it is generated.
    pub struct Thinking {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// The delta.
            text: String,
        }
    }

    /// Something already shown was retracted.
    pub struct Retracted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// Reason.
            reason: RetractReason,
        }
        defaulted {
            /// Retracted text: the last that this turn has shown.
            text: String,
            /// Retracted reasoning: the last that this turn has shown.
            thinking: String,
            /// Retracted tool calls.
            tool_use_ids: Vec<String>,
        }
    }

    /// Suggestion for the user's next prompt.
    pub struct Suggestion {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Text of the suggestion.
            text: String,
        }
    }
}

closed_enums! {
    /// Reason of a retraction.
    pub enum RetractReason {
        /// The stream was cut off and the answer starts again.
        Retry,
        /// The model refused and another model answers.
        Refusal,
        /// A later message replaces this one.
        Superseded,
        /// The complete message differs from the streamed one.
        Corrected,
    }
}
