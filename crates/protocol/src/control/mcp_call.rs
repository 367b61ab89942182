//! `mcp_call`: a call of an MCP tool without the model.

use crate::json::{Json, object, open_string};

open_string! {
    /// Reason why files were not passed to or from an MCP tool.
    pub struct StagingError {
        TOOL_ERROR = "tool_error",
        EXPIRED = "expired",
        INPUT_MISSING = "input_missing",
        OUTPUT_TOO_LARGE = "output_too_large",
        OUTPUT_CONFLICT = "output_conflict",
        TIMEOUT = "timeout",
    }
}

object! {
    /// Calls a tool of an MCP server without the model.
    pub struct McpCall {
        /// Name of the tool for the model: `mcp__<server>__<tool>`.
        req tool: String,
        opt arguments: Json,
        opt expires_at: Json,
        /// Timeout in milliseconds, between one second and ten minutes; two minutes by default.
        opt timeout_ms: u64,
        opt result_not_for_model: bool,
        opt check_permissions: bool,
        opt input_files: Vec<StagingFile>,
        opt output_files: Vec<StagingFile>,
    }

    /// A file passed to or from an MCP tool.
    pub struct StagingFile {
        req name: String,
        opt lane_path: String,
        /// Version that an output file must still have.
        opt if_match: String,
    }

    /// Result of an MCP tool.
    pub struct McpCallReply {
        /// Content blocks in the format of MCP.
        def content: Vec<Json>,
        opt structured_content: Json as "structuredContent",
        opt meta: Json as "_meta",
        opt staging: Staging,
    }

    /// Outcome of the file transfers of a call.
    pub struct Staging {
        req ok: bool,
        opt outputs: Vec<StagingResult>,
        opt inputs_used: Vec<StagingResult>,
        opt error_code: StagingError,
        opt detail: String,
        opt retryable: bool,
    }

    /// Outcome of one file transfer.
    pub struct StagingResult {
        req lane_path: String,
        /// Version of the file.
        opt etag: String,
        /// Size of an output file.
        opt bytes: u64,
    }
}

impl McpCall {
    /// Call of the tool named `mcp__<server>__<tool>`.
    pub fn new(tool: impl Into<String>, arguments: Json) -> Self {
        McpCall { tool: tool.into(), arguments: Some(arguments), ..McpCall::default() }
    }
}
