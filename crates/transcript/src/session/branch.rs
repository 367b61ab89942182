use std::collections::HashSet;
use std::iter::{once, successors};

use tidings_protocol::entry::EntryKind;

use super::units::{UnitId, Units};
use super::{LaneId, NodeId, Part, Session};

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
    /// The branch with the conversation: the one that is shown unless another is asked for.
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

/// What a path over compactions is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// For people: everything from the first prompt on. Goes on before a compaction, and where the parent of an entry
    /// is missing, with the line before it.
    Unified,
    /// What the model is given: begins at the last compaction, and has what that kept behind its summary.
    Model,
}

impl Session {
    /// The last entry of the branch with the conversation.
    ///
    /// That is the branch that was continued last, unless the model never answered in it while it did in another one:
    /// a slash command such as `/export` may begin anew at a root, and the conversation is not what it printed.
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

    /// The end of the branch that was continued last.
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

    /// Whether an entry is an answer of the model itself.
    fn is_answer(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.part == Part::Response && !node.is_synthetic() && !node.is_deleted()
    }

    /// Whether the model answered somewhere between a root and this leaf.
    fn is_answered(&self, leaf: NodeId) -> bool {
        let units = &self.units;
        let mut way = successors(Some(units.unit_of[leaf.index()]), |unit| units.parent(*unit));
        way.any(|unit| units.members(unit).iter().any(|id| self.is_answer(*id)))
    }

    /// The leaf that the client noted, or what was added below it since.
    fn leaf_to_resume(&self) -> Option<NodeId> {
        let uuid = self.side.last_prompt.as_ref()?.leaf_uuid.as_deref()?;
        // The line may be lost while those below it are not.
        let noted = self.by_uuid(LaneId::MAIN, uuid).or_else(|| self.orphan_of(uuid))?;
        if self.node(noted).lane != LaneId::MAIN {
            return None;
        }
        let since = |id: NodeId| self.node(id).place.offset > self.side.last_prompt_at;
        Some(self.units.end_below(self.units.unit_of[noted.index()], |unit| since(self.units.first(unit))))
    }

    /// All ways through a lane, the active one first, then by where they begin.
    pub fn branches(&self, lane: LaneId) -> Vec<Branch> {
        let Some(active) = self.active_leaf(lane) else { return Vec::new() };
        let units = &self.units;
        let is_leaf = |unit: &UnitId| units.is_lively(*unit) && !units.goes_on(*unit);
        let lane_units = self.lane(lane).nodes.iter().map(|id| (*id, units.unit_of[id.index()]));
        let lane_units = lane_units.filter(|(id, unit)| units.first(*unit) == *id).map(|(_, unit)| unit);
        // A stem belongs to the branch that was written last.
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

    /// The entries from a root to `leaf`, with parallel tool calls and what hangs beside the way put back.
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

    /// The entries that belong to a branch and not to the one that it forks from. Every entry of a lane belongs to
    /// exactly one of its [branches](Session::branches).
    pub fn own_path(&self, branch: &Branch) -> Vec<NodeId> {
        let fork = branch.fork.map(|fork| self.units.unit_of[fork.index()]);
        self.walk(branch.leaf, |unit| self.units.parent(unit).filter(|parent| Some(*parent) != fork))
    }

    /// The entries on the way up from `leaf`, the uppermost first.
    fn walk(&self, leaf: NodeId, up: impl Fn(UnitId) -> Option<UnitId>) -> Vec<NodeId> {
        let units = &self.units;
        let mut way: Vec<UnitId> = successors(Some(units.unit_of[leaf.index()]), |unit| up(*unit)).collect();
        way.reverse();
        let mut path = Vec::new();
        for (index, unit) in way.iter().enumerate() {
            match way.get(index + 1) {
                Some(next) => units.push_beside(*unit, Some(*next), &mut path),
                // Somebody asked for less than the whole unit.
                None if units.members(*unit).last() != Some(&leaf) => {
                    path.extend(units.members(*unit).iter().filter(|id| **id <= leaf));
                }
                None => units.push_beside(*unit, None, &mut path),
            }
        }
        path
    }

    /// Puts what a compaction kept behind its summary, where the model finds it.
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
    /// Whether a prompt or a response follows a unit.
    fn goes_on(&self, unit: UnitId) -> bool {
        self.children(unit).iter().any(|child| self.is_lively(*child))
    }

    /// The last entry on the way down from a unit, always into the branch that began last, through units that `enter`
    /// lets pass and into what hangs at the end.
    fn end_below(&self, unit: UnitId, enter: impl Fn(UnitId) -> bool) -> NodeId {
        let mut at = unit;
        loop {
            // What hangs beside a way that goes on is not its end.
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

    /// Adds the entries of a unit, and of everything below it that leads nowhere; `next` is added by itself.
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
