//! Turns of the agent: their start and their result.

use serde_json::Value;

use super::events;
use crate::frame::{INTERRUPTED, is_interruption};
use crate::ui::{StopReason, TurnId};

events! {
    /// The agent has started a turn.
    pub struct TurnStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
        }
        optional {
            /// Trigger of a turn that the agent began by itself, such as `task-notification`; absent for a
            /// user's prompt.
            origin: String,
        }
        defaulted {
            /// The user's turns that it answers: none when it began by itself, several when prompts were
            /// merged.
            answers: Vec<TurnId>,
        }
    }

    /// Result of a turn; sent just before its `Complete`.
    pub struct TurnResult {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
            /// Result subtype given by the agent: `success`, `error_max_turns`, …
            subtype: String,
            /// True if the turn failed; possible with `success` too.
            is_error: bool,
        }
        optional {
            /// Duration in milliseconds.
            duration_ms: u64,
            /// Time spent in the API in milliseconds, over the whole session.
            duration_api_ms: u64,
            /// Number of rounds of the model and its tools.
            num_turns: u64,
            /// Cost of the session so far, as counted by the agent: `/clear` resets it.
            cost_usd: f64,
            /// Cost of this turn, sub-agents included.
            turn_cost_usd: f64,
            /// List price of the response that an interrupt cut off, if the agent leaves it out of `cost_usd`
            /// and `turn_cost_usd`; some versions of Claude Code include it.
            interrupted_cost_usd: f64,
            /// Tokens of this turn, sub-agents excluded.
            usage: TokenUsage,
            /// Tokens and cost of the session by model.
            model_usage: Value,
            /// The answer as JSON, when a schema was requested.
            structured_output: Value,
            /// Reason why the model stopped.
            stop_reason: StopReason,
            /// Reason why the turn ended, as given by the agent.
            terminal_reason: String,
            /// Error messages.
            error: String,
            /// Trigger of a turn that the agent began by itself; absent for a user's prompt.
            origin: String,
        }
        defaulted {
            /// The user's turns that it answered.
            answers: Vec<TurnId>,
            /// Denied tool calls.
            permission_denials: Vec<DeniedTool>,
        }
    }

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
