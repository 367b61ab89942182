//! Events around tools.

use crate::control::McpServerRef;
use crate::json::{Json, object};
use crate::permissions::PermissionUpdate;

object! {
    /// A tool is about to run.
    pub struct PreToolUse {
        req tool_name: String,
        req tool_input: Json,
        opt tool_use_id: String,
        opt mcp_server: McpServerRef,
    }

    /// A tool has run.
    pub struct PostToolUse {
        req tool_name: String,
        def tool_input: Json,
        def tool_response: Json,
        opt tool_use_id: String,
        opt duration_ms: f64,
        opt mcp_server: McpServerRef,
    }

    /// A tool has failed.
    pub struct PostToolUseFailure {
        req tool_name: String,
        def tool_input: Json,
        opt tool_use_id: String,
        def error: String,
        /// True if it failed because of an interrupt.
        opt is_interrupt: bool,
        opt duration_ms: f64,
        opt mcp_server: McpServerRef,
    }

    /// All tools of a message have run.
    pub struct PostToolBatch {
        def tool_calls: Vec<ToolCallSummary>,
    }

    /// A finished tool call.
    pub struct ToolCallSummary {
        req tool_name: String,
        def tool_input: Json,
        opt tool_use_id: String,
        opt tool_response: Json,
    }

    /// The user is about to be asked for permission.
    ///
    /// The host may receive `can_use_tool` at the same time; the first answer decides.
    pub struct PermissionRequested {
        req tool_name: String,
        req tool_input: Json,
        def permission_suggestions: Vec<PermissionUpdate>,
        opt mcp_server: McpServerRef,
    }

    /// A tool call was denied.
    pub struct PermissionDenied {
        req tool_name: String,
        def tool_input: Json,
        opt tool_use_id: String,
        def reason: String,
        opt mcp_server: McpServerRef,
    }
}
