use super::{LaneId, NodeId};

/// A way through a lane from a root to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// The lane.
    pub lane: LaneId,
    /// Its last entry; [`Session::path`](super::Session::path) gives all of them.
    pub leaf: NodeId,
    /// The last entry that it shares with a branch before it; `None` for the first of a root.
    pub fork: Option<NodeId>,
    /// The first entry of its own.
    pub start: NodeId,
    /// Whether the conversation goes on here.
    pub state: BranchState,
}

/// Whether a conversation goes on in a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BranchState {
    /// The next prompt comes here.
    Active,
    /// Somebody went another way.
    Abandoned,
}

impl BranchState {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            BranchState::Active => "active",
            BranchState::Abandoned => "abandoned",
        }
    }
}

/// What a path over compactions is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// For people: everything from the first prompt on. Goes on before a compaction, and where the parent of an entry
    /// is missing, with the line before it.
    Unified,
    /// What the model is given: begins at the last compaction, and has what that kept behind its summary.
    Model,
}
