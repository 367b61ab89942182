//! Tool calls and their results, paired.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::load::{AnswerNote, CallNote, LoadedEntries};
use super::{EntryRole, FileIndex, LaneId, Node, NodeId, rules};
use crate::{Finding, Severity};

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// The lane.
    pub lane: LaneId,
    /// The call's id; in the flat dialect the uuid of its entry.
    pub id: Box<str>,
    /// Name of the tool; empty for a result without a call.
    pub name: Arc<str>,
    /// The entry with the call; `None` for a result without one.
    pub call: Option<NodeId>,
    /// The entry with the result; `None` while there is none.
    pub result: Option<NodeId>,
    /// True if the tool failed according to the result.
    pub is_error: bool,
}

/// Tool calls with their results, indexed by entry.
#[derive(Debug, Default)]
pub(super) struct ToolUses {
    pub(super) uses: Vec<ToolUse>,
    by_call: Vec<(NodeId, u32)>,
    by_result: Vec<(NodeId, u32)>,
    /// By id, over all files: those of sub-agents refer to calls in other files.
    by_id: HashMap<Box<str>, Vec<u32>>,
}

impl ToolUses {
    /// Pairs by id, and without ids by parent or order.
    ///
    /// Some servers restart the ids of their calls in every response, so that one id is used many times in a
    /// file: then a result belongs to the entry that it names, and otherwise to the nearest call without a
    /// result.
    pub(super) fn pair(loaded: &mut LoadedEntries) -> Self {
        let nodes = &loaded.nodes;
        let mut uses: Vec<ToolUse> = loaded.calls.iter().map(|note| of_call(note, nodes)).collect();
        let mut results: Vec<(u32, NodeId)> = Vec::new();
        let mut calls = CallsById::of(loaded);
        let mut found: Vec<Option<u32>> = loaded.answers.iter().map(|note| calls.named_by(note)).collect();
        // A guess does not take a call that another result names.
        for (found, note) in found.iter_mut().zip(&loaded.answers) {
            *found = found.or_else(|| calls.nearest(note));
        }
        for (found, note) in found.into_iter().zip(&loaded.answers).filter(|(_, note)| note.id.is_some()) {
            let index = found.unwrap_or_else(|| {
                uses.push(of_answer(note, nodes));
                u32::try_from(uses.len() - 1).unwrap_or(u32::MAX)
            });
            results.push((index, note.node));
            let tool = &mut uses[index as usize];
            tool.result = Some(note.node);
            tool.is_error = note.is_error;
        }
        results.extend(by_order(loaded, &mut uses));
        let findings = report(&uses, nodes);
        loaded.findings.extend(findings);
        Self::index(uses, results)
    }

    fn index(uses: Vec<ToolUse>, results: Vec<(u32, NodeId)>) -> Self {
        let mut by_id: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        let mut by_call = Vec::new();
        for (index, tool) in (0_u32..).zip(&uses) {
            if let Some(call) = tool.call {
                by_call.push((call, index));
                by_id.entry(tool.id.clone()).or_default().push(index);
            }
        }
        let mut by_result: Vec<(NodeId, u32)> =
            results.into_iter().map(|(index, node)| (node, index)).collect();
        by_call.sort_unstable();
        by_result.sort_unstable();
        ToolUses { uses, by_call, by_result, by_id }
    }

    pub(super) fn calls_of(&self, id: NodeId) -> impl Iterator<Item = &ToolUse> {
        indexes(&self.by_call, id).map(|index| &self.uses[index])
    }

    pub(super) fn results_of(&self, id: NodeId) -> impl Iterator<Item = &ToolUse> {
        indexes(&self.by_result, id).map(|index| &self.uses[index])
    }

    /// Numbers of the uses with a result in an entry.
    pub(super) fn result_numbers(&self, id: NodeId) -> impl Iterator<Item = usize> {
        indexes(&self.by_result, id)
    }

