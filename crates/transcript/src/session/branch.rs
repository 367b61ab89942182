//! Branches: paths through a lane from a root to a leaf.

use std::collections::HashSet;
use std::iter::{once, successors};

use tidings_protocol::entry::EntryKind;

use super::units::{UnitId, Units};
use super::{EntryRole, LaneId, NodeId, Session};

/// A path through a lane from a root to a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// The lane.
    pub lane: LaneId,
    /// Its last entry; [`Session::path`](super::Session::path) returns all of them.
    pub leaf: NodeId,
    /// The last entry that it shares with an earlier branch; `None` for the first of a root.
    pub fork: Option<NodeId>,
    /// The first entry that is not shared.
    pub start: NodeId,
    /// Active or abandoned.
    pub state: BranchState,
}

/// State of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BranchState {
    /// The active branch: shown unless another one is requested.
    Active,
    /// Every other branch.
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

/// The purpose of a path across compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// For display: everything from the first prompt on. Continues before a compaction, and before a missing
    /// parent with the line before.
    Unified,
    /// The model's context: begins at the last compaction, with the preserved entries after its summary.
    Model,
}

impl Session {
    /// The last entry of the active branch.
    ///
    /// That is the branch that was continued last, unless the model answered in another one and not in this:
    /// a slash command such as `/export` may begin at a new root, and its output is not the conversation.
    pub fn active_leaf(&self, lane: LaneId) -> Option<NodeId> {
        let nodes = &self.lane(lane).nodes;
        // An explicit mark wins.
        if let Some(marked) = nodes.iter().rev().find(|id| self.node(**id).is_marked_active()) {
            return Some(self.units.end_below(self.units.unit_of[marked.index()], |_| true));
        }
        let continued = self.continued_leaf(lane)?;
        if self.is_answered(continued) {
            return Some(continued);
        }
        let answer = nodes.iter().rev().find(|id| self.is_answer(**id));
        Some(
            answer.map_or(continued, |answer| {
                self.units.end_below(self.units.unit_of[answer.index()], |_| true)
            }),
        )
    }

    /// The leaf of the branch that was continued last.
    fn continued_leaf(&self, lane: LaneId) -> Option<NodeId> {
        let nodes = &self.lane(lane).nodes;
        if lane == LaneId::MAIN
            && let Some(leaf) = self.leaf_to_resume()
        {
            return Some(leaf);
        }
        let speaks = |id: &&NodeId| {
            let node = self.node(**id);
            !node.is_deleted()
                && matches!(node.kind, EntryKind::User | EntryKind::Assistant | EntryKind::Human)
        };
        let last = nodes.iter().rev().find(speaks).or_else(|| nodes.last())?;
        Some(self.units.end_below(self.units.unit_of[last.index()], |_| true))
    }

    /// Returns true for an answer of the model itself.
    fn is_answer(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.part == EntryRole::Response && !node.is_synthetic() && !node.is_deleted()
    }

    /// Returns true if the model answered somewhere between the root and this leaf.
    fn is_answered(&self, leaf: NodeId) -> bool {
        let units = &self.units;
        let mut way = successors(Some(units.unit_of[leaf.index()]), |unit| units.parent(*unit));
        way.any(|unit| units.members(unit).iter().any(|id| self.is_answer(*id)))
    }

    /// The leaf that the client recorded, or the last entry added below it since.
    fn leaf_to_resume(&self) -> Option<NodeId> {
        let uuid = self.side.last_prompt.as_ref()?.leaf_uuid.as_deref()?;
        // The line itself may be lost while its children are not.
        let noted = self.by_uuid(LaneId::MAIN, uuid).or_else(|| self.orphan_of(uuid))?;
        if self.node(noted).lane != LaneId::MAIN {
            return None;
        }
        let since = |id: NodeId| self.node(id).place.offset > self.side.last_prompt_at;
        Some(self.units.end_below(self.units.unit_of[noted.index()], |unit| since(self.units.first(unit))))
    }

    /// All paths through a lane, the active one first, then by position of their start.
    pub fn branches(&self, lane: LaneId) -> Vec<Branch> {
        let Some(active) = self.active_leaf(lane) else { return Vec::new() };
        let units = &self.units;
        let is_leaf = |unit: &UnitId| units.is_lively(*unit) && !units.goes_on(*unit);
        let lane_units = self.lane(lane).nodes.iter().map(|id| (*id, units.unit_of[id.index()]));
        let lane_units = lane_units.filter(|(id, unit)| units.first(*unit) == *id).map(|(_, unit)| unit);
        // A common stem belongs to the branch that was written last.
        let mut others: Vec<NodeId> =
            lane_units.filter(is_leaf).map(|unit| units.end_below(unit, |_| true)).collect();
        others.sort_unstable_by(|a, b| b.cmp(a));
        let mut claimed = HashSet::new();
        let mut branches = Vec::new();
        for (leaf, state) in once((active, BranchState::Active))
            .chain(others.into_iter().map(|leaf| (leaf, BranchState::Abandoned)))
        {
            let mut at = units.unit_of[leaf.index()];
            if !claimed.insert(at) {
                continue;
            }
            let mut own = usize::from(units.is_lively(at));
            while let Some(parent) = units.parent(at)
                && claimed.insert(parent)
            {
                at = parent;
                own += usize::from(units.is_lively(at));
            }
            if own == 0 && state == BranchState::Abandoned {
                continue;
            }
            let start = units.first(at);
            branches.push(Branch { lane, leaf, fork: units.above_unit(at), start, state });
        }
        branches[1..].sort_by_key(|branch| branch.start);
        branches
    }

