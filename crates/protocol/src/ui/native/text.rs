//! What the model writes besides its answer, and what it takes back.

use super::{events, words};
use crate::ui::TurnId;

events! {
    /// The text since the last `TextEnded` or tool is whole: what follows begins anew.
    pub struct TextEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
        }
    }

    /// A piece of the model's reasoning, as it is being generated.
    pub struct Thinking {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// The piece.
            text: String,
        }
    }

    /// Something that was shown does not count any more.
    pub struct Retracted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// Why.
            reason: RetractReason,
        }
        defaulted {
            /// The text that is taken back: the last that this turn has shown.
            text: String,
            /// The reasoning that is taken back: the last that this turn has shown.
            thinking: String,
            /// The calls that are taken back.
            tool_use_ids: Vec<String>,
        }
    }

    /// What the person may want to say next.
    pub struct Suggestion {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The words.
            text: String,
        }
    }
}

words! {
    /// Why something was taken back.
    pub enum RetractReason {
        /// The stream broke off and the answer begins anew.
        Retry,
        /// The model refused and another one answers.
        Refusal,
        /// A later message takes the place of this one.
        Superseded,
        /// The whole message differs from what was streamed.
        Corrected,
    }
}
