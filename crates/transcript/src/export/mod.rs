//! Exports of a session: as text for a terminal, Markdown, one HTML file, JSON, or its own lines.
//!
//! ```no_run
//! use tidings_transcript::export::{Format, Options, export};
//! use tidings_transcript::redact::Redactor;
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::session::Session;
//!
//! let files = Roots::new(["/home/dev/.claude"]).find("5a15c0fc")?;
//! let session = Session::open(&files)?;
//! let mut redactor = Redactor::new();
//! let mut page = Vec::new();
//! export(&session, &files, Format::Markdown, &Options::default(), Some(&mut redactor), &mut page)?;
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! Everything is written entry by entry: memory holds the index of the session and one entry. Text from the
//! session cannot break out of its container: it is escaped in HTML, fenced in Markdown, and stripped of
//! terminal control sequences in text. With a [`Redactor`], the session is read twice: [`learn_secrets`]
//! collects its secrets, and every byte of an entry passes through the redactor before it is written; images
//! are left as they are.

mod cut;
mod diff;
mod entry_part;
#[cfg(feature = "html")]
mod html;
mod json;
mod learn;
mod lines;
mod markdown;
mod metadata;
mod outcome;
mod pretty;
mod sanitize;
mod source;
mod text;
mod walk;

use std::collections::HashSet;
use std::io::Write;

use jiff::tz::TimeZone;

#[cfg(feature = "html")]
pub use diff::unified_diff;
#[cfg(feature = "html")]
pub use html::{IndexedSession, index_page};
pub use json::{EntryJson, ResultJson, ToolJson};
pub use learn::learn_secrets;
pub use metadata::SessionMetadata;
pub use sanitize::{is_hidden, joins_emoji, safe_text};
pub use text::Style;

use crate::redact::Redactor;
use crate::roots::SessionFiles;
use crate::session::{LaneId, NodeId, Session, View};
use crate::{ChangedInputs, Error, ErrorKind};
use source::ExportSource;
use walk::ExportWalk;

/// The output format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Text for a terminal.
    Text(Style),
    /// GitHub-flavoured Markdown.
    Markdown,
    /// One self-contained HTML file.
    #[cfg(feature = "html")]
    Html,
    /// One JSON document: the session's metadata, and its entries.
    Json,
    /// One [`EntryJson`] per line.
    JsonLines,
    /// The session's own lines, byte for byte unless secrets are redacted; with [`Detail::Full`] also those
    /// of its sub-agents, which are marked as such.
    Lines,
}

/// The selection and form of an export.
#[derive(Debug, Clone)]
pub struct Options {
    /// Level of detail.
    pub detail: Detail,
    /// Visibility of sub-agents.
    pub agents: Agents,
    /// Selection of branches.
    pub branches: Branches,
    /// The full history, or the conversation as the model sees it after compactions.
    pub view: View,
    /// Time zone of displayed times.
    pub zone: TimeZone,
    /// A note before one of the entries, in text for a terminal.
    pub mark: Option<EntryMark>,
    /// Inputs that ran instead of those that the model asked for.
    pub changed_inputs: ChangedInputs,
}

/// A note before an entry, by which a reader finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryMark {
    /// The entry.
    pub node: NodeId,
    /// The note, a line of text.
    pub note: String,
}

/// The level of detail of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Messages; tools, thinking and long output shortened or folded.
    Folded,
    /// Everything, including text from the client to the model.
    Full,
}

/// Visibility of sub-agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agents {
    /// Inside the calls that started them.
    Shown,
    /// Only the calls and their results.
    Hidden,
}

/// Selection of branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branches {
    /// The active branch, [`Session::active_leaf`].
    Active,
    /// The branch that ends at this entry.
    One(NodeId),
    /// The active branch, and the others at their fork points.
    All,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            detail: Detail::Folded,
            agents: Agents::Shown,
            branches: Branches::Active,
            view: View::Unified,
            zone: TimeZone::UTC,
            mark: None,
            changed_inputs: ChangedInputs::default(),
        }
    }
}

