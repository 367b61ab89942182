//! Parallel tool calls.
//!
//! A response with several calls is one entry per call, each the child of the one before; each result is a
//! child of its own call, and the conversation continues from one of them. The path from root to leaf
//! therefore misses calls and results, which are inserted after the last entry of their response.

use std::collections::{HashMap, HashSet};

use super::chain::{ByUuid, ChainNode};

pub(super) fn insert_missing(chain: Vec<usize>, nodes: &[ChainNode], by_uuid: &ByUuid<'_>) -> Vec<usize> {
    let mut anchors: HashMap<&str, usize> = HashMap::new();
    let mut responses: Vec<&str> = Vec::new();
    for &index in &chain {
        if let Some(id) = nodes[index].message_id.as_deref()
            && anchors.insert(id, index).is_none()
        {
            responses.push(id);
        }
    }
    if responses.is_empty() {
        return chain;
    }
    let index = ResponseIndex::new(nodes, by_uuid);
    let mut on_chain: HashSet<&str> = chain.iter().map(|&index| &*nodes[index].uuid).collect();
    let answered: HashSet<&str> =
        chain.iter().flat_map(|&index| &nodes[index].answers).map(|call| &**call).collect();
    let mut missing: HashMap<usize, Vec<usize>> = HashMap::new();
    for id in responses {
        let found = index.missing(id, &on_chain, &answered);
        on_chain.extend(found.iter().map(|&index| &*nodes[index].uuid));
        if !found.is_empty() {
            missing.insert(anchors[id], found);
        }
    }
    let with_missing = |at: usize| std::iter::once(at).chain(missing.remove(&at).unwrap_or_default());
    chain.into_iter().flat_map(with_missing).collect()
}

/// Relations between entries, over the whole file.
struct ResponseIndex<'n> {
    nodes: &'n [ChainNode],
    /// The entries of each response.
    members: HashMap<&'n str, Vec<usize>>,
    /// The entry that made a call; `None` if two responses claim it.
    callers: HashMap<&'n str, Option<usize>>,
    /// The results that may belong to an entry.
    results: HashMap<&'n str, Vec<usize>>,
    /// Position of the first occurrence of each uuid.
    order: HashMap<&'n str, usize>,
}

impl<'n> ResponseIndex<'n> {
    fn new(nodes: &'n [ChainNode], by_uuid: &ByUuid<'n>) -> Self {
        let mut index = ResponseIndex {
            nodes,
            members: HashMap::new(),
            callers: HashMap::new(),
            results: HashMap::new(),
            order: HashMap::new(),
        };
        let mut results = Vec::new();
        for (position, at) in by_uuid.all().enumerate() {
            let node = &nodes[at];
            index.order.insert(&node.uuid, position);
            if let Some(id) = node.message_id.as_deref() {
                index.members.entry(id).or_default().push(at);
                index.note_calls(at, id);
            } else if node.has_results {
                results.push(at);
            }
        }
        for at in results {
            index.note_result(at, by_uuid);
        }
        index
    }

    fn note_calls(&mut self, at: usize, response: &str) {
        let nodes = self.nodes;
        for call in &nodes[at].calls {
            let caller = self.callers.entry(call).or_insert(Some(at));
            let same = caller.is_some_and(|other| nodes[other].message_id.as_deref() == Some(response));
            *caller = same.then_some(at);
        }
    }

    /// A result belongs to its parent, to the entry that it names, and to those that made the calls it
    /// answers; the last two only if the same agent wrote them.
    fn note_result(&mut self, at: usize, by_uuid: &ByUuid<'n>) {
        let nodes = self.nodes;
        let result = &nodes[at];
        if let Some(parent) = result.parent.as_deref() {
            self.results.entry(parent).or_default().push(at);
        }
        let source = result.source.as_deref().and_then(|source| by_uuid.get(source));
        let callers = result.answers.iter().filter_map(|call| self.callers.get(&**call).copied().flatten());
        for owner in source.into_iter().chain(callers).collect::<Vec<_>>() {
            if same_writer(result, &nodes[owner]) {
                self.results.entry(&nodes[owner].uuid).or_default().push(at);
            }
        }
    }

    /// The parts of a response that are not on the chain: first its calls, then results, each in order of
    /// time.
    fn missing(&self, response: &str, on_chain: &HashSet<&str>, answered: &HashSet<&str>) -> Vec<usize> {
        let nodes = self.nodes;
        let members = self.members.get(response).map(Vec::as_slice).unwrap_or_default();
        let names: HashSet<&str> = members.iter().map(|&at| &*nodes[at].uuid).collect();
        let mut calls: Vec<usize> =
            members.iter().copied().filter(|&at| !on_chain.contains(&*nodes[at].uuid)).collect();
        let (mut results, mut strays) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for &member in members {
            for &at in self.results.get(&*nodes[member].uuid).map(Vec::as_slice).unwrap_or_default() {
                let result = &nodes[at];
                if on_chain.contains(&*result.uuid) || !seen.insert(&*result.uuid) {
                    continue;
                }
                let is_child = result.parent.as_deref().is_some_and(|parent| names.contains(parent));
                if is_child { results.push(at) } else { strays.push(at) }
            }
        }
        self.add_side_results(strays, &names, answered, &mut results);
        calls.sort_by_key(|&at| &*nodes[at].timestamp);
        results.sort_by_key(|&at| &*nodes[at].timestamp);
        calls.extend(results);
        calls
    }

    /// Adds results elsewhere in the tree that answer an open call of the response.
    fn add_side_results(
        &self,
        mut strays: Vec<usize>,
        members: &HashSet<&str>,
        answered: &HashSet<&str>,
        results: &mut Vec<usize>,
    ) {
        if strays.is_empty() {
            return;
        }
        let nodes = self.nodes;
        let mut closed: HashSet<&str> =
            results.iter().flat_map(|&at| &nodes[at].answers).map(|call| &**call).collect();
        strays.sort_by_key(|&at| self.order[&*nodes[at].uuid]);
        for at in strays {
            let open = nodes[at].answers.iter().any(|call| {
                let caller = self.callers.get(&**call).copied().flatten();
                !closed.contains(&**call)
                    && !answered.contains(&**call)
                    && caller.is_some_and(|caller| members.contains(&*nodes[caller].uuid))
            });
            if open {
                closed.extend(nodes[at].answers.iter().map(|call| &**call));
                results.push(at);
            }
        }
    }
}

fn same_writer(one: &ChainNode, other: &ChainNode) -> bool {
    one.is_sidechain == other.is_sidechain && one.agent == other.agent
}
