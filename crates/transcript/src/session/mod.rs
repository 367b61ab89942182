//! A session as a tree: parents, speakers, and groups of entries.
//!
//! ```no_run
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::session::{LaneId, Session, View};
//!
//! let files = Roots::new(["/home/dev/.claude"]).find("5a15c0fc")?;
//! let session = Session::open(&files)?;
//! if let Some(leaf) = session.active_leaf(LaneId::MAIN) {
//!     for node in session.path(leaf, View::Unified) {
//!         println!("{}: {}", session.actor(node), session.entry(node)?.text());
//!     }
//! }
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! A [`Session`] is an index: its size depends on the number of lines and not on their length. An entry is
//! read from its file on demand.

mod actor;
mod agents;
mod branch;
mod commands;
mod compactions;
mod entry_facts;
mod flow;
mod forest;
mod forks;
mod graph;
mod lane;
mod lanes;
mod load;
mod node;
mod parents;
pub mod rules;
mod side_records;
mod source;
mod tools;
mod units;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tidings_protocol::entry::{Dialect, Entry};

pub use actor::Actor;
pub use agents::call_of_agent;
pub use branch::{Branch, BranchState, View};
pub use commands::CommandTags;
pub use compactions::{Compaction, Trigger};
pub use flow::{Flow, Step, Turn};
pub use forks::{Fork, ForkSign, forks};
pub use graph::{Root, RootKind};
pub use lane::{Agent, Join, Lane};
pub use node::{EntryRole, FileIndex, LaneId, Node, NodeId};
pub use side_records::{SideRecord, SideRecords};
pub use tools::ToolUse;

use crate::error::At as _;
use crate::manage::{SessionDetails, SessionDetailsReader};
use crate::reader::EntryLines;
use crate::roots::{FileInfo, SessionFiles, no_such_session};
use crate::{Error, ErrorKind, Finding, Position, encoding};
use load::{LineOwner, LoadedEntries, Parent};
use source::EntryFiles;
use tools::ToolUses;
use units::Units;

/// A loaded session.
#[derive(Debug)]
pub struct Session {
    id: String,
    source: EntryFiles,
    nodes: Vec<Node>,
    by_uuid: Vec<HashMap<Arc<str>, NodeId>>,
    copies: Vec<(NodeId, Position)>,
    /// Parents that are named and do not exist.
    missing: Vec<(NodeId, Box<str>)>,
    lanes: Vec<Lane>,
    /// Lanes with the entries that started them.
    started: Vec<(NodeId, LaneId)>,
    units: Units,
    tools: ToolUses,
    compactions: Vec<Compaction>,
    side: SideRecords,
    labels: HashMap<NodeId, Arc<str>>,
    forked_from: Vec<(NodeId, Box<str>, Box<str>)>,
    foreign: Vec<(NodeId, Arc<str>)>,
    findings: Vec<(FileIndex, Finding)>,
    counts: LineCounts,
    dialect: Option<Dialect>,
    steps: OnceLock<Vec<(Flow, Step)>>,
}

/// Number of lines of each kind. `lines` is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LineCounts {
    /// All lines.
    pub lines: u64,
    /// Whole entries.
    pub entries: u64,
    /// Damaged lines.
    pub damaged: u64,
    /// White space only.
    pub blank: u64,
}

impl Session {
    /// Reads all files of a session once.
    ///
    /// Damage inside them is not an error but a [`Finding`].
    pub fn open(files: &SessionFiles) -> Result<Session, Error> {
        Session::load(files, EntryFiles::new(files.files().cloned().collect()), Vec::new())
    }

    /// A session of another agent: its main file, and the entries that were made from it.
    ///
    /// `findings` are about lines of the file that could not be read.
    pub fn of_lines(
        files: &SessionFiles,
        lines: EntryLines,
        findings: Vec<Finding>,
    ) -> Result<Session, Error> {
        let Some(main) = &files.main else { return Err(no_such_session(&files.id)) };
        Session::load(files, EntryFiles::in_memory(main.clone(), lines), findings)
    }

