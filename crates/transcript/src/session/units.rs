//! Groups of entries, and the tree of these units.
//!
//! A unit is an API response with its tool results, or any other entry alone. Parallel tools fork the chain
//! of entries, since each result hangs off its own call; between units there are no such forks, so every fork
//! there is a branch.

use super::forest::{Children, break_cycles};
use super::lanes::{back_on, exits};
use super::load::LoadedEntries;
use super::parents::logical;
use super::{EntryRole, Node, NodeId};

/// The entries of a session, in units.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// The predecessor of an entry on its own lane, across compactions and missing parents.
    pub(super) above: Vec<Option<NodeId>>,
    /// True if `above` differs from the parent in the file.
    pub(super) bridged: Vec<bool>,
    /// The successors of an entry on its lane.
    pub(super) below: Children,
    pub(super) unit_of: Vec<UnitId>,
    parents: Vec<Option<UnitId>>,
    children: Children,
    /// True if a unit contains, or leads to, a prompt or a response.
    lively: Vec<bool>,
    member_starts: Vec<u32>,
    members: Vec<NodeId>,
}

/// Units are numbered so that parents come first; the type is the one that [`Children`] uses.
pub(super) type UnitId = NodeId;

impl Units {
    pub(super) fn of(loaded: &LoadedEntries) -> Self {
        let physical: Vec<Option<NodeId>> = loaded.nodes.iter().map(|node| node.parent).collect();
        let order = Children::of(&physical).parents_first();
        let (above, bridged) = follow(loaded, &order);
        let below = Children::of(&above);
        let order = below.parents_first();
        let (unit_of, parents) = gather(&loaded.nodes, &above, &order);
        let children = Children::of(&parents);
        let lively = find_lively(&loaded.nodes, &unit_of, &parents);
        let (member_starts, members) = members(&unit_of, parents.len());
        Units { above, bridged, below, unit_of, parents, children, lively, member_starts, members }
    }

    pub(super) fn parent(&self, unit: UnitId) -> Option<UnitId> {
        self.parents[unit.index()]
    }

    pub(super) fn children(&self, unit: UnitId) -> &[UnitId] {
        self.children.get(unit)
    }

    pub(super) fn is_lively(&self, unit: UnitId) -> bool {
        self.lively[unit.index()]
    }

