//! Compactions: points at which a conversation was replaced by a summary.

use std::collections::HashMap;

use tidings_protocol::entry::Dialect;

use super::entry_facts::CompactionStep;
use super::load::{CompactionNote, LoadedEntries};
use super::units::Units;
use super::{EntryRole, LaneId, NodeId};

/// A point at which a conversation was replaced by a summary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// The lane.
    pub lane: LaneId,
    /// The entry of the compaction: the boundary between two epochs.
    pub node: NodeId,
    /// The dialect of the entry.
    pub dialect: Dialect,
    /// The trigger, if it is recorded.
    pub trigger: Option<Trigger>,
    /// Tokens of the conversation before.
    pub pre_tokens: Option<u64>,
    /// Tokens of the conversation after.
    pub post_tokens: Option<u64>,
    /// Number of messages before, in the flat dialect.
    pub total_messages: Option<u64>,
    /// Number of preserved messages.
    pub preserved_messages: Option<u64>,
    /// Preserved entries; for the model they follow `anchor`.
    pub preserved: Vec<NodeId>,
    /// The entry after which the model sees them.
    pub anchor: Option<NodeId>,
    /// The entry with the summary.
    pub summary: Option<NodeId>,
}

/// The trigger of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// The user requested it.
    Manual,
    /// The conversation was too long.
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

/// All compactions, in the order of entries.
pub(super) fn find(loaded: &LoadedEntries, units: &Units) -> Vec<Compaction> {
    let boundary = |note: &&CompactionNote| note.step == CompactionStep::Boundary;
    let mut found: Vec<Compaction> =
        loaded.compactions.iter().filter(boundary).map(|note| of_note(loaded, units, note)).collect();
    let by_node: HashMap<NodeId, usize> =
        found.iter().enumerate().map(|(index, compaction)| (compaction.node, index)).collect();
    for note in loaded.compactions.iter().filter(|note| note.step == CompactionStep::Summary) {
        let Some(parent) = units.above[note.node.index()] else { continue };
        if let Some(index) = by_node.get(&parent) {
            found[*index].summary.get_or_insert(note.node);
        }
    }
    found
}

fn of_note(loaded: &LoadedEntries, units: &Units, note: &CompactionNote) -> Compaction {
    let entry = &loaded.nodes[note.node.index()];
    let known = |uuid: &str| loaded.lookup(entry.file, uuid);
    let mut preserved: Vec<NodeId> = note.preserved.iter().filter_map(|uuid| known(uuid)).collect();
    if preserved.is_empty()
        && let Some((head, tail)) = &note.segment
        && let (Some(head), Some(tail)) = (known(head), known(tail))
    {
        preserved = segment(units, head, tail);
    }
    preserved.sort_unstable();
    preserved.dedup();
    let kept = u64::try_from(preserved.len()).ok().filter(|count| *count > 0);
    Compaction {
        lane: entry.lane,
        node: note.node,
        dialect: note.dialect,
        trigger: note.trigger.or_else(|| asked_for(loaded, units, note.node)),
        pre_tokens: note.pre_tokens,
        post_tokens: note.post_tokens,
        total_messages: note.total_messages,
        preserved_messages: note.preserved_messages.or(kept),
        preserved,
        anchor: note.anchor.as_deref().and_then(known),
        summary: None,
    }
}

/// The trigger in the flat dialect, which does not record it: a command right before the compaction.
fn asked_for(loaded: &LoadedEntries, units: &Units, id: NodeId) -> Option<Trigger> {
    let mut at = units.above[id.index()]?;
    if loaded.nodes[at.index()].part == EntryRole::Compaction {
        at = units.above[at.index()]?;
    }
    loaded.nodes[at.index()].asks_to_compact().then_some(Trigger::Manual)
}

/// The entries from `head` to `tail`; empty if they are not on one path.
fn segment(units: &Units, head: NodeId, tail: NodeId) -> Vec<NodeId> {
    let mut way = vec![tail];
    let mut at = tail;
    while at != head {
        match units.above[at.index()] {
            Some(parent) => at = parent,
            None => return Vec::new(),
        }
        way.push(at);
    }
    way
}
