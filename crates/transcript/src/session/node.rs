//! The index data of an entry, and its role in the conversation.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use jiff::Timestamp;
use tidings_protocol::entry::{EntryKind, EntryRef};

use crate::Position;
use crate::limits::NAME_BYTES_MAX;

/// An entry of a [`Session`](super::Session). Ids follow the order of files and, within a file, of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// A file of a session; the main one is the first, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub(super) u32);

/// A conversation: the main one, or that of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub(super) u32);

impl NodeId {
    /// Index into [`Session::nodes`](super::Session::nodes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FileIndex {
    /// Index into [`Session::files`](super::Session::files).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LaneId {
    /// The main lane.
    pub const MAIN: LaneId = LaneId(0);

    /// Index into [`Session::lanes`](super::Session::lanes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The index data of an entry, available without reading it again.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its file.
    pub file: FileIndex,
    /// Its position in the file. Of several copies, the one that counts.
    pub place: Position,
    /// Its `type`.
    pub kind: EntryKind,
    /// Its role in the conversation.
    pub part: EntryRole,
    /// Its uuid, unique in its file.
    pub uuid: Option<Arc<str>>,
    /// The entry that it follows by `parentUuid`, or by position if the file has no such key. `None` for
    /// roots, for entries with a missing parent, and where a cycle was cut.
    pub parent: Option<NodeId>,
    /// The conversation that it belongs to.
    pub lane: LaneId,
    /// The API response that it is a part of; equal numbers within a session mean equal `message.id`s.
    pub response: Option<u32>,
    /// Timestamp, if it is valid.
    pub at: Option<Timestamp>,
    pub(super) flags: u16,
}

/// The role of an entry in the conversation.
///
/// The enum is exhaustive: code that handles every role does not compile when one is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryRole {
    /// A prompt of the user, or in a sub-agent's lane of the model that started it.
    Prompt,
    /// A slash command of the user.
    Command,
    /// The output of a slash command or shell command of the user.
    CommandOutput,
    /// The user interrupted the model.
    Interruption,
    /// A report of a background task or another agent.
    Notification,
    /// A tool result.
    ToolResult,
    /// Text that the client added for the model.
    Injected,
    /// A part of a response: text, thinking, tool calls.
    Response,
    /// A step of a compaction.
    Compaction,
    /// The summary of everything before a compaction.
    CompactSummary,
    /// An error.
    Error,
    /// An event.
    Event,
    /// Context for the model beside the conversation.
    Attachment,
    /// Progress of a tool.
    Progress,
    /// An unknown kind.
    Other,
}

impl EntryRole {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryRole::Prompt => "prompt",
            EntryRole::Command => "command",
            EntryRole::CommandOutput => "command-output",
            EntryRole::Interruption => "interruption",
            EntryRole::Notification => "notification",
            EntryRole::ToolResult => "tool-result",
            EntryRole::Injected => "injected",
            EntryRole::Response => "response",
            EntryRole::Compaction => "compaction",
            EntryRole::CompactSummary => "compact-summary",
            EntryRole::Error => "error",
            EntryRole::Event => "event",
            EntryRole::Attachment => "attachment",
            EntryRole::Progress => "progress",
            EntryRole::Other => "other",
        }
    }

    /// Returns true if a second child of this kind makes a branch. All others are links of a chain, or hang
    /// beside one.
    pub fn makes_branches(self) -> bool {
        matches!(self, EntryRole::Prompt | EntryRole::Command | EntryRole::Response)
    }

    /// Returns true if a turn begins here.
    pub fn begins_turns(self) -> bool {
        matches!(self, EntryRole::Prompt | EntryRole::Command | EntryRole::Notification)
    }
}

impl fmt::Display for EntryRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Declares the bits of [`Node::flags`] and a method for each.
macro_rules! flags {
    ($( $(#[$meta:meta])* $name:ident $CONST:ident = $bit:literal; )+) => {
        $( pub(super) const $CONST: u16 = 1 << $bit; )+

        impl Node {
            $(
                $(#[$meta])*
                pub fn $name(&self) -> bool {
                    self.flags & $CONST != 0
                }
            )+
        }
    };
}

flags! {
    /// True if it is marked as part of a sidechain.
    is_sidechain SIDECHAIN = 0;
    /// True if the client wrote it for the model and not for the user.
    is_meta META = 1;
    /// True for an error of the API or a tool.
    is_error ERROR = 2;
    /// True if it was removed from the conversation, although it is still in the file.
    is_deleted DELETED = 3;
    /// True if it was cut short.
    is_aborted ABORTED = 4;
    /// True if it calls tools.
    calls_tools CALLS = 5;
    /// True if it has text to show.
    has_text TEXT = 6;
    /// True if it was salvaged from a damaged line.
    is_salvaged SALVAGED = 7;
    /// True if an explicit mark makes its branch the active one.
    is_marked_active MARKED_ACTIVE = 8;
    /// True if its parent is missing, so that it begins a disconnected part.
    is_orphan ORPHAN = 9;
    /// True if a cycle of parents was cut here.
    is_cut CUT = 10;
    /// True if the file has several copies of it.
    is_repeated REPEATED = 11;
    /// True if it requests a compaction.
    asks_to_compact ASKS_TO_COMPACT = 12;
    /// True if it calls a tool that starts sub-agents.
    delegates DELEGATES = 13;
    /// True if the client wrote it in the model's name (model `<synthetic>`).
    is_synthetic SYNTHETIC = 14;
}

/// The form of a name that the index stores. Names have a few dozen bytes; a far longer one is replaced by
/// its beginning and a hash, so that the index does not grow with the bytes of a hostile file.
pub(super) fn short(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_BYTES_MAX {
        return name.into();
    }
    let mut end = NAME_BYTES_MAX / 2;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}#{:016x}", &name[..end], hash(name)).into()
}

/// An entry's own uuid; `None` if it is empty.
pub(super) fn uuid<'a>(entry: &EntryRef<'a>) -> Option<Cow<'a, str>> {
    entry.uuid().filter(|uuid| !uuid.is_empty())
}

/// A hash that is the same in every run.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
