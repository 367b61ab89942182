//! Turns of the agent: why they began and how they ended.

use serde_json::Value;

use super::events;
use crate::frame::is_interruption;
use crate::ui::{StopReason, TurnId};

events! {
    /// The agent has begun a turn.
    pub struct TurnStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
        }
        optional {
            /// What made the agent begin by itself, such as `task-notification`; absent when a person's prompt did.
            origin: String,
        }
        defaulted {
            /// The person's turns that it answers: none when it began by itself, several when prompts were merged.
            answers: Vec<TurnId>,
        }
    }

    /// How a turn went; comes just before its `Complete`.
    pub struct TurnResult {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
            /// How it ended, in the agent's words: `success`, `error_max_turns`, …
            subtype: String,
            /// Whether it failed; may be so with `success`.
            is_error: bool,
        }
        optional {
            /// How long it took.
            duration_ms: u64,
            /// How long the API took, over the whole session.
            duration_api_ms: u64,
            /// Rounds of the model and its tools.
            num_turns: u64,
            /// What the session has cost by now, as the agent counts: it begins anew with `/clear`.
            cost_usd: f64,
            /// What this turn has cost, with its sub-agents.
            turn_cost_usd: f64,
            /// List price of the response that an interrupt cut off. The agent leaves it out of `cost_usd` and `turn_cost_usd`.
            interrupted_cost_usd: f64,
            /// Tokens of this turn, without those of sub-agents.
            usage: TokenUsage,
            /// Tokens and cost of the session by model.
            model_usage: Value,
            /// The answer as data, when a schema was asked for.
            structured_output: Value,
            /// Why the model stopped.
            stop_reason: StopReason,
            /// Why the turn ended, in the agent's words.
            terminal_reason: String,
            /// What went wrong.
            error: String,
            /// What made the agent begin by itself; absent when a person's prompt did.
            origin: String,
        }
        defaulted {
            /// The person's turns that it answered.
            answers: Vec<TurnId>,
            /// Calls that were not allowed.
            permission_denials: Vec<DeniedTool>,
        }
    }

    /// A call that was not allowed.
    pub struct DeniedTool {
        required {
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
        }
        optional {
            /// What it was called with.
            input: Value,
        }
    }

    /// Tokens; cached input is counted apart.
    pub struct TokenUsage {
        required {
            /// Tokens of the prompt that no cache had.
            input_tokens: u64,
            /// Tokens generated.
            output_tokens: u64,
        }
        defaulted {
            /// Tokens of the prompt that were put into the cache.
            cache_creation_input_tokens: u64,
            /// Tokens of the prompt that came out of the cache.
            cache_read_input_tokens: u64,
        }
    }
}

impl TurnResult {
    /// Whether somebody interrupted the turn, which is an error to the agent and none to people.
    pub fn is_interrupted(&self) -> bool {
        self.terminal_reason.as_deref().is_some_and(is_interruption)
    }
}
