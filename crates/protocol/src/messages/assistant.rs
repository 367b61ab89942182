use super::api::{ApiMessage, ModelUsage};
use crate::json::{Json, object, open_string};

object! {
    /// A response of the model: one completed content block per frame, several frames share `message.id`.
    pub struct AssistantMessage {
        req message: ApiMessage,
        /// Tool call whose sub-agent wrote this.
        opt parent_tool_use_id: String,
        /// Part of the `rusty_claw` wire format only; the CLI does not send it.
        opt duration_ms: u64,
        /// Reason why the client wrote this message instead of a model.
        opt error: AssistantError,
        opt uuid: String,
        opt session_id: String,
        opt request_id: String,
        opt user_message_uuid: String,
        opt user_message_uuids: Vec<String>,
        opt resume_reason: String,
        opt resumed_from_incomplete_thinking: bool,
        /// Earlier messages that this one replaces: remove them from the screen.
        opt supersedes: Vec<String>,
        /// True if an interrupt cut it off; the text may end inside a word.
        opt aborted: bool,
        opt agent_id: String,
        opt subagent_type: String,
        opt task_description: String,
        opt timestamp: String,
        opt context_usage: ContextUsageReport,
        opt usage_report: UsageReport,
    }

    /// A `/context` report as data.
    pub struct ContextUsageReport {
        opt model: String,
        opt total_tokens: u64,
        opt raw_max_tokens: u64,
        opt percentage: f64,
        opt over_limit: Json,
        def categories: Vec<ContextReportCategory>,
        def mcp_tools: Vec<Json>,
        def memory_files: Vec<Json>,
        def agents: Vec<Json>,
        opt skills: Vec<Json>,
    }

    /// One row of a `/context` report.
    pub struct ContextReportCategory {
        req name: String,
        def tokens: u64,
        opt kind: String,
    }

    /// A `/usage` report as data.
    pub struct UsageReport {
        opt session: SessionUsage,
        opt rate_limits: Json,
    }

    /// Usage of a session so far.
    pub struct SessionUsage {
        opt total_cost_usd: f64,
        opt total_api_duration_ms: f64,
        opt total_duration_ms: f64,
        opt total_lines_added: u64,
        opt total_lines_removed: u64,
        opt model_usage: std::collections::BTreeMap<String, ModelUsage>,
    }
}

open_string! {
    /// Kind of API error, on frames that the client wrote in the model's place.
    pub struct AssistantError {
        UNKNOWN = "unknown",
        AUTHENTICATION_FAILED = "authentication_failed",
        OAUTH_ORG_NOT_ALLOWED = "oauth_org_not_allowed",
        ACCOUNT_ON_HOLD = "account_on_hold",
        VERIFICATION_REQUIRED = "verification_required",
        BILLING_ERROR = "billing_error",
        RATE_LIMIT = "rate_limit",
        OVERLOADED = "overloaded",
        INVALID_REQUEST = "invalid_request",
        MODEL_NOT_FOUND = "model_not_found",
        SERVER_ERROR = "server_error",
        MAX_OUTPUT_TOKENS = "max_output_tokens",
        CLOUD_CREDENTIAL_ERROR = "cloud_credential_error",
    }
}
