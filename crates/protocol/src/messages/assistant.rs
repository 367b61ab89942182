use super::api::{ApiMessage, ModelUsage};
use crate::json::{Json, object, open_string};

object! {
    /// A response of the model: one completed content block per frame, several frames share `message.id`.
    pub struct AssistantMessage {
        req message: ApiMessage,
        /// The call whose sub-agent said this.
        opt parent_tool_use_id: String,
        /// Only seed 000 knows it; the CLI does not send it.
        opt duration_ms: u64,
        /// Why the client itself wrote this message instead of a model.
        opt error: AssistantError,
        opt uuid: String,
        opt session_id: String,
        opt request_id: String,
        opt user_message_uuid: String,
        opt user_message_uuids: Vec<String>,
        opt resume_reason: String,
        opt resumed_from_incomplete_thinking: bool,
        /// Earlier messages that this one replaces: take them off the screen.
        opt supersedes: Vec<String>,
        /// Cut short by an interrupt; the text may end in mid-word.
        opt aborted: bool,
        opt agent_id: String,
        opt subagent_type: String,
        opt task_description: String,
        opt timestamp: String,
        opt context_usage: ContextUsageReport,
        opt usage_report: UsageReport,
    }

    /// The structured twin of a `/context` report.
    pub struct ContextUsageReport {
        opt model: String,
        opt total_tokens: u64,
        opt raw_max_tokens: u64,
        opt percentage: f64,
        opt over_limit: Json,
        def categories: Vec<ContextCategory>,
        def mcp_tools: Vec<Json>,
        def memory_files: Vec<Json>,
        def agents: Vec<Json>,
        opt skills: Vec<Json>,
    }

    /// One row of a `/context` report.
    pub struct ContextCategory {
        req name: String,
        def tokens: u64,
        opt kind: String,
    }

    /// The structured twin of a `/usage` report.
    pub struct UsageReport {
        opt session: SessionUsage,
        opt rate_limits: Json,
    }

    /// What a session has used so far.
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
    /// What went wrong with the API, on frames that the client wrote in the model's place.
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
