//! Assignment of entries to conversations.

use std::collections::HashMap;
use std::sync::Arc;

use super::forest::Children;
use super::load::LoadedEntries;
use super::{Agent, FileIndex, Lane, LaneId, NodeId};
use crate::limits::NESTING_MAX;

/// Assigns every entry to a lane: the main one, that of its file, or that of its inline sidechain.
pub(super) fn assign(loaded: &mut LoadedEntries, main: Option<FileIndex>, agents: &[Box<str>]) -> Vec<Lane> {
    let mut lanes = vec![Lane { file: main, ..Lane::default() }];
    let inline = main.map_or_else(Vec::new, |main| inline(loaded, main));
    lanes.extend(inline.iter().map(|agent| Lane {
        file: main,
        agent: Some(Agent { id: agent.as_deref().map(Into::into), ..Agent::default() }),
        ..Lane::default()
    }));
    let first_agent = lanes.len();
    lanes.extend(agents.iter().zip(u32::from(main.is_some())..).map(|(id, file)| Lane {
        file: Some(FileIndex(file)),
        agent: Some(Agent { id: Some(id.clone()), ..Agent::default() }),
        ..Lane::default()
    }));
    for (id, node) in (0_u32..).map(NodeId).zip(&mut loaded.nodes) {
        if Some(node.file) != main {
            let lane = first_agent + node.file.index() - usize::from(main.is_some());
            node.lane = LaneId(u32::try_from(lane).unwrap_or(u32::MAX));
        }
        lanes[node.lane.index()].nodes.push(id);
    }
    lanes
}

/// Assigns the entries of sidechains in the main file to lanes of their own, and returns their agents' ids.
fn inline(loaded: &mut LoadedEntries, main: FileIndex) -> Vec<Option<Arc<str>>> {
    let is_side = |loaded: &LoadedEntries, id: NodeId| {
        let node = &loaded.nodes[id.index()];
        node.file == main && node.is_sidechain()
    };
    if !loaded.nodes.iter().any(|node| node.file == main && node.is_sidechain()) {
        return Vec::new();
    }
    let parents: Vec<Option<NodeId>> = loaded.nodes.iter().map(|node| node.parent).collect();
    let mut lanes: Vec<(NodeId, Option<Arc<str>>)> = Vec::new();
    let mut by_agent: HashMap<Arc<str>, usize> = HashMap::new();
    let mut lane_of: HashMap<NodeId, usize> = HashMap::new();
    for id in Children::of(&parents).parents_first() {
        if !is_side(loaded, id) {
            continue;
        }
        let agent = loaded.agent_ids.get(&id).cloned();
        // An entry continues its parent's lane, unless it names another agent.
        let follows = parents[id.index()].and_then(|parent| lane_of.get(&parent).copied());
        let follows =
            follows.filter(|lane| agent.is_none() || lanes[*lane].1.is_none() || lanes[*lane].1 == agent);
        let lane = follows.or_else(|| by_agent.get(agent.as_ref()?).copied()).unwrap_or_else(|| {
            lanes.push((id, None));
            lanes.len() - 1
        });
        let (first, known) = &mut lanes[lane];
        *first = (*first).min(id);
        if let Some(agent) = agent {
            by_agent.entry(agent.clone()).or_insert(lane);
            known.get_or_insert(agent);
        }
        lane_of.insert(id, lane);
    }
    // Sorted by their first entries.
    let mut order: Vec<usize> = (0..lanes.len()).collect();
    order.sort_by_key(|lane| lanes[*lane].0);
    let mut number = vec![LaneId::MAIN; lanes.len()];
    for (lane, id) in order.iter().zip(1_u32..) {
        number[*lane] = LaneId(id);
    }
    for (id, lane) in lane_of {
        loaded.nodes[id.index()].lane = number[lane];
    }
    order.into_iter().map(|lane| lanes[lane].1.clone()).collect()
}

/// For every entry, its nearest ancestor on another lane.
pub(super) fn exits(loaded: &LoadedEntries, order: &[NodeId]) -> Vec<Option<NodeId>> {
    let mut exits = vec![None; loaded.nodes.len()];
    for id in order {
        let node = &loaded.nodes[id.index()];
        let Some(parent) = node.parent else { continue };
        let same = loaded.nodes[parent.index()].lane == node.lane;
        exits[id.index()] = if same { exits[parent.index()] } else { Some(parent) };
    }
    exits
}

/// The nearest entry from `id` upwards on `lane`: a conversation continues where its sidechains began.
pub(super) fn back_on(
    loaded: &LoadedEntries,
    exits: &[Option<NodeId>],
    id: NodeId,
    lane: LaneId,
) -> Option<NodeId> {
    let mut at = id;
    for _ in 0..NESTING_MAX {
        if loaded.nodes[at.index()].lane == lane {
            return Some(at);
        }
        at = exits[at.index()]?;
    }
    None
}
