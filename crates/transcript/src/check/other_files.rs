//! Names of entries and tool calls in the other files of a session.
//!
//! A conversation may pass through several files: a compaction and a suggested prompt are written by
//! sub-agents whose first entry follows an entry of the main file, and the main file may continue from one of
//! their entries.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::pairing::EntryTools;
use crate::blocks::Buffer;
use crate::reader::{Content, Reader};
use crate::roots::relatives_of;

/// Uuids and tool call ids in the other files of a session.
#[derive(Debug, Default)]
pub(crate) struct OtherFiles {
    /// Uuids of entries.
    pub(crate) uuids: HashSet<Box<str>>,
    /// Ids of tool calls.
    pub(crate) called: HashSet<Box<str>>,
    /// Ids of tool calls that have a result.
    pub(crate) answered: HashSet<Box<str>>,
}

impl OtherFiles {
    /// The names in the session's other files, except for those in `known`. Unreadable files are skipped.
    pub(crate) fn of(path: &Path, known: &[&Path]) -> Self {
        let mut names = OtherFiles::default();
        let same =
            |a: &Path, b: &Path| a == b || fs_err::canonicalize(a).ok() == fs_err::canonicalize(b).ok();
        let others: Vec<PathBuf> = relatives_of(path);
        for other in others.iter().filter(|other| !known.iter().any(|known| same(known, other))) {
            names.read(other);
        }
        names
    }

    fn read(&mut self, path: &Path) {
        let Ok(file) = File::open(path) else { return };
        let mut buffer = Buffer::default();
        let mut reader = Reader::new(file, &mut buffer);
        while let Ok(Some(line)) = reader.next() {
            match line.content {
                Content::Entry(entry) => self.entry(&entry),
                Content::Damaged(damage) => {
                    damage.salvaged.iter().for_each(|saved| self.entry(&saved.entry.as_ref()));
                }
                Content::Blank => {}
            }
        }
    }

    fn entry(&mut self, entry: &tidings_protocol::entry::EntryRef<'_>) {
        self.uuids.extend(entry.uuid().filter(|_| entry.is_chained()).map(Box::from));
        let (calls, answers) = EntryTools::of(entry).into_ids();
        self.called.extend(calls);
        self.answered.extend(answers);
    }
}
