use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use jiff::Timestamp;
use tidings_protocol::entry::{EntryKind, EntryRef};

use crate::Place;
use crate::limits::NAME_BYTES_MAX;

/// An entry of a [`Session`](super::Session). Ids follow the order of files and, within a file, of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// A file of a session; the main one is the first, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub(super) u32);

/// A line of conversation: the main one, or that of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub(super) u32);

impl NodeId {
    /// As an index into [`Session::nodes`](super::Session::nodes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FileIndex {
    /// As an index into [`Session::files`](super::Session::files).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LaneId {
    /// The main line.
    pub const MAIN: LaneId = LaneId(0);

    /// As an index into [`Session::lanes`](super::Session::lanes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of an entry without reading it again.
#[derive(Debug, Clone)]
pub struct Node {
    /// The file that it stands in.
    pub file: FileIndex,
    /// Where it stands there. Of several copies, the one that counts.
    pub place: Place,
    /// Its `type`.
    pub kind: EntryKind,
    /// What it is in the conversation.
    pub part: Part,
    /// Its own id, unique in its file.
    pub uuid: Option<Arc<str>>,
    /// The entry that it follows by `parentUuid`, or by its place where the file has no such key. `None` for roots,
    /// for entries whose parent is not in the file, and where a circle was cut.
    pub parent: Option<NodeId>,
    /// The conversation that it belongs to.
    pub lane: LaneId,
    /// The API response that it is a piece of; equal numbers within a session mean equal `message.id`s.
    pub response: Option<u32>,
    /// When it was made, where that can be read.
    pub at: Option<Timestamp>,
    pub(super) flags: u16,
}

/// What an entry is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// What a person said, or in a sub-agent's line the model that started it.
    Prompt,
    /// A slash command that a person gave.
    Command,
    /// What a slash command or a shell command of a person printed.
    CommandOutput,
    /// A person stopped the model.
    Interruption,
    /// A task in the background, or another agent, reports.
    Notification,
    /// What a tool gave back.
    ToolResult,
    /// Text that the client put before the model.
    Injected,
    /// A piece of a response: text, thinking, tool calls.
    Response,
    /// A step of a compaction.
    Compaction,
    /// The text that stands for everything before a compaction.
    CompactSummary,
    /// Something failed.
    Error,
    /// Something happened.
    Event,
    /// What the model is told beside the conversation.
    Attachment,
    /// How a tool goes.
    Progress,
    /// A kind that nobody knows.
    Other,
}

impl Part {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Prompt => "prompt",
            Part::Command => "command",
            Part::CommandOutput => "command-output",
            Part::Interruption => "interruption",
            Part::Notification => "notification",
            Part::ToolResult => "tool-result",
            Part::Injected => "injected",
            Part::Response => "response",
            Part::Compaction => "compaction",
            Part::CompactSummary => "compact-summary",
            Part::Error => "error",
            Part::Event => "event",
            Part::Attachment => "attachment",
            Part::Progress => "progress",
            Part::Other => "other",
        }
    }

    /// Whether a second child of this sort makes a branch. Everything else is a link of a chain, or hangs beside one.
    pub fn makes_branches(self) -> bool {
        matches!(self, Part::Prompt | Part::Command | Part::Response)
    }

    /// Whether a turn begins here.
    pub fn begins_turns(self) -> bool {
        matches!(self, Part::Prompt | Part::Command | Part::Notification)
    }
}

impl fmt::Display for Part {
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
    /// Whether it says of itself that it belongs to a sub-agent.
    is_sidechain SIDECHAIN = 0;
    /// Whether the client wrote it for the model and not for a person.
    is_meta META = 1;
    /// Whether it tells of an error: of the API, or of a tool.
    is_error ERROR = 2;
    /// Whether it was taken out of the conversation, though it is still in the file.
    is_deleted DELETED = 3;
    /// Whether it was cut short.
    is_aborted ABORTED = 4;
    /// Whether it calls tools.
    calls_tools CALLS = 5;
    /// Whether it has text to show.
    has_text TEXT = 6;
    /// Whether it was saved out of a damaged line.
    is_salvaged SALVAGED = 7;
    /// Whether an explicit mark says that its branch counts.
    is_marked_active MARKED_ACTIVE = 8;
    /// Whether its parent is named and is not in the file, so that it begins an island.
    is_orphan ORPHAN = 9;
    /// Whether a circle of parents was cut here.
    is_cut CUT = 10;
    /// Whether the file has it more than once.
    is_repeated REPEATED = 11;
    /// Whether it asks for a compaction.
    asks_to_compact ASKS_TO_COMPACT = 12;
    /// Whether it calls a tool that starts sub-agents.
    delegates DELEGATES = 13;
    /// Whether the client wrote it in the model's place (model `<synthetic>`).
    is_synthetic SYNTHETIC = 14;
}

/// A name as the index keeps it. Names have a few dozen bytes; what is far longer is recognised by its beginning and
/// a hash, so that the index does not grow with the bytes of a hostile file.
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

/// An entry's own name; an empty one names nothing.
pub(super) fn uuid<'a>(entry: &EntryRef<'a>) -> Option<Cow<'a, str>> {
    entry.uuid().filter(|uuid| !uuid.is_empty())
}

/// The same for equal texts in every run.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