    /// Numbers of the uses with that call id, in all files.
    pub(super) fn numbers_of(&self, id: &str) -> impl Iterator<Item = usize> {
        self.by_id.get(id).into_iter().flatten().map(|index| *index as usize)
    }

    /// Numbers of the uses with a call in an entry.
    pub(super) fn call_numbers(&self, id: NodeId) -> impl Iterator<Item = usize> {
        indexes(&self.by_call, id)
    }
}

fn indexes(table: &[(NodeId, u32)], id: NodeId) -> impl Iterator<Item = usize> {
    let start = table.partition_point(|(node, _)| *node < id);
    table[start..].iter().take_while(move |(node, _)| *node == id).map(|(_, index)| *index as usize)
}

fn of_call(note: &CallNote, nodes: &[Node]) -> ToolUse {
    ToolUse {
        lane: nodes[note.node.index()].lane,
        id: note.id.clone(),
        name: note.name.clone(),
        call: Some(note.node),
        result: None,
        is_error: false,
    }
}

fn of_answer(note: &AnswerNote, nodes: &[Node]) -> ToolUse {
    ToolUse {
        lane: nodes[note.node.index()].lane,
        id: note.id.clone().unwrap_or_default(),
        name: "".into(),
        call: None,
        result: Some(note.node),
        is_error: note.is_error,
    }
}

/// The calls of all files by id, during pairing.
struct CallsById<'l> {
    loaded: &'l LoadedEntries,
    by_id: HashMap<(FileIndex, &'l str), SameId>,
}

/// The calls of one file with the same id, as numbers of notes.
#[derive(Default)]
struct SameId {
    /// Calls without a result, in order.
    open: VecDeque<u32>,
    /// The last call that was paired.
    answered: Option<u32>,
}

impl<'l> CallsById<'l> {
    fn of(loaded: &'l LoadedEntries) -> Self {
        let mut by_id: HashMap<_, SameId> = HashMap::new();
        for (index, note) in (0_u32..).zip(&loaded.calls) {
            let file = loaded.nodes[note.node.index()].file;
            by_id.entry((file, &*note.id)).or_default().open.push_back(index);
        }
        CallsById { loaded, by_id }
    }

    /// The call in the entry that a result names, or else in its parent.
    fn named_by(&mut self, answer: &'l AnswerNote) -> Option<u32> {
        let node = &self.loaded.nodes[answer.node.index()];
        let id = answer.id.as_deref()?;
        // A sub-agent that continues from an entry of the main file may begin with the result of a call
        // there.
        let file = if self.by_id.contains_key(&(node.file, id)) {
            node.file
        } else {
            self.loaded.nodes[node.parent?.index()].file
        };
        let same = self.by_id.get_mut(&(file, id))?;
        let notes = &self.loaded.calls;
        let of_entry = |entry: NodeId| {
            let numbers = (0_u32..).zip(notes).skip(notes.partition_point(|note| note.node < entry));
            let of_entry = numbers.take_while(move |(_, note)| note.node == entry);
            of_entry.filter(|(_, note)| Some(&*note.id) == answer.id.as_deref()).map(|(index, _)| index)
        };
        let index = answer.source.into_iter().chain(node.parent).find_map(|entry| {
            let is_open = |index: &u32| same.open.binary_search(index).is_ok();
            of_entry(entry).find(is_open).or_else(|| of_entry(entry).next())
        })?;
        same.answer(index);
        Some(index)
    }

    /// The nearest call with that id before a result that has none, or else the nearest after it; the first
    /// of several in one entry. A surplus result belongs to the last call.
    fn nearest(&mut self, answer: &'l AnswerNote) -> Option<u32> {
        let file = self.loaded.nodes[answer.node.index()].file;
        let same = self.by_id.get_mut(&(file, answer.id.as_deref()?))?;
        let notes = &self.loaded.calls;
        let after = same.open.partition_point(|index| notes[*index as usize].node < answer.node);
        let nearest = same.open.get(after.saturating_sub(1)).map(|index| notes[*index as usize].node);
        let first_of = |node| same.open.partition_point(|index| notes[*index as usize].node < node);
        let index = nearest.and_then(|node| same.open.get(first_of(node)).copied()).or(same.answered)?;
        same.answer(index);
        Some(index)
    }
}