    /// The entries from a root to `leaf`, including parallel tool calls and entries beside the path.
    pub fn path(&self, leaf: NodeId, view: View) -> Vec<NodeId> {
        let units = &self.units;
        let stops = |unit: UnitId| {
            let begins = |id: &NodeId| units.bridged[id.index()] || self.is_boundary(*id);
            view == View::Model && units.members(unit).iter().any(begins)
        };
        let mut path = self.walk(leaf, |unit| if stops(unit) { None } else { units.parent(unit) });
        if view == View::Model {
            self.put_preserved(&mut path);
        }
        path
    }

    /// The entries of a branch that are not part of the one that it forks from. Every entry of a lane belongs
    /// to exactly one of its [branches](Session::branches).
    pub fn own_path(&self, branch: &Branch) -> Vec<NodeId> {
        let fork = branch.fork.map(|fork| self.units.unit_of[fork.index()]);
        self.walk(branch.leaf, |unit| self.units.parent(unit).filter(|parent| Some(*parent) != fork))
    }

    /// The entries on the path from the root to `leaf`.
    fn walk(&self, leaf: NodeId, up: impl Fn(UnitId) -> Option<UnitId>) -> Vec<NodeId> {
        let units = &self.units;
        let mut way: Vec<UnitId> = successors(Some(units.unit_of[leaf.index()]), |unit| up(*unit)).collect();
        way.reverse();
        let mut path = Vec::new();
        for (index, unit) in way.iter().enumerate() {
            match way.get(index + 1) {
                Some(next) => units.push_beside(*unit, Some(*next), &mut path),
                // The leaf is inside of the unit.
                None if units.members(*unit).last() != Some(&leaf) => {
                    path.extend(units.members(*unit).iter().filter(|id| **id <= leaf));
                }
                None => units.push_beside(*unit, None, &mut path),
            }
        }
        path
    }

    /// Inserts the preserved entries of a compaction after its summary, as the model sees them.
    fn put_preserved(&self, path: &mut Vec<NodeId>) {
        let first = path.first().copied();
        let Some(compaction) = self.compactions.iter().find(|compaction| Some(compaction.node) == first)
        else {
            return;
        };
        let there: HashSet<NodeId> = path.iter().copied().collect();
        let kept: Vec<NodeId> =
            compaction.preserved.iter().copied().filter(|id| !there.contains(id)).collect();
        let anchor = compaction.anchor.or(compaction.summary).unwrap_or(compaction.node);
        let at = path.iter().position(|id| *id == anchor).map_or(path.len(), |at| at + 1);
        path.splice(at..at, kept);
    }
}

impl Units {
    /// Returns true if a prompt or a response follows a unit.
    fn goes_on(&self, unit: UnitId) -> bool {
        self.children(unit).iter().any(|child| self.is_lively(*child))
    }

    /// The last entry below a unit, following the branch that began last, through units that `enter` accepts,
    /// and including entries that hang at the end.
    fn end_below(&self, unit: UnitId, enter: impl Fn(UnitId) -> bool) -> NodeId {
        let mut at = unit;
        loop {
            // Entries beside a path that continues are not its end.
            let goes_on = self.goes_on(at);
            let passes = |child: &&UnitId| !goes_on || (self.is_lively(**child) && enter(**child));
            let last = self.children(at).iter().filter(passes).max_by_key(|child| self.first(**child));
            match last {
                Some(child) => at = *child,
                None => break,
            }
        }
        self.members(at).last().copied().unwrap_or(self.first(unit))
    }

    /// Adds the entries of a unit, and of everything below it without a continuation; `next` is added
    /// separately.
    fn push_beside(&self, unit: UnitId, next: Option<UnitId>, path: &mut Vec<NodeId>) {
        let start = path.len();
        path.extend_from_slice(self.members(unit));
        let hangs = |child: &UnitId| !self.is_lively(*child) && Some(*child) != next;
        let mut pending: Vec<UnitId> = self.children(unit).iter().copied().filter(hangs).collect();
        while let Some(unit) = pending.pop() {
            path.extend_from_slice(self.members(unit));
            pending.extend(self.children(unit));
        }
        path[start..].sort_unstable();
    }
}
