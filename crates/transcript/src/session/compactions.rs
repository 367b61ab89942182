use tidings_protocol::entry::Dialect;

use super::{LaneId, NodeId};

/// A point at which a conversation was replaced by a summary of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// The lane.
    pub lane: LaneId,
    /// The entry that tells of it: where one epoch ends and the next begins.
    pub node: NodeId,
    /// Who wrote it: the CLI, or somebody after seed 001 or its rewrite.
    pub dialect: Dialect,
    /// What asked for it, where that is told.
    pub trigger: Option<Trigger>,
    /// Tokens of the conversation before.
    pub pre_tokens: Option<u64>,
    /// Tokens of the conversation after.
    pub post_tokens: Option<u64>,
    /// Messages of the conversation before, in seed 001.
    pub total_messages: Option<u64>,
    /// Messages that stayed as they were.
    pub preserved_messages: Option<u64>,
    /// Entries that stayed as they were; for the model they follow `anchor`.
    pub preserved: Vec<NodeId>,
    /// Behind which entry the model finds them.
    pub anchor: Option<NodeId>,
    /// The entry with the summary.
    pub summary: Option<NodeId>,
}

/// What asked for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// A person did.
    Manual,
    /// The conversation had become too long.
    Auto,
}

impl Trigger {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Manual => "manual",
            Trigger::Auto => "auto",
        }
    }
}
