//! Questions about the shape of a conversation.
//!
//! What an entry follows is here what it follows on its own lane: its parent; before a compaction, what that says it
//! follows; where the parent is missing, what stands before it.

use std::iter::successors;

use super::{LaneId, NodeId, Session};

/// An entry that begins a conversation, or an island of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// The entry.
    pub node: NodeId,
    /// Why it is one.
    pub kind: RootKind,
}

/// Why an entry follows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RootKind {
    /// It says so.
    Explicit,
    /// Its parent is not in the file.
    Orphan,
    /// It stood in a circle that was cut here.
    Cut,
}

impl Session {
    /// Where a lane and its islands begin, in the order of the file.
    pub fn roots(&self, lane: LaneId) -> Vec<Root> {
        let kind = |id: NodeId| {
            let node = self.node(id);
            if node.is_orphan() {
                Some(RootKind::Orphan)
            } else if node.is_cut() {
                Some(RootKind::Cut)
            } else {
                self.follows(id).is_none().then_some(RootKind::Explicit)
            }
        };
        self.lane(lane).nodes.iter().filter_map(|id| Some(Root { node: *id, kind: kind(*id)? })).collect()
    }

    /// What an entry follows on its lane.
    pub fn follows(&self, id: NodeId) -> Option<NodeId> {
        self.units.above[id.index()]
    }

    /// The entries that follow an entry on its lane, in the order of the file.
    pub fn followers(&self, id: NodeId) -> &[NodeId] {
        self.units.below.get(id)
    }

    /// What stands above an entry, the nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        successors(self.follows(id), |id| self.follows(*id))
    }

    /// Everything below an entry, each way to its end before the next.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut pending: Vec<NodeId> = self.followers(id).iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let next = pending.pop()?;
            pending.extend(self.followers(next).iter().rev());
            Some(next)
        })
    }

    /// How many entries stand above an entry.
    pub fn depth(&self, id: NodeId) -> usize {
        self.ancestors(id).count()
    }

    /// Every way from a root to an entry that nothing follows, links and all. [`Session::branches`] has only those that
    /// somebody would call a branch.
    pub fn ways(&self, lane: LaneId) -> impl Iterator<Item = Vec<NodeId>> {
        let ends = self.lane(lane).nodes.iter().copied().filter(|id| self.followers(*id).is_empty());
        ends.map(|end| {
            let mut way: Vec<NodeId> = successors(Some(end), |id| self.follows(*id)).collect();
            way.reverse();
            way
        })
    }

    /// The longest such way; of equals the first.
    pub fn longest_way(&self, lane: LaneId) -> Vec<NodeId> {
        let mut longest: Option<(usize, NodeId)> = None;
        let mut pending: Vec<(usize, NodeId)> = self
            .lane(lane)
            .nodes
            .iter()
            .filter(|id| self.follows(**id).is_none())
            .map(|id| (1, *id))
            .collect();
        while let Some((length, id)) = pending.pop() {
            if longest.is_none_or(|(best, end)| (length, end) > (best, id)) {
                longest = Some((length, id));
            }
            pending.extend(self.followers(id).iter().map(|id| (length + 1, *id)));
        }
        let mut way: Vec<NodeId> = successors(longest.map(|(_, end)| end), |id| self.follows(*id)).collect();
        way.reverse();
        way
    }

    /// Whether a lane has one way only.
    pub fn is_linear(&self, lane: LaneId) -> bool {
        self.branches(lane).len() <= 1
    }
}
