//! More about tool calls.

use serde_json::Value;

use super::events;

events! {
    /// The model is writing the input of a call; `ToolExecuting` follows when it is whole.
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

    /// A call is still running.
    pub struct ToolProgress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// For how long.
            elapsed_seconds: f64,
        }
        optional {
            /// The task that the call has become.
            task_id: String,
        }
    }

    /// What `ToolCompleted` has no room for; comes just before it.
    pub struct ToolDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Whether it failed.
            is_error: bool,
        }
        optional {
            /// Name of the tool.
            tool_name: String,
            /// The tool's own account: patches, output and errors of a command, lists, …
            tool_use_result: Value,
        }
    }
}