    fn load(files: &SessionFiles, source: EntryFiles, findings: Vec<Finding>) -> Result<Session, Error> {
        let main = files.main.is_some().then_some(FileIndex(0));
        let mut loaded = LoadedEntries::default();
        for index in 0..u32::try_from(source.files().len()).unwrap_or(u32::MAX) {
            let file = FileIndex(index);
            let lines = if Some(file) == main { LineOwner::OfMain } else { LineOwner::OfAgent };
            loaded.read(&files.id, file, lines, &source)?;
        }
        loaded.counts.lines += findings.len() as u64;
        loaded.counts.damaged += findings.len() as u64;
        loaded.findings.extend(findings.into_iter().map(|finding| (FileIndex(0), finding)));
        loaded.settle();
        parents::resolve(&mut loaded);
        let agents: Vec<Box<str>> = files.agents.iter().map(|agent| agent.agent_id.as_str().into()).collect();
        let mut lanes = lanes::assign(&mut loaded, main, &agents);
        let units = Units::of(&loaded);
        let tools = ToolUses::pair(&mut loaded);
        agents::join(&loaded, &tools, &mut lanes, &files.agents);
        let compactions = compactions::find(&loaded, &units);
        loaded.findings.sort_by_key(|(file, finding)| (*file, finding.place));
        let dialect = loaded.dialect();
        let missing = missing_parents(&loaded);
        Ok(Session {
            id: files.id.clone(),
            source,
            nodes: loaded.nodes,
            by_uuid: loaded.by_uuid,
            copies: loaded.copies,
            missing,
            started: agents::started(&lanes),
            lanes,
            units,
            tools,
            compactions,
            side: loaded.side,
            labels: loaded.labels,
            forked_from: loaded.forked_from,
            foreign: loaded.foreign,
            findings: loaded.findings,
            counts: loaded.counts,
            dialect,
            steps: OnceLock::new(),
        })
    }

    /// Returns an error if the session's files have lines and none of them is an entry: then they are not
    /// session files.
    pub fn require_entries(&self) -> Result<(), Error> {
        let damaged = self.counts.damaged > 0 && self.counts.entries == 0 && self.nodes.is_empty();
        let Some(file) = self.files().first().filter(|_| damaged) else { return Ok(()) };
        let mut opened = std::fs::File::open(&file.path).at("read", &file.path)?;
        let (what, hint) = if encoding::is_utf_16(&mut opened).at("read", &file.path)? {
            ("The file is UTF-16", encoding::UTF_16_HINT)
        } else {
            ("Not a session file", "give a file with one JSON object per line, or the id of a session")
        };
        let message = format!("{what}: `{}`", file.path.display());
        Err(Error::new(ErrorKind::Invalid, message, hint).about(&file.path))
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's title as lists show it: its title, the last prompt, a summary or the first prompt.
    pub fn title(&self) -> Option<String> {
        let is_in_file = self.source.memory().is_none();
        let main = self
            .lane(LaneId::MAIN)
            .file
            .filter(|_| is_in_file)
            .map(|file| self.files()[file.index()].path.as_path());
        let facts = main.and_then(|path| SessionDetailsReader::default().read(path).ok().flatten());
        let name = facts.as_ref().and_then(SessionDetails::name).or_else(|| self.side.title());
        name.filter(|title| !title.trim().is_empty()).map(str::to_owned)
    }

    /// Returns true for a session of another agent, whose entries are not the lines of its files.
    pub fn is_converted(&self) -> bool {
        self.source.memory().is_some()
    }

    /// Its files, the main one first.
    pub fn files(&self) -> &[FileInfo] {
        self.source.files()
    }

    /// All entries of the tree; lines without a uuid are in [`Session::side`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids of all entries.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// The index data of an entry.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The entry with that uuid in the file of a lane.
    pub fn by_uuid(&self, lane: LaneId, uuid: &str) -> Option<NodeId> {
        let file = self.lane(lane).file?;
        self.by_uuid[file.index()].get(&*node::short(uuid)).copied()
    }

    /// Reads an entry from its file.
    pub fn entry(&self, id: NodeId) -> Result<Entry, Error> {
        let node = self.node(id);
        let entry = self.source.read(node.file, node.place)?;
        let same = node::uuid(&entry.as_ref()).as_deref().map(node::short).as_deref() == node.uuid.as_deref();
        if same { Ok(entry) } else { Err(self.source.changed(node.file, node.place)) }
    }

    /// Reads a line outside of the tree from its file.
    pub fn side_entry(&self, record: &SideRecord) -> Result<Entry, Error> {
        self.source.read(record.file, record.place)
    }

    /// Positions of all copies of an entry, in the order of the file.
    pub fn places(&self, id: NodeId) -> Vec<Position> {
        let start = self.copies.partition_point(|(node, _)| *node < id);
        let others = self.copies[start..].iter().take_while(|(node, _)| *node == id).map(|(_, place)| *place);
        let mut places: Vec<Position> = others.chain([self.node(id).place]).collect();
        places.sort_unstable_by_key(|place| place.offset);
        places
    }

    /// The uuid of a missing parent.
    pub fn missing_parent(&self, id: NodeId) -> Option<&str> {
        let at = self.missing.binary_search_by_key(&id, |(node, _)| *node).ok()?;
        Some(&self.missing[at].1)
    }

    /// The conversations: the main one first, even if it is empty, then one per sub-agent.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// A conversation.
    pub fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }

