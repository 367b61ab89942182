//! Paths through a conversation that were abandoned for another one.
//!
//! Entries are first gathered into units: a response with its tool results is one unit, since parallel tools
//! fork the chain of entries without a change of path. Forks between units are branches.

use std::collections::HashMap;

use tidings_protocol::entry::{EntryKind, EntryRef};

use super::role::{CountedRole, hash};

/// Collects the entries of one file in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct BranchCounter {
    nodes: Vec<CountedEntry>,
    by_uuid: HashMap<u64, u32>,
    /// The leaf to resume from, and the number of entries when it was recorded.
    resume: Option<(u64, usize)>,
}

#[derive(Debug, Clone, Copy)]
struct CountedEntry {
    part: CountedRole,
    /// True if it holds text of a user, a tool or the model.
    speaks: bool,
    /// True if it holds text of the model.
    answers: bool,
    parent: ParentRef,
    logical: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum ParentRef {
    Root,
    /// The entry has no such key: it follows the line before.
    Before,
    Named(u64),
}

impl BranchCounter {
    /// Adds an entry of the tree.
    pub(super) fn entry(&mut self, entry: &EntryRef<'_>, part: CountedRole) {
        let parent = match entry.parent_uuid() {
            Some(uuid) => ParentRef::Named(hash(&uuid)),
            None if entry.get("parentUuid").is_some() => ParentRef::Root,
            None => ParentRef::Before,
        };
        let logical = entry.logical_parent_uuid().map(|uuid| hash(&uuid));
        let speaks = matches!(entry.kind(), EntryKind::User | EntryKind::Assistant | EntryKind::Human);
        let by_client = || entry.message_view().model.is_some_and(|model| model.get() == "<synthetic>");
        let answers = matches!(part, CountedRole::Response(_)) && !by_client();
        let node = CountedEntry { part, speaks, answers, parent, logical };
        let Ok(next) = u32::try_from(self.nodes.len()) else { return };
        let uuid = entry.uuid().filter(|uuid| !uuid.is_empty());
        let known = uuid.map(|uuid| *self.by_uuid.entry(hash(&uuid)).or_insert(next));
        match known {
            // A repeated entry counts once, with the later copy's contents.
            Some(at) if at < next => self.nodes[at as usize] = node,
            _ => self.nodes.push(node),
        }
    }

    /// Handles a `last-prompt` record.
    pub(super) fn last_prompt(&mut self, entry: &EntryRef<'_>) {
        if let Some(leaf) = entry.leaf_uuid() {
            self.resume = Some((hash(&leaf), self.nodes.len()));
        }
    }

    /// Number of paths besides the active one.
    pub(super) fn left(&self) -> u64 {
        let above = self.above();
        let units = CountedUnits::gather(&self.nodes, &above);
        let leaves = (0..units.parents.len()).filter(|unit| units.is_leaf(*unit)).count() as u64;
        leaves - u64::from(leaves > 0 && self.active_is_leaf(&units))
    }

    /// The predecessor of each entry: across compactions, and across missing parents.
    fn above(&self) -> Vec<Option<u32>> {
        let find = |uuid: u64, at: usize| self.by_uuid.get(&uuid).copied().filter(|id| *id as usize != at);
        let mut above: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        let mut lost = vec![false; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            let over = node.logical.and_then(|uuid| find(uuid, at));
            let parent = over.or_else(|| match node.parent {
                ParentRef::Root => None,
                ParentRef::Before => u32::try_from(at).ok()?.checked_sub(1),
                ParentRef::Named(uuid) => find(uuid, at),
            });
            // Only prompts and responses can begin a conversation; all others have a lost predecessor.
            let begins = node.part.makes_branches() && !matches!(node.parent, ParentRef::Named(_));
            lost[at] = parent.is_none() && !begins;
            above.push(parent);
        }
        break_cycles(&mut above, &mut lost);
        bridge(&mut above, &lost);
        above
    }

    /// Returns true if the active branch ends in a leaf. It does not if the client rewound and nothing
    /// followed, or if the last message hangs beside the path.
    fn active_is_leaf(&self, units: &CountedUnits) -> bool {
        let noted = self.resume.and_then(|(leaf, since)| Some((*self.by_uuid.get(&leaf)?, since)));
        let last = || self.nodes.iter().rposition(|node| node.speaks).and_then(|at| u32::try_from(at).ok());
        let Some((start, since)) = noted.or_else(|| last().map(|last| (last, 0))) else { return true };
        let mut unit = units.of[start as usize];
        let young =
            |child: &&u32| units.lively[**child as usize] && units.firsts[**child as usize] as usize >= since;
        while let Some(next) = units.children[unit as usize]
            .iter()
            .filter(young)
            .max_by_key(|child| units.firsts[**child as usize])
        {
            unit = *next;
        }
        // A path without an answer of the model is not the conversation; the branch with the last answer ends
        // in a leaf.
        if self.nodes.iter().any(|node| node.answers) && !self.is_answered(units, unit) {
            return true;
        }
        while !units.lively[unit as usize] {
            let Some(parent) = units.parents[unit as usize] else { return false };
            unit = parent;
        }
        units.is_leaf(unit as usize)
    }

