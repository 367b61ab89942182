//! Queries about the shape of a conversation.
//!
//! The predecessor of an entry is determined on its own lane: its parent; at a compaction, the logical
//! parent; if the parent is missing, the entry before it.

use std::iter::successors;

use super::{LaneId, NodeId, Session};

/// An entry that begins a conversation, or a disconnected part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// The entry.
    pub node: NodeId,
    /// Kind of root.
    pub kind: RootKind,
}

/// Reason why an entry has no predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RootKind {
    /// The entry has no parent.
    Explicit,
    /// Its parent is not in the file.
    Orphan,
    /// A cycle of parents was cut here.
    Cut,
}

impl Session {
    /// The roots of a lane and its disconnected parts, in the order of the file.
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

    /// The predecessor of an entry on its lane.
    pub fn follows(&self, id: NodeId) -> Option<NodeId> {
        self.units.above[id.index()]
    }

    /// The successors of an entry on its lane, in the order of the file.
    pub fn followers(&self, id: NodeId) -> &[NodeId] {
        self.units.below.get(id)
    }

    /// The ancestors of an entry, the nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        successors(self.follows(id), |id| self.follows(*id))
    }

    /// Everything below an entry, depth first.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut pending: Vec<NodeId> = self.followers(id).iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let next = pending.pop()?;
            pending.extend(self.followers(next).iter().rev());
            Some(next)
        })
    }

    /// Number of ancestors of an entry.
    pub fn depth(&self, id: NodeId) -> usize {
        self.ancestors(id).count()
    }

    /// Every path from a root to an entry without successors. [`Session::branches`] has only those with a
    /// prompt or a response of their own.
    pub fn ways(&self, lane: LaneId) -> impl Iterator<Item = Vec<NodeId>> {
        let ends = self.lane(lane).nodes.iter().copied().filter(|id| self.followers(*id).is_empty());
        ends.map(|end| {
            let mut way: Vec<NodeId> = successors(Some(end), |id| self.follows(*id)).collect();
            way.reverse();
            way
        })
    }

    /// The longest such path; of equals the first.
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

    /// Returns true if a lane has a single path.
    pub fn is_linear(&self, lane: LaneId) -> bool {
        self.branches(lane).len() <= 1
    }
}