/// Writes a session.
pub fn export(
    session: &Session,
    files: &SessionFiles,
    format: Format,
    options: &Options,
    mut redactor: Option<&mut Redactor>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if let Some(redactor) = redactor.as_deref_mut() {
        learn_secrets(session, files, options, redactor)?;
    }
    let mut source = ExportSource::new(session, files, &options.changed_inputs, redactor);
    if format == Format::Lines {
        return lines::write(&mut source, files, options, out);
    }
    let path = match options.branches {
        Branches::One(leaf) => session.path(leaf, options.view),
        Branches::Active | Branches::All => {
            session.active_leaf(LaneId::MAIN).map_or_else(Vec::new, |leaf| session.path(leaf, options.view))
        }
    };
    match format {
        Format::Text(style) => {
            let facts = SessionMetadata::read(&mut source, options, &path)?;
            let mut sink = text::TextSink::new(style, options, &facts);
            ExportWalk::new(&mut source, options, &mut sink, out).main(&path)
        }
        Format::Markdown => {
            let facts = SessionMetadata::read(&mut source, options, &path)?;
            let mut sink = markdown::MarkdownSink::new(options, &facts);
            ExportWalk::new(&mut source, options, &mut sink, out).main(&path)
        }
        #[cfg(feature = "html")]
        Format::Html => html::write(&mut source, options, &path, out),
        Format::Json => json::document(&mut source, options, &path, out),
        Format::JsonLines => json::lines(&mut source, options, &path, out),
        Format::Lines => Ok(()),
    }
}

/// The branches that an export leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HiddenBranches {
    /// Number of branches with entries that are not written.
    pub branches: usize,
    /// Number of those entries.
    pub entries: usize,
}

/// The branches of the main line that [`export`] leaves out with these options.
pub fn hidden_branches(session: &Session, branches: Branches) -> HiddenBranches {
    let leaf = match branches {
        Branches::One(leaf) => Some(leaf),
        Branches::Active => session.active_leaf(LaneId::MAIN),
        Branches::All => None,
    };
    let Some(leaf) = leaf else { return HiddenBranches::default() };
    let shown: HashSet<NodeId> = session.path(leaf, View::Unified).into_iter().collect();
    let mut hidden = HiddenBranches::default();
    for branch in session.branches(LaneId::MAIN) {
        let entries = session.own_path(&branch).iter().filter(|node| !shown.contains(node)).count();
        hidden.branches += usize::from(entries > 0);
        hidden.entries += entries;
    }
    hidden
}

/// Length of the shortest prefix of a uuid that identifies an entry.
const UUID_PART_MIN: usize = 4;

/// Finds the last entry of a branch by `name`: its number in [`Session::branches`], from 1 on, or the uuid
/// (or its beginning) of one of its entries.
pub fn find_branch(session: &Session, name: &str) -> Result<NodeId, Error> {
    let branches = session.branches(LaneId::MAIN);
    if let Ok(number) = name.parse::<usize>()
        && let Some(branch) = number.checked_sub(1).and_then(|index| branches.get(index))
    {
        return Ok(branch.leaf);
    }
    let hint = "`tidings sessions tree` lists the branches and their numbers";
    // A short number without a branch must not match a uuid by chance.
    let is_part = name.len() >= UUID_PART_MIN;
    let names = |node: &NodeId| {
        let uuid = session.node(*node).uuid.as_deref();
        uuid.is_some_and(|uuid| uuid == name || (is_part && uuid.starts_with(name)))
    };
    for branch in &branches {
        if names(&branch.leaf) || session.path(branch.leaf, View::Unified).iter().any(names) {
            return Ok(branch.leaf);
        }
    }
    let message = format!("No such branch: `{name}`; there are {}", branches.len());
    Err(Error::new(ErrorKind::NotFound, message, hint))
}
