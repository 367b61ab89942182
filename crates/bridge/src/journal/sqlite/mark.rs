//! Which file the journal is, noted beside it, so that a copy that was put in its place is noticed.
//!
//! A copy knows nothing of what was shown after it was made. It would give the same numbers to other events, in the same epoch, and a reader
//! that saw more would never learn of them. What no copy takes along is what the file system says of the file: its number, when it was made
//! and when it was last changed. Being wrong costs little: in another epoch a reader still goes on from whatever the journal has.

use std::fs::Metadata;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::open::{beside, private_file};
use crate::journal::opening::Stop;

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
    /// Whether nobody has changed it since it was closed.
    is_as_closed: bool,
    /// Whether a process that did not close it has left its log.
    has_log: bool,
}

impl Mark {
    /// Looks at a journal, before it is opened: opening changes what is looked at.
    pub(super) fn look(journal: &Path) -> Self {
        let noted = std::fs::read_to_string(place(journal)).unwrap_or_default();
        let (is_noted, name_noted) = (!noted.trim().is_empty(), journal_of(&noted));
        let mut noted = noted.lines().filter(|line| !line.starts_with(JOURNAL));
        let found = std::fs::metadata(journal).ok();
        let has_log = std::fs::metadata(beside(journal, "-wal")).is_ok_and(|log| log.len() > 0);
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

    /// Whether it is another file than the one that was left. Whoever did not close the journal has left a log, which no copy has.
    pub(super) fn is_another(&self, stop: Stop) -> bool {
        let as_left = match stop {
            Stop::Clean => self.is_as_closed,
            Stop::Unclean => self.has_log,
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

    /// Notes which file is open, and the name of its journal. How it was last closed may stay in the note: it does not count while the
    /// file is open, and it does not fit once somebody has written to the file.
    pub(super) fn opened(&self, journal: &Path, name_of_journal: &str) -> io::Result<()> {
        if self.is_same_file && self.journal.as_deref() == Some(name_of_journal) {
            return Ok(());
        }
        let found = std::fs::metadata(journal)?;
        write(journal, &format!("{}\n{JOURNAL}{name_of_journal}\n", name(&found)))
    }

    /// Notes how the file is left. Nobody may write to it after this.
    pub(super) fn closed(journal: &Path) -> io::Result<()> {
        let found = std::fs::metadata(journal)?;
        let noted = std::fs::read_to_string(place(journal)).unwrap_or_default();
        let line = journal_of(&noted).map(|name| format!("{JOURNAL}{name}\n")).unwrap_or_default();
        write(journal, &format!("{}\n{}\n{line}", name(&found), state(&found)))
    }
}

/// Begins the line with the name of the journal.
const JOURNAL: &str = "journal ";

fn journal_of(noted: &str) -> Option<String> {
    noted.lines().find_map(|line| line.strip_prefix(JOURNAL)).map(str::to_owned)
}

/// In one go, so that a process that is killed leaves the old note or the new one.
fn write(journal: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file(&place(journal))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

pub(super) fn place(journal: &Path) -> PathBuf {
    beside(journal, "-mark")
}

/// What a file is called where names do not matter. Numbers are used again, so the time at which it was made belongs to it.
fn name(found: &Metadata) -> String {
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(found);
    #[cfg(not(unix))]
    let number = 0;
    let made = found.created().ok().and_then(|time| Timestamp::try_from(time).ok());
    format!("file {number} {}", made.map_or(0, Timestamp::as_nanosecond))
}

/// When the file was last changed. Unlike the time of its contents, nobody can set this one.
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
