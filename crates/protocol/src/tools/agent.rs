use super::macros::tagged;
use crate::json::{Json, object, open_string};

open_string! {
    /// Where an agent works, if not in the same folder.
    pub struct AgentIsolation {
        WORKTREE = "worktree",
        REMOTE = "remote",
    }
}

object! {
    /// Work for another agent.
    pub struct AgentInput {
        /// The work in a few words.
        opt description: String,
        /// The work.
        req prompt: String,
        /// Which agent.
        opt subagent_type: String,
        /// Which model.
        opt model: String,
        /// How hard it shall think.
        opt effort: String,
        /// Whether to go on without waiting for it.
        opt run_in_background: bool,
        /// What to call it, to talk with it later.
        opt name: String,
        /// The team that it belongs to.
        opt team_name: String,
        /// Its permission mode.
        opt mode: String,
        /// Where it works.
        opt isolation: AgentIsolation,
    }
}

tagged! {
    /// What starting an agent gave.
    #[expect(clippy::large_enum_variant, reason = "read on demand, one at a time")]
    pub enum AgentOutput by "status" {
        /// It did its work.
        Completed(AgentCompleted) = "completed",
        /// It works in the background.
        Launched(AgentLaunched) = "async_launched",
        /// It works on another machine.
        Remote(AgentRemote) = "remote_launched",
    }
}

object! {
    /// The work of an agent that is done.
    pub struct AgentCompleted {
        /// The agent.
        opt agent_id: String as "agentId",
        /// Which kind of agent.
        opt agent_type: String as "agentType",
        /// The work.
        opt prompt: String,
        /// What it said in the end.
        opt content: Vec<AgentText>,
        /// The model it used.
        opt resolved_model: String as "resolvedModel",
        /// The models it used, if several.
        opt models_used: Json as "modelsUsed",
        /// How long it took.
        opt total_duration_ms: u64 as "totalDurationMs",
        /// The tokens of its last request, in and out.
        opt total_tokens: u64 as "totalTokens",
        /// How many tools it called.
        opt total_tool_use_count: u64 as "totalToolUseCount",
        /// The usage of its last request.
        opt usage: Json,
        /// The tools it called.
        opt tools_used: Vec<String> as "toolsUsed",
        /// The same, counted.
        opt tool_stats: AgentToolStats as "toolStats",
        /// Whether a message can wake it again.
        opt can_continue_agent: bool as "canContinueAgent",
        /// The worktree it worked in, if something is left there.
        opt worktree_path: String as "worktreePath",
        /// The branch of that worktree.
        opt worktree_branch: String as "worktreeBranch",
    }

    /// A block of what an agent said.
    pub struct AgentText {
        /// `text`.
        opt kind: String as "type",
        /// What it said.
        opt text: String,
    }

    /// How often an agent used its tools.
    pub struct AgentToolStats {
        /// Files read.
        opt read_count: u64 as "readCount",
        /// Searches.
        opt search_count: u64 as "searchCount",
        /// Commands.
        opt bash_count: u64 as "bashCount",
        /// Files edited.
        opt edit_file_count: u64 as "editFileCount",
        /// Lines added.
        opt lines_added: u64 as "linesAdded",
        /// Lines removed.
        opt lines_removed: u64 as "linesRemoved",
        /// Any other tools.
        opt other_tool_count: u64 as "otherToolCount",
        /// Frames.
        opt frame_count: u64 as "frameCount",
    }

    /// An agent that works in the background.
    pub struct AgentLaunched {
        /// The agent, and its task.
        opt agent_id: String as "agentId",
        /// Whether it works in the background.
        opt is_async: bool as "isAsync",
        /// The work in a few words.
        opt description: String,
        /// The work.
        opt prompt: String,
        /// The model it uses.
        opt resolved_model: String as "resolvedModel",
        /// The models it uses, if several.
        opt models_used: Json as "modelsUsed",
        /// The file that it writes to.
        opt output_file: String as "outputFile",
        /// Whether the caller has a tool to read that file.
        opt can_read_output_file: bool as "canReadOutputFile",
        /// Whether a message can wake it again.
        opt can_continue_agent: bool as "canContinueAgent",
    }

    /// An agent that works on another machine.
    pub struct AgentRemote {
        /// Its task.
        opt task_id: String as "taskId",
        /// The page of its session.
        opt session_url: String as "sessionUrl",
        /// The work in a few words.
        opt description: String,
        /// The work.
        opt prompt: String,
        /// The file that its words are written to.
        opt output_file: String as "outputFile",
    }
}
