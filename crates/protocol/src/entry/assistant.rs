//! Entries of the model.

use super::{Chained, EntryMessage};
use crate::json::{Json, object, open_string};
use crate::messages::{AssistantError, RateLimitInfo};

/// A content block of a response; in the session specification, a response or a tool call.
pub type AssistantEntry = Chained<AssistantFields>;

object! {
    /// Fields of `assistant` entries besides the envelope.
    pub struct AssistantFields {
        opt message: EntryMessage,
        /// In the session specification: kind of action.
        opt subtype: AssistantSubtype,
        /// In the session specification: name of the called tool.
        opt tool_name: String as "toolName",
        /// In the session specification: input of the tool.
        opt tool_arguments: Json as "toolArguments",
        opt request_id: String as "requestId",
        /// Id of the `api-request` record of this response.
        opt request_ref: String as "requestRef",
        opt requested_model: String as "requestedModel",
        /// Index of the block in the response.
        opt api_block_index: u64 as "apiBlockIndex",
        opt prompt_cache_requested: String as "promptCacheRequested",
        /// `model`, or the client.
        opt made_by: String as "madeBy",
        opt effort: String,
        opt per_turn_effort: String as "perTurnEffort",
        opt thinking_duration_ms: f64 as "thinkingDurationMs",
        opt thinking_display: String as "thinkingDisplay",
        opt tool_input_stream_ms: f64 as "toolInputStreamMs",
        /// True if the client wrote this because the API failed.
        opt is_api_error_message: bool as "isApiErrorMessage",
        opt error: AssistantError,
        opt api_error: String as "apiError",
        opt api_error_status: u16 as "apiErrorStatus",
        opt api_error_type: String as "apiErrorType",
        opt api_error_params: Json as "apiErrorParams",
        opt error_details: Json as "errorDetails",
        opt failed_response_had_no_tool_call: bool as "failedResponseHadNoToolCall",
        opt resend_cannot_cure: bool as "resendCannotCure",
        /// State of the plan's limits when one was reached.
        opt quota_limits: RateLimitInfo as "quotaLimits",
        /// True if an interrupt cut it off; the text may end inside a word.
        opt is_aborted_mid_stream: bool as "isAbortedMidStream",
        /// Earlier entries that this one replaces.
        opt supersedes_uuids: Vec<String> as "supersedesUuids",
        opt refused_message_id: String as "refusedMessageId",
        opt refusing_model: String as "refusingModel",
        opt server_classifier_request: String as "serverClassifierRequest",
        opt attribution_agent: String as "attributionAgent",
        opt attribution_plugin: String as "attributionPlugin",
        opt attribution_skill: String as "attributionSkill",
        opt attribution_mcp_server: String as "attributionMcpServer",
        opt attribution_mcp_tool: String as "attributionMcpTool",
        /// Cost of the response; written by older versions only.
        opt cost_usd: f64 as "costUSD",
        opt duration_ms: f64 as "durationMs",
    }
}

open_string! {
    /// Kind of an assistant entry in the session specification.
    pub struct AssistantSubtype {
        RESPONSE = "response",
        TOOL_USE = "tool_use",
        THINKING = "thinking",
        COMMAND = "command",
        ERROR = "error",
    }
}
