//! Details of tool calls.

use serde_json::Value;

use super::events;

events! {
    /// The model is writing the input of a tool call; `ToolExecuting` follows when it is complete.
    pub struct ToolPreparing {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
        }
    }

    /// A tool call is still running.
    pub struct ToolProgress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// Elapsed time in seconds.
            elapsed_seconds: f64,
        }
        optional {
            /// Task that the call has become.
            task_id: String,
        }
    }

    /// Details of a finished call; sent just before `ToolCompleted`.
    pub struct ToolDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// True if the call failed.
            is_error: bool,
        }
        optional {
            /// Name of the tool.
            tool_name: String,
            /// Structured output of the tool: patches, output and errors of a command, lists, …
            tool_use_result: Value,
        }
    }
}
