//! The first pass: collects the records of a file with their positions.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};

use memchr::memmem;
use tidings_protocol::entry::{EntryKind, EntryRef};

use crate::Position;
use crate::blocks::Buffer;
use crate::check::links::Links;
use crate::check::names::NameId;
use crate::check::other_files::OtherFiles;
use crate::check::pairing::EntryTools;
use crate::reader::{Content, DamageKind, Reader};

/// The contents of a file, as far as needed for a repair.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) links: Links,
    /// Numbers of entries with invalid UTF-8.
    pub(super) garbled: HashSet<usize>,
    /// Tool calls and results of entries, by number.
    pub(super) tools: HashMap<usize, EntryTools>,
    /// Logical parents of compaction boundaries, by number.
    pub(super) logical: HashMap<usize, NameId>,
    /// Number of entries, inside and outside of the tree, and of lines that are too long to read.
    kept_lines: u64,
    /// Lines that name a leaf to resume from.
    pub(super) leaves: Vec<Leaf>,
    /// Names in lines that are too long to read, or in the session's other files: they exist, though not
    /// here.
    pub(super) hidden: HiddenNames,
}

/// Names in lines that are too long to read, and in the session's other files.
#[derive(Debug, Default)]
pub(super) struct HiddenNames {
    /// Uuids of entries.
    pub(super) uuids: HashSet<Box<[u8]>>,
    /// Ids of answered tool calls.
    pub(super) answered: HashSet<Box<[u8]>>,
    /// Ids of tool calls, among other things with ids.
    pub(super) called: HashSet<Box<[u8]>>,
}

/// A leaf to resume from.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) place: Position,
    pub(super) name: NameId,
    /// Number of entries of the tree before it.
    pub(super) before: usize,
}

impl Survey {
    /// Reads the first `len` bytes of a file.
    pub(super) fn of(file: &mut File, len: u64, buffer: &mut Buffer) -> io::Result<Self> {
        let mut survey = Survey::default();
        let mut oversized = Vec::new();
        file.rewind()?;
        let mut reader = Reader::new((&mut *file).take(len), buffer);
        while let Some(line) = reader.next()? {
            match line.content {
                Content::Blank => {}
                Content::Entry(entry) => survey.entry(&entry, line.place),
                Content::Damaged(damage) if damage.kind == DamageKind::Oversized => {
                    survey.kept_lines += 1;
                    oversized.push(line.place);
                }
                Content::Damaged(damage) => {
                    for saved in damage.salvaged {
                        if saved.entry.is_damaged() {
                            survey.garbled.insert(survey.links.list.len());
                        }
                        survey.entry(&saved.entry.as_ref(), saved.place);
                    }
                }
            }
        }
        for place in oversized {
            survey.collect_names(file, place)?;
        }
        Ok(survey)
    }

    /// Returns true if the file has anything that a copy would keep: an entry, or a line that is too long to
    /// read.
    pub(super) fn has_content(&self) -> bool {
        self.kept_lines > 0
    }

    /// Adds the names in the session's other files: references to them are valid.
    pub(super) fn add_other_files(&mut self, names: OtherFiles) {
        let bytes = |name: Box<str>| name.into_boxed_bytes();
        self.hidden.uuids.extend(names.uuids.into_iter().map(bytes));
        self.hidden.called.extend(names.called.into_iter().map(bytes));
        self.hidden.answered.extend(names.answered.into_iter().map(bytes));
    }

    fn entry(&mut self, entry: &EntryRef<'_>, place: Position) {
        self.kept_lines += 1;
        if let Some(number) = self.links.add(entry, place) {
            let tools = EntryTools::of(entry);
            if !tools.is_empty() {
                self.tools.insert(number, tools);
            }
            if let Some(parent) = entry.logical_parent_uuid() {
                self.logical.insert(number, self.links.names.of(&parent));
            }
        } else if entry.kind() == EntryKind::LastPrompt
            && let Some(leaf) = entry.leaf_uuid()
        {
            let name = self.links.names.of(&leaf);
            self.leaves.push(Leaf { place, name, before: self.links.list.len() });
        }
    }

    /// Collects possible names in a line that is too long.
    fn collect_names(&mut self, file: &mut File, place: Position) -> io::Result<()> {
        const WINDOW_BYTES: u64 = 1 << 20;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut source = file.take(place.bytes);
        let mut window = Vec::new();
        while source.by_ref().take(WINDOW_BYTES).read_to_end(&mut window)? > 0 {
            self.hidden.uuids.extend(values(&window, b"\"uuid\""));
            self.hidden.answered.extend(values(&window, b"\"tool_use_id\""));
            self.hidden.called.extend(values(&window, b"\"id\""));
            // A name that the window cuts is whole in the next one.
            let keep = window.len().saturating_sub(3 * NAME_BYTES_MAX);
            window.drain(..keep);
        }
        Ok(())
    }
}

/// The longest name that is searched for; uuids have 36 bytes, ids of calls about 30.
const NAME_BYTES_MAX: usize = 128;

/// The text values of a key, wherever it occurs; JSON may have blanks around its colon.
fn values<'a>(text: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = Box<[u8]>> + 'a {
    memmem::find_iter(text, key).filter_map(move |at| {
        let rest = &text[at + key.len()..];
        let rest = rest[..rest.len().min(2 * NAME_BYTES_MAX)].trim_ascii_start();
        let value = rest.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
        let len = memchr::memchr(b'"', &value[..value.len().min(NAME_BYTES_MAX)])?;
        Some(value[..len].into())
    })
}