    /// The ids of all conversations, the main one first.
    pub fn lane_ids(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..u32::try_from(self.lanes.len()).unwrap_or(u32::MAX)).map(LaneId)
    }

    /// The sub-agents that an entry started, in the order of lanes.
    pub fn lanes_of(&self, call: NodeId) -> impl Iterator<Item = LaneId> {
        let start = self.started.partition_point(|(node, _)| *node < call);
        self.started[start..].iter().take_while(move |(node, _)| *node == call).map(|(_, lane)| *lane)
    }

    /// Splits a path at its compactions: each part but the first begins with one.
    pub fn epochs<'p>(&self, path: &'p [NodeId]) -> Vec<&'p [NodeId]> {
        let mut epochs = Vec::new();
        let mut start = 0;
        for (index, id) in path.iter().enumerate() {
            if index > start && self.is_boundary(*id) {
                epochs.push(&path[start..index]);
                start = index;
            }
        }
        epochs.push(&path[start..]);
        epochs
    }

    /// All tool calls with their results, in the order of calls.
    pub fn tools(&self) -> &[ToolUse] {
        &self.tools.uses
    }

    /// The tool calls in an entry.
    pub fn calls_of(&self, id: NodeId) -> impl Iterator<Item = &ToolUse> {
        self.tools.calls_of(id)
    }

    /// The calls whose results are in an entry.
    pub fn results_of(&self, id: NodeId) -> impl Iterator<Item = &ToolUse> {
        self.tools.results_of(id)
    }

    /// All compactions, by file and position.
    pub fn compactions(&self) -> &[Compaction] {
        &self.compactions
    }

    /// The records outside of the tree.
    pub fn side(&self) -> &SideRecords {
        &self.side
    }

    /// Findings: damaged lines, missing parents, repeated ids and the like, by file and position.
    pub fn findings(&self) -> &[(FileIndex, Finding)] {
        &self.findings
    }

    /// Number of lines.
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// The dialect of most entries; `None` without entries.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Returns true if an entry begins an epoch.
    fn is_boundary(&self, id: NodeId) -> bool {
        self.compactions.binary_search_by_key(&id, |compaction| compaction.node).is_ok()
    }

    fn label(&self, id: NodeId) -> Option<&str> {
        self.labels.get(&id).map(|label| &**label)
    }

    /// An entry of the main line whose missing parent has this uuid.
    fn orphan_of(&self, uuid: &str) -> Option<NodeId> {
        let of_main = |id: NodeId| self.node(id).lane == LaneId::MAIN;
        self.missing.iter().find(|(id, name)| **name == *uuid && of_main(*id)).map(|(id, _)| *id)
    }
}

fn missing_parents(loaded: &LoadedEntries) -> Vec<(NodeId, Box<str>)> {
    let nodes = (0_u32..).map(NodeId).zip(loaded.nodes.iter().zip(&loaded.links));
    let missing = nodes.filter_map(|(id, (node, link))| match &link.parent {
        Parent::Named(uuid) if node.is_orphan() => Some((id, uuid.clone())),
        _ => None,
    });
    missing.collect()
}
