//! Where the bytes are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;

use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::view::Block;

use crate::Error;
use crate::belongings::{Belongings, Part};
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Reader};
use crate::roots::SessionFiles;

/// Bytes, and how many files or lines they are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Bytes.
    pub bytes: u64,
    /// Files, or lines where it is about kinds of entries.
    pub count: u64,
}

impl Weight {
    fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.count += 1;
    }
}

/// What one session takes.
#[derive(Debug, Default)]
pub struct SessionWeight {
    /// All of its files.
    pub total: Weight,
    /// By what the files are for.
    pub parts: BTreeMap<Part, Weight>,
    /// What could not be looked at.
    pub unreadable: Vec<Error>,
}

/// Measures the files of a session without looking inside.
pub fn weigh(session: &SessionFiles) -> SessionWeight {
    let belongings = Belongings::of(session);
    let mut weight = SessionWeight { unreadable: belongings.unreadable, ..SessionWeight::default() };
    for file in &belongings.files {
        weight.total.add(file.bytes);
        weight.parts.entry(file.part).or_default().add(file.bytes);
    }
    weight
}

/// How many bytes each kind of entry takes, line ends included.
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

    /// The kinds, the heaviest first.
    pub fn heaviest(&self) -> Vec<(&str, Weight)> {
        let mut kinds: Vec<_> = self.0.iter().map(|(kind, weight)| (kind.as_str(), *weight)).collect();
        kinds.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(b.0)));
        kinds
    }
}

/// The name of a kind, with what tells large ones from small ones.
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
