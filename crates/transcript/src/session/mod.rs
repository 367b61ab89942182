//! A session as a tree: which entry follows which, who speaks, what belongs together.
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
//! A [`Session`] is an index: it grows with the number of lines and not with their length, and reads an entry from its
//! file when it is asked for.

mod actor;
mod branch;
mod commands;
mod compactions;
mod flow;
mod lane;
mod node;
mod side;
mod tools;

use tidings_protocol::entry::{Dialect, Entry};

pub use actor::Actor;
pub use branch::{Branch, BranchState, View};
pub use commands::CommandTags;
pub use compactions::{Compaction, Trigger};
pub use flow::{Flow, Turn};
pub use lane::{Agent, Join, Lane};
pub use node::{FileIndex, LaneId, Node, NodeId, Part};
pub use side::{SideRecord, SideRecords};
pub use tools::ToolUse;

use crate::roots::{FileInfo, SessionFiles};
use crate::{Error, Finding, Place};

/// A session, loaded.
#[derive(Debug)]
pub struct Session {
    id: String,
    files: Vec<FileInfo>,
    nodes: Vec<Node>,
    lanes: Vec<Lane>,
    tools: Vec<ToolUse>,
    compactions: Vec<Compaction>,
    side: SideRecords,
    findings: Vec<(FileIndex, Finding)>,
    counts: LineCounts,
    dialect: Option<Dialect>,
}

/// How many lines of which sort a session has. `lines` is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LineCounts {
    /// All.
    pub lines: u64,
    /// Whole entries.
    pub entries: u64,
    /// Damaged ones.
    pub damaged: u64,
    /// White space only.
    pub blank: u64,
}

impl Session {
    /// Reads all files of a session once.
    ///
    /// Damage inside them is no error but a [`Finding`].
    pub fn open(files: &SessionFiles) -> Result<Session, Error> {
        Ok(Session {
            id: files.id.clone(),
            files: files.files().cloned().collect(),
            nodes: Vec::new(),
            lanes: vec![Lane::default()],
            tools: Vec::new(),
            compactions: Vec::new(),
            side: SideRecords::default(),
            findings: Vec::new(),
            counts: LineCounts::default(),
            dialect: None,
        })
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its files, the main one first.
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// All entries of the tree; lines without a uuid are in [`Session::side`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids of all entries.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// What is known of an entry.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The entry of that uuid in the file that a lane stands in.
    pub fn by_uuid(&self, lane: LaneId, uuid: &str) -> Option<NodeId> {
        let file = self.lane(lane).file?;
        self.ids().find(|id| self.node(*id).file == file && self.node(*id).uuid.as_deref() == Some(uuid))
    }

    /// Reads an entry from its file.
    pub fn entry(&self, _id: NodeId) -> Result<Entry, Error> {
        Err(Error::new(crate::ErrorKind::NotFound, "not built yet", ""))
    }

    /// Reads a line without a place in the tree from its file.
    pub fn side_entry(&self, _record: &SideRecord) -> Result<Entry, Error> {
        Err(Error::new(crate::ErrorKind::NotFound, "not built yet", ""))
    }

    /// Where all copies of an entry stand, in the order of the file.
    pub fn places(&self, id: NodeId) -> Vec<Place> {
        vec![self.node(id).place]
    }

    /// The conversations: the main one first, even where it is empty, then one per sub-agent.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// A conversation.
    pub fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }

    /// The sub-agents that an entry started.
    pub fn lanes_of(&self, _call: NodeId) -> Vec<LaneId> {
        Vec::new()
    }

    /// All ways through a lane, the active one first, then by where they begin.
    pub fn branches(&self, _lane: LaneId) -> Vec<Branch> {
        Vec::new()
    }

    /// The entry that the conversation goes on from.
    pub fn active_leaf(&self, _lane: LaneId) -> Option<NodeId> {
        None
    }

    /// The entries from a root to `leaf`, with parallel tool calls and what hangs beside the way put back.
    pub fn path(&self, _leaf: NodeId, _view: View) -> Vec<NodeId> {
        Vec::new()
    }

    /// A path cut at its compactions: each piece but the first begins with one.
    pub fn epochs<'p>(&self, path: &'p [NodeId]) -> Vec<&'p [NodeId]> {
        vec![path]
    }

    /// A path cut at its prompts.
    pub fn turns(&self, _path: &[NodeId]) -> Vec<Turn> {
        Vec::new()
    }

    /// Who speaks in an entry.
    pub fn actor(&self, _id: NodeId) -> Actor<'_> {
        Actor::System
    }

    /// The flow that an entry is a step of.
    pub fn flow(&self, _id: NodeId) -> Flow {
        Flow::Linear
    }

    /// All tool calls with their results, in the order of calls.
    pub fn tools(&self) -> &[ToolUse] {
        &self.tools
    }

    /// The tools that an entry calls.
    pub fn calls_of(&self, _id: NodeId) -> impl Iterator<Item = &ToolUse> {
        self.tools.iter()
    }

    /// The calls whose results stand in an entry.
    pub fn results_of(&self, _id: NodeId) -> impl Iterator<Item = &ToolUse> {
        self.tools.iter()
    }

    /// All compactions, by file and place.
    pub fn compactions(&self) -> &[Compaction] {
        &self.compactions
    }

    /// What the lines without a place in the tree say.
    pub fn side(&self) -> &SideRecords {
        &self.side
    }

    /// Damaged lines, missing parents, repeated ids and the like, by file and place.
    pub fn findings(&self) -> &[(FileIndex, Finding)] {
        &self.findings
    }

    /// How many lines there are.
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// The dialect that most entries follow; `None` without entries.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }
}
