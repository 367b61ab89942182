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

/// What was found beside a journal before anybody opened it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
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
        let mut noted = noted.lines();
        let found = std::fs::metadata(journal).ok();
        let is = |noted: Option<&str>, found: Option<String>| noted.is_some() && noted == found.as_deref();
        Mark {
            is_same_file: is(noted.next(), found.as_ref().map(name)),
            is_as_closed: is(noted.next(), found.as_ref().map(state)),
            has_log: std::fs::metadata(beside(journal, "-wal")).is_ok_and(|log| log.len() > 0),
        }
    }

    /// Whether it is another file than the one that was left. Whoever did not close the journal has left a log, which no copy has.
    pub(super) fn is_another(self, stop: Stop) -> bool {
        let as_left = match stop {
            Stop::Clean => self.is_as_closed,
            Stop::Unclean => self.has_log,
        };
        !(self.is_same_file && as_left)
    }

    /// Notes which file is open. How it was last closed may stay in the note: it does not count while the file is open, and it does not fit
    /// once somebody has written to the file.
    pub(super) fn opened(self, journal: &Path) -> io::Result<()> {
        if self.is_same_file {
            return Ok(());
        }
        let found = std::fs::metadata(journal)?;
        write(journal, &format!("{}\n", name(&found)))
    }

    /// Notes how the file is left. Nobody may write to it after this.
    pub(super) fn closed(journal: &Path) -> io::Result<()> {
        let found = std::fs::metadata(journal)?;
        write(journal, &format!("{}\n{}\n", name(&found), state(&found)))
    }
}

/// In one go, so that a process that is killed leaves the old note or the new one.
fn write(journal: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file(&place(journal))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

fn place(journal: &Path) -> PathBuf {
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
