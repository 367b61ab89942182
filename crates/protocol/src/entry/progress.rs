//! Progress of a tool, as older versions wrote it.

use super::Chained;
use crate::json::{Json, object};

/// Progress of a tool. Older files have these as part of the chain; the CLI no longer writes them.
pub type ProgressEntry = Chained<ProgressFields>;

object! {
    /// Fields of `progress` entries besides the envelope.
    pub struct ProgressFields {
        opt data: ProgressData,
        opt tool_use_id: String as "toolUseID",
        opt parent_tool_use_id: String as "parentToolUseID",
    }

    /// Progress data; each kind has some of the fields.
    pub struct ProgressData {
        /// `bash_progress`, `agent_progress`, `hook_progress`, `mcp_progress`, `query_update`, …
        opt kind: String as "type",

        /// Of a shell command.
        opt output: String,
        opt full_output: String as "fullOutput",
        opt elapsed_time_seconds: f64 as "elapsedTimeSeconds",
        opt total_lines: u64 as "totalLines",
        opt total_bytes: u64 as "totalBytes",
        opt timeout_ms: f64 as "timeoutMs",
        opt task_id: String as "taskId",

        /// Of a sub-agent. Its message repeats one that has an entry in the sub-agent's own file.
        opt agent_id: String as "agentId",
        opt prompt: String,
        opt message: Json,
        opt normalized_messages: Json as "normalizedMessages",

        /// Of a web search.
        opt query: String,
        opt result_count: u64 as "resultCount",

        /// Of a hook.
        opt hook_event: String as "hookEvent",
        opt hook_name: String as "hookName",
        opt command: String,

        /// Of an MCP tool.
        opt server_name: String as "serverName",
        opt tool_name: String as "toolName",
        opt status: String,
        opt elapsed_time_ms: f64 as "elapsedTimeMs",

        /// Of a wait for a task.
        opt task_description: String as "taskDescription",
        opt task_type: String as "taskType",
    }
}
