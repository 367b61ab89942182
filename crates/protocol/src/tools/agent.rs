//! The tool that starts agents.

use super::macros::tagged;
use crate::json::{Json, object, open_string};

open_string! {
    /// Isolation of an agent's working folder.
    pub struct AgentIsolation {
        WORKTREE = "worktree",
        REMOTE = "remote",
    }
}

object! {
    /// Input of the tool that starts an agent.
    pub struct AgentInput {
        /// Short description of the task.
        opt description: String,
        /// Prompt of the agent.
        req prompt: String,
        /// Type of the agent.
        opt subagent_type: String,
        /// Model of the agent.
        opt model: String,
        /// Effort level of the agent.
        opt effort: String,
        /// True to continue without waiting for it.
        opt run_in_background: bool,
        /// Name of the agent, for messages to it later.
        opt name: String,
        /// Team of the agent.
        opt team_name: String,
        /// Permission mode of the agent.
        opt mode: String,
        /// Isolation of its working folder.
        opt isolation: AgentIsolation,
    }
}

tagged! {
    /// Output of the tool that starts an agent.
    #[expect(clippy::large_enum_variant, reason = "read on demand, one at a time")]
    pub enum AgentOutput by "status" {
        /// It finished.
        Completed(AgentCompleted) = "completed",
        /// It runs in the background.
        Launched(AgentLaunched) = "async_launched",
        /// It runs on another machine.
        Remote(AgentRemote) = "remote_launched",
    }
}

object! {
    /// Result of a finished agent.
    pub struct AgentCompleted {
        /// Id of the agent.
        opt agent_id: String as "agentId",
        /// Type of the agent.
        opt agent_type: String as "agentType",
        /// Prompt of the agent.
        opt prompt: String,
        /// Final answer.
        opt content: Vec<AgentText>,
        /// Model that it used.
        opt resolved_model: String as "resolvedModel",
        /// Models that it used, if several.
        opt models_used: Json as "modelsUsed",
        /// Duration in milliseconds.
        opt total_duration_ms: u64 as "totalDurationMs",
        /// Tokens of its last request, input and output.
        opt total_tokens: u64 as "totalTokens",
        /// Number of tool calls.
        opt total_tool_use_count: u64 as "totalToolUseCount",
        /// Usage of its last request.
        opt usage: Json,
        /// Tools that it called.
        opt tools_used: Vec<String> as "toolsUsed",
        /// Number of tool calls by kind.
        opt tool_stats: AgentToolStats as "toolStats",
        /// True if a message can resume it.
        opt can_continue_agent: bool as "canContinueAgent",
        /// Worktree that it worked in, if it left changes there.
        opt worktree_path: String as "worktreePath",
        /// Branch of that worktree.
        opt worktree_branch: String as "worktreeBranch",
    }

    /// A text block of an agent's answer.
    pub struct AgentText {
        /// `text`.
        opt kind: String as "type",
        /// Text of the block.
        opt text: String,
        /// Sources that the text cites.
        opt citations: Json,
    }

    /// Number of tool calls of an agent, by kind.
    pub struct AgentToolStats {
        /// Number of files read.
        opt read_count: u64 as "readCount",
        /// Number of searches.
        opt search_count: u64 as "searchCount",
        /// Number of commands.
        opt bash_count: u64 as "bashCount",
        /// Number of files edited.
        opt edit_file_count: u64 as "editFileCount",
        /// Number of lines added.
        opt lines_added: u64 as "linesAdded",
        /// Number of lines removed.
        opt lines_removed: u64 as "linesRemoved",
        /// Number of calls of other tools.
        opt other_tool_count: u64 as "otherToolCount",
        /// Number of frames.
        opt frame_count: u64 as "frameCount",
    }

    /// An agent that runs in the background.
    pub struct AgentLaunched {
        /// Id of the agent, and of its task.
        opt agent_id: String as "agentId",
        /// True if it runs in the background.
        opt is_async: bool as "isAsync",
        /// Short description of the task.
        opt description: String,
        /// Prompt of the agent.
        opt prompt: String,
        /// Model that it uses.
        opt resolved_model: String as "resolvedModel",
        /// Models that it uses, if several.
        opt models_used: Json as "modelsUsed",
        /// File that receives its output.
        opt output_file: String as "outputFile",
        /// True if the caller has a tool to read that file.
        opt can_read_output_file: bool as "canReadOutputFile",
        /// True if a message can resume it.
        opt can_continue_agent: bool as "canContinueAgent",
    }

    /// An agent that runs on another machine.
    pub struct AgentRemote {
        /// Id of its task.
        opt task_id: String as "taskId",
        /// URL of its session.
        opt session_url: String as "sessionUrl",
        /// Short description of the task.
        opt description: String,
        /// Prompt of the agent.
        opt prompt: String,
        /// File that receives its output.
        opt output_file: String as "outputFile",
    }
}
