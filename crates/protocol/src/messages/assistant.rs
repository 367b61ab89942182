//! Responses of the model, and the reports that the CLI sends as data.

use super::api::{ApiMessage, ModelUsage};
use crate::control::ExtraUsage;
use crate::json::{object, open_string};

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
        /// Present if the tokens exceed the window.
        opt over_limit: Box<ContextOverLimit>,
        def categories: Vec<ContextReportCategory>,
        def mcp_tools: Vec<ContextReportTool>,
        def memory_files: Vec<ContextReportFile>,
        def agents: Vec<ContextReportAgent>,
        /// Absent if no skill takes tokens.
        opt skills: Vec<ContextReportSkill>,
    }

    /// Excess of a context over its window.
    pub struct ContextOverLimit {
        opt tokens_over: u64,
        /// Origin of the window: `hard_limit`, the model's own, or `compaction_window`.
        opt kind: String,
    }

    /// One row of a `/context` report.
    pub struct ContextReportCategory {
        req name: String,
        def tokens: u64,
        opt kind: String,
    }

    /// A tool of an MCP server in a `/context` report.
    pub struct ContextReportTool {
        /// Name on the wire: `mcp__server__tool`.
        req name: String,
        opt server_name: String,
        opt tokens: u64,
    }

    /// A memory file in a `/context` report.
    pub struct ContextReportFile {
        req path: String,
        /// Label of the file's origin, such as `Project` or `User`.
        opt kind: String as "type",
        opt tokens: u64,
    }

    /// A sub-agent in a `/context` report.
    pub struct ContextReportAgent {
        req agent_type: String,
        opt source: String,
        opt tokens: u64,
    }

    /// A skill in a `/context` report.
    pub struct ContextReportSkill {
        req name: String,
        opt source: String,
        opt plugin_name: String,
        opt tokens: u64,
    }

    /// A `/usage` report as data.
    pub struct UsageReport {
        opt session: SessionUsage,
        /// Absent if the CLI could not fetch them.
        opt rate_limits: Box<PlanUsage>,
    }

    /// Usage of a plan, as its server reports it.
    pub struct PlanUsage {
        /// The limits in the server's order. Absent if the server sent none.
        opt limits: Vec<PlanLimit>,
        opt extra_usage: ExtraUsage,
    }

    /// A limit of a plan and its used share.
    pub struct PlanLimit {
        /// Kind of limit, such as `session` or `weekly_all`.
        req kind: String,
        opt group: String,
        /// Used share, from 0 to 100.
        opt percent: f64,
        opt resets_at: String,
        /// Absent for a limit of everything.
        opt scope: PlanLimitScope,
        /// The server's judgement, such as `normal`, `warning` or `critical`.
        opt severity: String,
        /// True for the limit to show where there is room for one.
        opt is_active: bool,
    }

    /// Model or surface that a limit is for.
    pub struct PlanLimitScope {
        opt model: PlanLimitLabel,
        opt surface: PlanLimitLabel,
    }

    /// Label of a model or a surface.
    pub struct PlanLimitLabel {
        opt display_name: String,
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

impl AssistantMessage {
    /// A message of the main conversation, in the form of the CLI.
    pub fn new(message: ApiMessage) -> Self {
        let mut assistant = AssistantMessage { message, ..AssistantMessage::default() };
        assistant.extra.keep_null("parent_tool_use_id");
        assistant
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
