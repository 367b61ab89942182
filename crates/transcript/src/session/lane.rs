use super::{FileIndex, NodeId};

/// A line of conversation: the main one, or that of a sub-agent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Lane {
    /// The file that it stands in; `None` for a main line without a file.
    pub file: Option<FileIndex>,
    /// Its entries in the order of the file.
    pub nodes: Vec<NodeId>,
    /// What is known of the sub-agent; `None` for the main line.
    pub agent: Option<Agent>,
}

/// A sub-agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agent {
    /// Its id, where it has one.
    pub id: Option<Box<str>>,
    /// What sort it is (`general-purpose`, …); `unknown` where nothing tells.
    pub name: Box<str>,
    /// What it was to do, in few words.
    pub description: Option<Box<str>>,
    /// The entry with the call that started it.
    pub started_by: Option<NodeId>,
    /// The id of that call.
    pub tool_use_id: Option<Box<str>>,
    /// How `started_by` was found.
    pub joined_by: Option<Join>,
    /// 1 for one that the main line started, 2 for one that such an agent started, …
    pub depth: u32,
    /// Whether it came to its end: the sidecar says so, its call has a result, or it ends with an answer.
    pub is_complete: bool,
}

/// How a sub-agent's line was joined to the call that started it, the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Join {
    /// The file beside the sub-agent's names the call.
    Sidecar,
    /// The call's result names the agent.
    Result,
    /// Both begin with the same prompt.
    Prompt,
    /// The first entry names the calling entry as its parent.
    Parent,
    /// The nearest call before it that nothing else belongs to.
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
