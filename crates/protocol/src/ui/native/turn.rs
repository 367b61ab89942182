//! Results of turns.

use serde_json::Value;

use super::structures;
use crate::frame::{INTERRUPTED, is_interruption};
use crate::ui::TurnResult;

structures! {
    /// A denied tool call.
    pub struct DeniedTool {
        required {
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
        }
        optional {
            /// Input of the call.
            input: Value,
        }
    }

    /// Token counts; cached input is counted separately.
    pub struct TokenUsage {
        required {
            /// Prompt tokens that were not cached.
            input_tokens: u64,
            /// Tokens generated.
            output_tokens: u64,
        }
        defaulted {
            /// Prompt tokens written to the cache.
            cache_creation_input_tokens: u64,
            /// Prompt tokens read from the cache.
            cache_read_input_tokens: u64,
        }
    }
}

impl TurnResult {
    /// Error of a turn that the user interrupted.
    pub const INTERRUPTED: &str = INTERRUPTED;

    /// True if the user interrupted the turn, which the agent reports as an error.
    pub fn is_interrupted(&self) -> bool {
        self.terminal_reason.as_deref().is_some_and(is_interruption)
    }
}
