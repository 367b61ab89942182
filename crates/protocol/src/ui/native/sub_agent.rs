//! Sub-agents and other work beside the main conversation.

use super::{events, words};
use crate::ui::UiMessage;

events! {
    /// Something that happened inside a sub-agent: its text, reasoning, tools and tokens.
    ///
    /// A turn in it is that of the main conversation during which it happened.
    pub struct Lane {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The sub-agent: the call that started it.
            agent_id: String,
            /// What happened.
            event: Box<UiMessage>,
        }
    }

    /// A sub-agent has begun.
    pub struct SubAgentStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The sub-agent: the call that started it.
            agent_id: String,
        }
        optional {
            /// The agent's own name for it.
            task_id: String,
            /// The sub-agent that started it, unless the main agent did.
            parent_agent_id: String,
            /// Which kind of agent it is, such as `Explore`.
            agent_type: String,
            /// What it is to do, in a line.
            description: String,
            /// What it was told.
            prompt: String,
        }
        defaulted {
            /// Whether the main conversation goes on meanwhile.
            background: bool,
            /// Whether it is only mentioned in a text, so that nothing more may be heard of it.
            estimated: bool,
        }
    }

    /// A sub-agent is at work.
    pub struct SubAgentProgressed {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The sub-agent: the call that started it.
            agent_id: String,
        }
        optional {
            /// The agent's own name for it.
            task_id: String,
            /// Which kind of agent it is.
            agent_type: String,
            /// What it is doing, in a line.
            description: String,
            /// The tool it called last.
            last_tool: String,
            /// Calls so far.
            tool_uses: u64,
            /// Tokens so far.
            tokens: u64,
            /// For how long.
            duration_ms: u64,
            /// What it has found out so far.
            summary: String,
        }
    }

    /// A sub-agent has ended.
    pub struct SubAgentEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The sub-agent: the call that started it.
            agent_id: String,
            /// How.
            outcome: SubAgentOutcome,
        }
        optional {
            /// The agent's own name for it.
            task_id: String,
            /// Calls it made.
            tool_uses: u64,
            /// Tokens it used.
            tokens: u64,
            /// How long it took.
            duration_ms: u64,
            /// What came of it.
            summary: String,
            /// What went wrong.
            error: String,
        }
    }

    /// Other work that goes on beside the conversation, such as a command in the background, began or changed.
    pub struct TaskChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The agent's own name for it.
            task_id: String,
            /// How it stands, in the agent's words: `running`, `completed`, `failed`, `stopped`, …
            status: String,
        }
        optional {
            /// The call that started it.
            tool_use_id: String,
            /// What kind of work it is, such as `local_bash`.
            kind: String,
            /// What it is, in a line.
            description: String,
            /// Where its output is being written.
            output_file: String,
            /// What came of it.
            summary: String,
        }
        defaulted {
            /// Whether the conversation goes on meanwhile.
            background: bool,
        }
    }
}

words! {
    /// How a sub-agent ended.
    pub enum SubAgentOutcome {
        /// It is done.
        Completed,
        /// It gave up.
        Failed,
        /// Somebody stopped it.
        Stopped,
    }
}
