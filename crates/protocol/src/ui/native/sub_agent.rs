//! Sub-agents and other background tasks.

use super::{closed_enums, events};
use crate::ui::UiMessage;

events! {
    /// An event inside a sub-agent: its text, reasoning, tools and tokens.
    ///
    /// Its turn is the turn of the main conversation during which it happened.
    pub struct Lane {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
            /// The event.
            event: Box<UiMessage>,
        }
    }

    /// A sub-agent has started.
    pub struct SubAgentStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Parent sub-agent, unless the main agent started it.
            parent_agent_id: String,
            /// Type of the sub-agent, such as `Explore`.
            agent_type: String,
            /// One-line description of its work.
            description: String,
            /// Its prompt.
            prompt: String,
        }
        defaulted {
            /// True if the main conversation continues meanwhile.
            background: bool,
            /// True if it was only mentioned in a text, so further events about it are not guaranteed.
            estimated: bool,
        }
    }

    /// A sub-agent has made progress.
    pub struct SubAgentProgressed {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Type of the sub-agent.
            agent_type: String,
            /// One-line description of its current work.
            description: String,
            /// Name of the last tool it called.
            last_tool: String,
            /// Number of tool calls so far.
            tool_uses: u64,
            /// Number of tokens so far.
            tokens: u64,
            /// Elapsed time in milliseconds.
            duration_ms: u64,
            /// Interim summary.
            summary: String,
        }
    }

    /// A sub-agent has ended.
    pub struct SubAgentEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
            /// Outcome.
            outcome: SubAgentOutcome,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Number of tool calls.
            tool_uses: u64,
            /// Number of tokens used.
            tokens: u64,
            /// Duration in milliseconds.
            duration_ms: u64,
            /// Result as text.
            summary: String,
            /// Error message.
            error: String,
        }
    }

    /// Another background task, such as a shell command, has started or changed.
    pub struct TaskChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Task id, assigned by the agent.
            task_id: String,
            /// Status given by the agent: `running`, `completed`, `failed`, `stopped`, …
            status: String,
        }
        optional {
            /// Call that started it.
            tool_use_id: String,
            /// Type of the task, such as `local_bash`.
            kind: String,
            /// One-line description.
            description: String,
            /// File that receives its output.
            output_file: String,
            /// Result as text.
            summary: String,
        }
        defaulted {
            /// True if the conversation continues meanwhile.
            background: bool,
        }
    }
}

closed_enums! {
    /// Outcome of a sub-agent.
    pub enum SubAgentOutcome {
        /// It finished.
        Completed,
        /// It failed.
        Failed,
        /// It was stopped.
        Stopped,
    }
}
