//! `mcp_call`: a call of an MCP tool without the model.

use crate::json::{Json, object, open_string};

open_string! {
    /// Why files were not passed to or from an MCP tool.
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
        /// The tool as the model knows it: `mcp__<server>__<tool>`.
        req tool: String,
        opt arguments: Json,
        opt expires_at: Json,
        /// Between a second and ten minutes; two minutes when absent.
        opt timeout_ms: u64,
        opt result_not_for_model: bool,
        opt check_permissions: bool,
        opt input_files: Vec<StagingFile>,
        opt output_files: Vec<StagingFile>,
    }

    /// A file that is passed to or from an MCP tool.
    pub struct StagingFile {
        req name: String,
        opt lane_path: String,
        /// The version that an output file must still have.
        opt if_match: String,
    }

    /// What an MCP tool answered.
    pub struct McpCallReply {
        /// Content blocks as MCP has them.
        def content: Vec<Json>,
        opt structured_content: Json as "structuredContent",
        opt meta: Json as "_meta",
        opt staging: Staging,
    }

    /// What became of the files of a call.
    pub struct Staging {
        req ok: bool,
        opt outputs: Vec<StagingResult>,
        opt inputs_used: Vec<StagingResult>,
        opt error_code: StagingError,
        opt detail: String,
        opt retryable: bool,
    }

    /// A file that was passed to or from an MCP tool.
    pub struct StagingResult {
        req lane_path: String,
        /// The version of the file.
        opt etag: String,
        /// The size of an output file.
        opt bytes: u64,
    }
}

impl McpCall {
    /// A call of the tool that the model knows as `mcp__<server>__<tool>`.
    pub fn new(tool: impl Into<String>, arguments: Json) -> Self {
        McpCall { tool: tool.into(), arguments: Some(arguments), ..McpCall::default() }
    }
}
