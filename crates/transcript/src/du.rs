//! Disk usage of sessions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;

use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::view::Block;

use crate::Error;
use crate::all_files::{AllFiles, FilePurpose};
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Reader};
use crate::roots::SessionFiles;

/// A number of bytes, and of the files or lines that hold them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Bytes.
    pub bytes: u64,
    /// Number of files; number of lines for kinds of entries.
    pub count: u64,
}

impl Weight {
    fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.count += 1;
    }
}

/// Disk usage of one session.
#[derive(Debug, Default)]
pub struct SessionWeight {
    /// All of its files.
    pub total: Weight,
    /// Usage by purpose of the files.
    pub parts: BTreeMap<FilePurpose, Weight>,
    /// Errors about files and folders that could not be read.
    pub unreadable: Vec<Error>,
}

/// Sums the sizes of a session's files without reading them.
pub fn weigh(session: &SessionFiles) -> SessionWeight {
    let all_files = AllFiles::of(session);
    let mut weight = SessionWeight { unreadable: all_files.unreadable, ..SessionWeight::default() };
    for file in &all_files.files {
        weight.total.add(file.bytes);
        weight.parts.entry(file.part).or_default().add(file.bytes);
    }
    weight
}

/// Bytes of each kind of entry, line ends included.
#[derive(Debug, Default)]
pub struct Kinds(BTreeMap<String, Weight>);

impl Kinds {
    /// Adds the entries of a session and its sub-agents.
    pub fn add(&mut self, session: &SessionFiles, buffer: &mut Buffer) -> Result<(), Error> {
        for file in session.files() {
            let source = File::open(&file.path).at("read", &file.path)?;
            let mut reader = Reader::new(source, buffer);
            while let Some(line) = reader.next().at("read", &file.path)? {
                let kind = match &line.content {
                    Content::Entry(entry) => kind(entry),
                    Content::Damaged(_) => Cow::Borrowed("(damaged)"),
                    Content::Blank => Cow::Borrowed("(blank)"),
                };
                let bytes = line.place.bytes + 1;
                match self.0.get_mut(&*kind) {
                    Some(weight) => weight.add(bytes),
                    None => self.0.entry(kind.into_owned()).or_default().add(bytes),
                }
            }
        }
        Ok(())
    }

    /// The kinds, largest first.
    pub fn heaviest(&self) -> Vec<(&str, Weight)> {
        let mut kinds: Vec<_> = self.0.iter().map(|(kind, weight)| (kind.as_str(), *weight)).collect();
        kinds.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(b.0)));
        kinds
    }
}

/// The name of an entry's kind; attachments, tool calls and results are named separately, since their sizes
/// differ.
fn kind<'a>(entry: &EntryRef<'a>) -> Cow<'a, str> {
    match entry.kind() {
        EntryKind::Attachment => match entry.attachment_type() {
            Some(kind) => Cow::Owned(format!("attachment/{kind}")),
            None => entry.name(),
        },
        EntryKind::User => match entry.content_blocks().next() {
            Some(Block::ToolResult { .. }) => Cow::Borrowed("user/tool_result"),
            _ => Cow::Borrowed("user"),
        },
        EntryKind::Assistant => Cow::Borrowed(match entry.content_blocks().next() {
            Some(Block::ToolUse { .. }) => "assistant/tool_use",
            Some(Block::Thinking(_)) => "assistant/thinking",
            _ => "assistant",
        }),
        _ => entry.name(),
    }
}
