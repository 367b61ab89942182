use super::{LaneId, NodeId};

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// The lane.
    pub lane: LaneId,
    /// The call's id; in seed 001 the uuid of its entry.
    pub id: Box<str>,
    /// The tool.
    pub name: Box<str>,
    /// The entry with the call; `None` for a result without one.
    pub call: Option<NodeId>,
    /// The entry with the result; `None` while there is none.
    pub result: Option<NodeId>,
    /// Whether the result says that the tool failed.
    pub is_error: bool,
}
