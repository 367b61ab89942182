//! The entries that make up a conversation according to the SDKs.
//!
//! Unlike `session`, this is a single path through the tree, chosen by the SDKs' rules, without anything from
//! before a compaction.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::lines::{EntryPosition, each_entry, is_transcript};
use super::parallel;
use crate::Error;

/// The properties of an entry that the rules use.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "marks of an entry that do not depend on each other")]
pub(super) struct ChainNode {
    pub(super) uuid: Box<str>,
    pub(super) parent: Option<Box<str>>,
    pub(super) kind: EntryKind,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    /// True if a team member wrote it.
    pub(super) is_team: bool,
    pub(super) agent: Option<Box<str>>,
    /// For an assistant entry, the response that it is a block of.
    pub(super) message_id: Option<Box<str>>,
    /// Ids of its tool calls.
    pub(super) calls: Vec<Box<str>>,
    /// Ids of the calls that its results answer.
    pub(super) answers: Vec<Box<str>>,
    pub(super) has_results: bool,
    /// For a result, the entry that called the tool.
    pub(super) source: Option<Box<str>>,
    pub(super) timestamp: Box<str>,
    pub(super) spot: EntryPosition,
}

/// The entries of a file that can be part of a conversation.
pub(super) fn nodes(path: &Path) -> Result<Vec<ChainNode>, Error> {
    let mut nodes = Vec::new();
    each_entry(path, |entry, spot| nodes.extend(ChainNode::of(entry, spot)))?;
    Ok(nodes)
}

impl ChainNode {
    fn of(entry: &EntryRef<'_>, spot: EntryPosition) -> Option<Self> {
        if !is_transcript(entry.kind()) {
            return None;
        }
        let text = |key: &str| entry.get(key).and_then(Raw::text).map(|text| Box::<str>::from(text.get()));
        let said = entry.message_view();
        let is_answer = entry.kind() == EntryKind::Assistant;
        let mut node = ChainNode {
            uuid: entry.uuid()?.into(),
            parent: entry.parent_uuid().filter(|parent| !parent.is_empty()).map(Into::into),
            kind: entry.kind(),
            is_sidechain: entry.is_sidechain(),
            is_meta: entry.is_meta(),
            is_team: text("teamName").is_some_and(|name| !name.is_empty()),
            agent: entry.agent_id().map(Into::into),
            message_id: said
                .message_id
                .map(Text::get)
                .filter(|id| is_answer && !id.is_empty())
                .map(Into::into),
            calls: Vec::new(),
            answers: Vec::new(),
            has_results: false,
            source: text("sourceToolAssistantUUID"),
            timestamp: entry.get("timestamp").and_then(Raw::text).map(Text::get).unwrap_or_default().into(),
            spot,
        };
        for block in said.content.into_iter().flat_map(Raw::items) {
            let id = |key: &str| block.get(key).and_then(Raw::text).map(|id| Box::<str>::from(id.get()));
            match block.get("type").and_then(Raw::text).map(Text::get).as_deref() {
                Some("tool_use") => node.calls.extend(id("id")),
                Some("tool_result") => {
                    node.has_results |= node.kind == EntryKind::User && node.parent.is_some();
                    node.answers.extend(id("tool_use_id"));
                }
                _ => {}
            }
        }
        Some(node)
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, EntryKind::User | EntryKind::Assistant)
    }
}

/// Nodes by uuid. Of two with one uuid the later counts.
pub(super) struct ByUuid<'n> {
    last: HashMap<&'n str, usize>,
    /// Every uuid once, in order of first occurrence.
    names: Vec<&'n str>,
}

impl<'n> ByUuid<'n> {
    pub(super) fn new(nodes: &'n [ChainNode]) -> Self {
        let mut by = ByUuid { last: HashMap::with_capacity(nodes.len()), names: Vec::new() };
        for (index, node) in nodes.iter().enumerate() {
            if by.last.insert(&node.uuid, index).is_none() {
                by.names.push(&node.uuid);
            }
        }
        by
    }