    /// All units, each after its parent.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = UnitId> + use<> {
        (0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// The entries of a unit, in the order of the file.
    pub(super) fn members(&self, unit: UnitId) -> &[NodeId] {
        let (start, end) = (self.member_starts[unit.index()], self.member_starts[unit.index() + 1]);
        &self.members[start as usize..end as usize]
    }

    /// The predecessor of the unit.
    pub(super) fn above_unit(&self, unit: UnitId) -> Option<NodeId> {
        let parent = self.parent(unit)?;
        let mut above = self.members(unit).iter().filter_map(|id| self.above[id.index()]);
        above.find(|id| self.unit_of[id.index()] == parent)
    }

    /// The unit's first entry.
    pub(super) fn first(&self, unit: UnitId) -> NodeId {
        self.members(unit)[0]
    }
}

/// The predecessor of every entry on its own lane: the logical parent, the parent, or if that is missing the
/// entry before it in the file.
fn follow(loaded: &LoadedEntries, order: &[NodeId]) -> (Vec<Option<NodeId>>, Vec<bool>) {
    let exits = exits(loaded, order);
    let mut bridged = vec![false; loaded.nodes.len()];
    let mut above: Vec<Option<NodeId>> = Vec::with_capacity(loaded.nodes.len());
    for (id, node) in (0_u32..).map(NodeId).zip(&loaded.nodes) {
        let over = logical(loaded, id).and_then(|parent| back_on(loaded, &exits, parent, node.lane));
        bridged[id.index()] = over.is_some();
        let plain = || back_on(loaded, &exits, node.parent?, node.lane);
        above.push(over.or_else(plain));
    }
    for cut in break_cycles(&mut above) {
        bridged[cut.index()] = false;
    }
    bridge_islands(&loaded.nodes, &mut above, &mut bridged);
    (above, bridged)
}

/// Links an entry with a missing parent, or without a parent and a message, to the last entry before it that
/// belongs to an island that began earlier. Islands then follow each other by where they begin, without
/// cycles.
fn bridge_islands(nodes: &[Node], above: &mut [Option<NodeId>], bridged: &mut [bool]) {
    let children = Children::of(above);
    let mut island = vec![NodeId(0); nodes.len()];
    for id in children.parents_first() {
        island[id.index()] = above[id.index()].map_or(id, |parent| island[parent.index()]);
    }
    let mut has_speaker = vec![false; nodes.len()];
    for (island, node) in island.iter().zip(nodes) {
        has_speaker[island.index()] |= node.part.makes_branches();
    }
    let lanes = nodes.iter().map(|node| node.lane.index() + 1).max().unwrap_or(0);
    let mut last: Vec<Option<NodeId>> = vec![None; lanes];
    let mut spoken = vec![false; lanes];
    for (id, node) in (0_u32..).map(NodeId).zip(nodes) {
        let last = &mut last[node.lane.index()];
        let speaks = node.part.makes_branches();
        // Only prompts and responses can begin a conversation; all others have a lost predecessor. The first
        // island with a message follows the entries before it, which would be unreachable otherwise.
        let spoken = &mut spoken[node.lane.index()];
        let begins = speaks && *spoken && node.parent.is_none() && !node.is_orphan() && !node.is_cut();
        *spoken |= has_speaker[id.index()];
        if island[id.index()] == id && !begins {
            above[id.index()] = *last;
            bridged[id.index()] = last.is_some();
        }
        if island[id.index()] <= id {
            *last = Some(id);
        }
    }
}

/// Groups all entries into units; returns the units and their parents.
fn gather(nodes: &[Node], above: &[Option<NodeId>], order: &[NodeId]) -> (Vec<UnitId>, Vec<Option<UnitId>>) {
    let mut unit_of = vec![NodeId(0); nodes.len()];
    let mut parents: Vec<Option<UnitId>> = Vec::new();
    // The unfinished response at an entry.
    let mut open: Vec<Option<OpenResponse>> = vec![None; nodes.len()];
    for id in order {
        let node = &nodes[id.index()];
        let before = above[id.index()];
        let going_on = before.and_then(|before| open[before.index()]);
        let joins = going_on.filter(|open| open.takes(node, before.map(|before| &nodes[before.index()])));
        let unit = joins.map_or_else(
            || {
                parents.push(before.map(|before| unit_of[before.index()]));
                NodeId(u32::try_from(parents.len() - 1).unwrap_or(u32::MAX))
            },
            |open| open.unit,
        );
        unit_of[id.index()] = unit;
        open[id.index()] = match node.part {
            EntryRole::Response => Some(OpenResponse { unit, response: node.response }),
            EntryRole::Prompt
            | EntryRole::Command
            | EntryRole::Notification
            | EntryRole::Compaction
            | EntryRole::CompactSummary => None,
            EntryRole::CommandOutput
            | EntryRole::Interruption
            | EntryRole::ToolResult
            | EntryRole::Injected
            | EntryRole::Error
            | EntryRole::Event
            | EntryRole::Attachment
            | EntryRole::Progress
            | EntryRole::Other => going_on,
        };
    }
    (unit_of, parents)
}

#[derive(Debug, Clone, Copy)]
struct OpenResponse {
    unit: UnitId,
    response: Option<u32>,
}

impl OpenResponse {
    fn takes(self, node: &Node, before: Option<&Node>) -> bool {
        match node.part {
            EntryRole::ToolResult => true,
            EntryRole::Response => match self.response {
                Some(_) => self.response == node.response,
                // The flat dialect has no ids; there, consecutive calls are one batch.
                None => {
                    node.response.is_none() && node.calls_tools() && before.is_some_and(Node::calls_tools)
                }
            },
            _ => false,
        }
    }
}

/// Parents have lower numbers than their children, so one pass from the back is enough.
fn find_lively(nodes: &[Node], unit_of: &[UnitId], parents: &[Option<UnitId>]) -> Vec<bool> {
    let mut lively = vec![false; parents.len()];
    for (node, unit) in nodes.iter().zip(unit_of) {
        lively[unit.index()] |= node.part.makes_branches();
    }
    for unit in (0..parents.len()).rev() {
        if let Some(parent) = parents[unit]
            && lively[unit]
        {
            lively[parent.index()] = true;
        }
    }
    lively
}

fn members(unit_of: &[UnitId], count: usize) -> (Vec<u32>, Vec<NodeId>) {
    let mut starts = vec![0_u32; count + 1];
    for unit in unit_of {
        starts[unit.index() + 1] += 1;
    }
    for unit in 0..count {
        starts[unit + 1] += starts[unit];
    }
    let mut next = starts.clone();
    let mut members = vec![NodeId(0); unit_of.len()];
    for (id, unit) in (0_u32..).map(NodeId).zip(unit_of) {
        let slot = &mut next[unit.index()];
        members[*slot as usize] = id;
        *slot += 1;
    }
    (starts, members)
}
