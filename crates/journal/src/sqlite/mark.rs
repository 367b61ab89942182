//! The mark: a file beside the journal that identifies the journal's file, so that a copy in its place is
//! detected.
//!
//! A copy lacks the events that were published after it was made. It would give the same numbers to other
//! events in the same epoch, and a reader that saw more would never get them. Metadata of the file system is
//! not copied: the number of the file, and the times of its creation and last change. A false alarm costs
//! little: in another epoch a reader still resumes from whatever the journal has.

use std::fs::Metadata;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tidings_base::files;

use super::open::{private_file, with_suffix};
use crate::limits::PRIVATE_FILE_BYTES_MAX;
use crate::opening::LastStop;

/// The mark beside a journal, and the state of the journal's files before they are opened.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that was looked at, and they do not exclude each other"
)]
pub(super) struct Mark {
    /// True if a journal was here before.
    is_noted: bool,
    /// True if there is a file, and something is in it or in its log.
    is_there: bool,
    /// The name of the journal that was here. Marks of earlier versions do not have it.
    journal: Option<String>,
    is_same_file: bool,
    /// True if it was not changed since it was closed.
    is_as_closed: bool,
    /// True if a process that did not close it has left its log.
    has_log: bool,
}

/// Whether the journal is as its heads say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadsMatch {
    Exact,
    Unknown,
}

impl Mark {
    /// Reads the mark and inspects the files before they are opened: opening changes them.
    pub(super) fn read(journal: &Path) -> Self {
        let noted = files::read_text(&mark_path(journal), PRIVATE_FILE_BYTES_MAX).unwrap_or_default();
        let (is_noted, name_noted) = (!noted.trim().is_empty(), journal_of(&noted));
        let mut noted = noted.lines().filter(|line| !line.starts_with(JOURNAL));
        let found = std::fs::symlink_metadata(journal).ok();
        let has_log = std::fs::symlink_metadata(with_suffix(journal, "-wal")).is_ok_and(|log| log.len() > 0);
        let is = |noted: Option<&str>, found: Option<String>| noted.is_some() && noted == found.as_deref();
        Mark {
            is_noted,
            is_there: has_log || found.as_ref().is_some_and(|found| found.len() > 0),
            journal: name_noted,
            is_same_file: is(noted.next(), found.as_ref().map(name)),
            is_as_closed: is(noted.next(), found.as_ref().map(state)),
            has_log,
        }
    }

    /// True if this is not the file that was left. A process that did not close the journal has left a log,
    /// which no copy has, or has emptied it; then the heads tell.
    pub(super) fn is_another(&self, stop: LastStop, heads: HeadsMatch) -> bool {
        let as_left = match stop {
            LastStop::Clean => self.is_as_closed,
            LastStop::Unclean => self.has_log || heads == HeadsMatch::Exact,
        };
        !(self.is_same_file && as_left)
    }

    /// True if there was a journal, and now there is no file or an empty one.
    pub(super) fn is_missing(&self) -> bool {
        self.is_noted && !self.is_there
    }

    /// True if there was a journal.
    pub(super) fn is_noted(&self) -> bool {
        self.is_noted
    }

    /// True if the journal that was here had another name. A backup has the name of its journal.
    pub(super) fn is_of_another(&self, name: &str) -> bool {
        self.journal.as_ref().is_some_and(|noted| noted != name)
    }

    /// Records the open file and the name of its journal. The state of the last close may stay in the mark:
    /// it is ignored while the file is open, and it does not match once the file was written to.
    pub(super) fn opened(&self, journal: &Path, name_of_journal: &str) -> io::Result<()> {
        if self.is_same_file && self.journal.as_deref() == Some(name_of_journal) {
            return Ok(());
        }
        let found = std::fs::symlink_metadata(journal)?;
        write(journal, &format!("{}\n{JOURNAL}{name_of_journal}\n", name(&found)))
    }

    /// Records the state of the closed file. It must not be written to after this.
    pub(super) fn closed(journal: &Path) -> io::Result<()> {
        let found = std::fs::symlink_metadata(journal)?;
        let noted = files::read_text(&mark_path(journal), PRIVATE_FILE_BYTES_MAX).unwrap_or_default();
        let line = journal_of(&noted).map(|name| format!("{JOURNAL}{name}\n")).unwrap_or_default();
        write(journal, &format!("{}\n{}\n{line}", name(&found), state(&found)))
    }
}

/// Prefix of the line with the name of the journal.
const JOURNAL: &str = "journal ";

fn journal_of(noted: &str) -> Option<String> {
    noted.lines().find_map(|line| line.strip_prefix(JOURNAL)).map(str::to_owned)
}

/// Writes in one call, so that a killed process leaves the old mark or the new one.
fn write(journal: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file(&mark_path(journal))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

pub(super) fn mark_path(journal: &Path) -> PathBuf {
    with_suffix(journal, "-mark")
}

/// Identity of a file, independent of its path. File numbers are reused, so the time of its creation is a
/// part of it.
fn name(found: &Metadata) -> String {
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(found);
    #[cfg(not(unix))]
    let number = 0;
    let made = found.created().ok().and_then(|time| Timestamp::try_from(time).ok());
    format!("file {number} {}", made.map_or(0, Timestamp::as_nanosecond))
}

/// Time of the last change of the file. Unlike the modification time of its contents, it cannot be set.
#[cfg(unix)]
fn state(found: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!("closed {} {}.{:09}", found.len(), found.ctime(), found.ctime_nsec())
}

#[cfg(not(unix))]
fn state(found: &Metadata) -> String {
    let changed = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    format!("closed {} {}", found.len(), changed.map_or(0, Timestamp::as_nanosecond))
}