    pub(super) fn get(&self, uuid: &str) -> Option<usize> {
        self.last.get(uuid).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.names.iter().map(|name| self.last[name])
    }

    fn parent(&self, node: &ChainNode) -> Option<usize> {
        self.get(node.parent.as_deref()?)
    }
}

/// The conversation of a session: the path from its root to the last leaf in the file, with the side parts of
/// parallel tool calls.
pub(super) fn main_chain(nodes: &[ChainNode]) -> Vec<usize> {
    let by_uuid = ByUuid::new(nodes);
    let Some(leaf) = leaf(nodes, &by_uuid) else { return Vec::new() };
    let chain = path_to(leaf, nodes, &by_uuid);
    parallel::insert_missing(chain, nodes, &by_uuid)
}

/// The conversation of a sub-agent: the path to its last message.
pub(super) fn agent_chain(nodes: &[ChainNode]) -> Vec<usize> {
    let by_uuid = ByUuid::new(nodes);
    let leaf = nodes.iter().rposition(ChainNode::is_message);
    leaf.map(|leaf| path_to(leaf, nodes, &by_uuid)).unwrap_or_default()
}

fn leaf(nodes: &[ChainNode], by_uuid: &ByUuid<'_>) -> Option<usize> {
    let parents: HashSet<&str> = nodes.iter().filter_map(|node| node.parent.as_deref()).collect();
    let mut nearest = Nearest::new(nodes, by_uuid);
    let mut best: [Option<(usize, usize)>; 2] = [None, None];
    for (index, node) in nodes.iter().enumerate() {
        if parents.contains(&*node.uuid) {
            continue;
        }
        let Some(leaf) = (if node.is_message() { Some(index) } else { nearest.message(index) }) else {
            continue;
        };
        let node = &nodes[leaf];
        let aside = usize::from(node.is_sidechain || node.is_team || node.is_meta);
        let position = by_uuid.get(&node.uuid).unwrap_or(leaf);
        if best[aside].is_none_or(|(other, _)| position > other) {
            best[aside] = Some((position, leaf));
        }
    }
    best[0].or(best[1]).map(|(_, leaf)| leaf)
}

fn path_to(leaf: usize, nodes: &[ChainNode], by_uuid: &ByUuid<'_>) -> Vec<usize> {
    let mut seen = HashSet::new();
    let mut chain = Vec::new();
    let mut at = Some(leaf);
    while let Some(index) = at {
        if !seen.insert(&*nodes[index].uuid) {
            break;
        }
        chain.push(index);
        at = by_uuid.parent(&nodes[index]);
    }
    chain.reverse();
    chain
}

/// Finds the nearest message above a node, and stores it: many leaves may share one long path.
struct Nearest<'a, 'n> {
    nodes: &'n [ChainNode],
    by_uuid: &'a ByUuid<'n>,
    known: Vec<WalkStep>,
}

#[derive(Clone, Copy, PartialEq)]
enum WalkStep {
    Open,
    /// On the current walk: meeting it again is a cycle.
    Walked,
    Done(Option<usize>),
}

impl<'a, 'n> Nearest<'a, 'n> {
    fn new(nodes: &'n [ChainNode], by_uuid: &'a ByUuid<'n>) -> Self {
        Nearest { nodes, by_uuid, known: vec![WalkStep::Open; nodes.len()] }
    }

    fn message(&mut self, from: usize) -> Option<usize> {
        let mut walked = Vec::new();
        let mut at = Some(from);
        let found = loop {
            let Some(index) = at else { break None };
            match self.known[index] {
                WalkStep::Done(found) => break found,
                WalkStep::Walked => break None,
                WalkStep::Open => {}
            }
            if self.nodes[index].is_message() {
                break Some(index);
            }
            self.known[index] = WalkStep::Walked;
            walked.push(index);
            at = self.by_uuid.parent(&self.nodes[index]);
        };
        for index in walked {
            self.known[index] = WalkStep::Done(found);
        }
        found
    }
}
