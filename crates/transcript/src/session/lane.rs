//! Lanes: the main conversation and those of sub-agents.

use super::{FileIndex, NodeId};

/// A conversation: the main one, or that of a sub-agent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Lane {
    /// Its file; `None` for a main lane without a file.
    pub file: Option<FileIndex>,
    /// Its entries in the order of the file.
    pub nodes: Vec<NodeId>,
    /// Metadata of the sub-agent; `None` for the main lane.
    pub agent: Option<Agent>,
}

/// A sub-agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agent {
    /// Its id, if it has one.
    pub id: Option<Box<str>>,
    /// Its type (`general-purpose`, …); `unknown` if it is not recorded.
    pub name: Box<str>,
    /// Short description of its task.
    pub description: Option<Box<str>>,
    /// The entry with the call that started it.
    pub started_by: Option<NodeId>,
    /// The id of that call.
    pub tool_use_id: Option<Box<str>>,
    /// Method by which `started_by` was found.
    pub joined_by: Option<Join>,
    /// 1 for an agent started by the main conversation, 2 for one started by such an agent, …
    pub depth: u32,
    /// True if it finished: according to its sidecar, by a result of its call, or by a final answer.
    pub is_complete: bool,
}

/// Method by which a sub-agent's lane was linked to its call, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Join {
    /// The sidecar names the call.
    Sidecar,
    /// The call's result names the agent.
    Result,
    /// The call and the lane have the same prompt.
    Prompt,
    /// The first entry names the calling entry as its parent.
    Parent,
    /// The nearest earlier call without another lane.
    Nearest,
}

impl Join {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Join::Sidecar => "sidecar",
            Join::Result => "result",
            Join::Prompt => "prompt",
            Join::Parent => "parent",
            Join::Nearest => "nearest",
        }
    }
}