    /// Returns true if the model answered in a unit or above it.
    fn is_answered(&self, units: &CountedUnits, unit: u32) -> bool {
        let mut answered = vec![false; units.parents.len()];
        for (node, unit) in self.nodes.iter().zip(&units.of) {
            answered[*unit as usize] |= node.answers;
        }
        std::iter::successors(Some(unit), |unit| units.parents[*unit as usize])
            .any(|unit| answered[unit as usize])
    }
}

/// Entries that belong together; parents have lower numbers than their children.
struct CountedUnits {
    of: Vec<u32>,
    parents: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
    /// The first entry of each.
    firsts: Vec<u32>,
    /// True if it contains, or leads to, a prompt or a response.
    lively: Vec<bool>,
}

impl CountedUnits {
    fn gather(nodes: &[CountedEntry], above: &[Option<u32>]) -> Self {
        let mut units = CountedUnits {
            of: vec![0; nodes.len()],
            parents: Vec::new(),
            children: Vec::new(),
            firsts: Vec::new(),
            lively: Vec::new(),
        };
        // The unfinished response at an entry: its unit, and its id.
        let mut open: Vec<Option<(u32, Option<u64>)>> = vec![None; nodes.len()];
        for at in parents_first(above) {
            let node = &nodes[at as usize];
            let before = above[at as usize];
            let going_on = before.and_then(|before| open[before as usize]);
            let joins = going_on.filter(|(_, response)| match node.part {
                CountedRole::ToolResult => true,
                CountedRole::Response(id) => response.is_some() && id == *response,
                _ => false,
            });
            let unit = match joins {
                Some((unit, _)) => unit,
                None => units.add(before, at),
            };
            units.of[at as usize] = unit;
            units.lively[unit as usize] |= node.part.makes_branches();
            units.firsts[unit as usize] = units.firsts[unit as usize].min(at);
            open[at as usize] = match node.part {
                CountedRole::Response(id) => Some((unit, id)),
                CountedRole::Prompt | CountedRole::Break => None,
                CountedRole::ToolResult | CountedRole::Beside => going_on,
            };
        }
        for unit in (0..units.parents.len()).rev() {
            if let Some(parent) = units.parents[unit] {
                let lively = units.lively[unit];
                units.lively[parent as usize] |= lively;
            }
        }
        units
    }

    fn add(&mut self, before: Option<u32>, first: u32) -> u32 {
        // There are not more units than entries, which are counted in 32 bits.
        let unit = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        let parent = before.map(|before| self.of[before as usize]);
        if let Some(parent) = parent {
            self.children[parent as usize].push(unit);
        }
        self.parents.push(parent);
        self.children.push(Vec::new());
        self.firsts.push(first);
        self.lively.push(false);
        unit
    }

    /// Returns true at the end of a path with a prompt or a response.
    fn is_leaf(&self, unit: usize) -> bool {
        self.lively[unit] && !self.children[unit].iter().any(|child| self.lively[*child as usize])
    }
}

/// Cuts every cycle at its first entry, which then has a lost predecessor.
fn break_cycles(above: &mut [Option<u32>], lost: &mut [bool]) {
    // The last walk that visited an entry; meeting it again means a cycle.
    let mut walked = vec![0_u32; above.len()];
    for (walk, start) in (1_u32..).zip(0..above.len()) {
        let mut at = start;
        while walked[at] == 0 {
            walked[at] = walk;
            let Some(parent) = above[at] else { break };
            at = parent as usize;
            if walked[at] == walk {
                let lowest = lowest_in_cycle(above, at);
                above[lowest] = None;
                lost[lowest] = true;
            }
        }
    }
}

fn lowest_in_cycle(above: &[Option<u32>], member: usize) -> usize {
    let (mut lowest, mut at) = (member, member);
    while let Some(parent) = above[at].map(|parent| parent as usize).filter(|parent| *parent != member) {
        lowest = lowest.min(parent);
        at = parent;
    }
    lowest
}

/// Links an entry with a lost parent to the last entry before it that belongs to an island that began
/// earlier. Islands then follow each other by where they begin, without cycles.
fn bridge(above: &mut [Option<u32>], is_lost: &[bool]) {
    let mut island = vec![0_u32; above.len()];
    for at in parents_first(above) {
        island[at as usize] = above[at as usize].map_or(at, |parent| island[parent as usize]);
    }
    let mut last = None;
    for (at, island) in (0_u32..).zip(island) {
        if island == at && is_lost[at as usize] {
            above[at as usize] = last;
        }
        if island <= at {
            last = Some(at);
        }
    }
}

/// All entries, each after its predecessor.
fn parents_first(above: &[Option<u32>]) -> Vec<u32> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); above.len()];
    let mut order = Vec::with_capacity(above.len());
    for (at, parent) in (0_u32..).zip(above) {
        match parent {
            Some(parent) => children[*parent as usize].push(at),
            None => order.push(at),
        }
    }
    let mut next = 0;
    while next < order.len() {
        let below = std::mem::take(&mut children[order[next] as usize]);
        order.extend(below);
        next += 1;
    }
    order
}