impl SameId {
    fn answer(&mut self, index: u32) {
        if let Ok(at) = self.open.binary_search(&index) {
            self.open.remove(at);
        }
        self.answered = Some(index);
    }
}

/// Calls and results of one lane without ids, as far as they have been read.
#[derive(Default)]
struct Batch {
    /// Calls without a result, in order.
    open: BTreeSet<u32>,
    results: Vec<NodeId>,
}

/// Pairs calls and results without ids: a result belongs to the call that is its parent, or if several
/// results share a parent, to the first call without a result.
fn by_order(loaded: &LoadedEntries, uses: &mut [ToolUse]) -> Vec<(u32, NodeId)> {
    let nodes = &loaded.nodes;
    let mut calls: HashMap<NodeId, u32> = HashMap::new();
    for (index, tool) in (0_u32..).zip(uses.iter()) {
        if let Some(call) = tool.call
            && tool.result.is_none()
            && nodes[call.index()].uuid.as_deref() == Some(&*tool.id)
        {
            calls.insert(call, index);
        }
    }
    if calls.is_empty() {
        return Vec::new();
    }
    let without_id: HashSet<NodeId> =
        loaded.answers.iter().filter(|note| note.id.is_none()).map(|note| note.node).collect();
    let mut batches: HashMap<LaneId, Batch> = HashMap::new();
    let mut paired = Vec::new();
    for (id, node) in (0_u32..).map(NodeId).zip(nodes) {
        let batch = batches.entry(node.lane).or_default();
        // An error right below a call is its outcome.
        let answers = without_id.contains(&id)
            || (node.part == EntryRole::Error
                && node.parent.is_some_and(|parent| calls.contains_key(&parent)));
        if answers {
            batch.results.push(id);
        } else if node.part == EntryRole::Response {
            batch.settle(nodes, &calls, &mut paired);
            if let Some(index) = calls.get(&id) {
                batch.open.insert(*index);
            }
        }
    }
    for batch in batches.values_mut() {
        batch.settle(nodes, &calls, &mut paired);
    }
    paired.sort_unstable();
    for (index, result) in &paired {
        let tool = &mut uses[*index as usize];
        tool.result = Some(*result);
        tool.is_error = nodes[result.index()].is_error();
    }
    paired
}

impl Batch {
    fn settle(&mut self, nodes: &[Node], calls: &HashMap<NodeId, u32>, paired: &mut Vec<(u32, NodeId)>) {
        let results = std::mem::take(&mut self.results);
        let parent =
            |id: &NodeId| calls.get(&nodes[id.index()].parent?).filter(|call| self.open.contains(call));
        let by_parent: HashMap<u32, NodeId> =
            results.iter().filter_map(|id| Some((*parent(id)?, *id))).collect();
        if by_parent.len() == results.len() {
            for (call, result) in by_parent {
                self.open.remove(&call);
                paired.push((call, result));
            }
        } else {
            paired.extend(results.into_iter().map_while(|id| Some((self.open.pop_first()?, id))));
        }
    }
}

fn report(uses: &[ToolUse], nodes: &[Node]) -> Vec<(FileIndex, Finding)> {
    let mut findings = Vec::new();
    for tool in uses {
        let (rule, severity, at, message) = match (tool.call, tool.result) {
            (Some(call), None) => {
                let message = format!("The tool call has no result: `{}`", tool.name);
                (rules::TOOL_RESULT_MISSING, Severity::Note, call, message)
            }
            (None, Some(result)) => {
                let message = format!("The call of this result is not in the file: `{}`", tool.id);
                (rules::TOOL_CALL_MISSING, Severity::Warning, result, message)
            }
            _ => continue,
        };
        let node = &nodes[at.index()];
        findings.push((node.file, rules::finding(rule, severity, node, message)));
    }
    findings
}
