use std::fs::File;

use super::tally::{Of, Tally};
use super::{Counts, KIND};
use crate::Error;
use crate::blocks::Buffer;
use crate::cache::{Cache, Known, Mark};
use crate::error::At as _;
use crate::roots::{FileInfo, SessionFiles};

/// Counts a session with its sub-agents. Files that did not change since are not read again; `done` is told how many
/// bytes were read each time.
///
/// A file that cannot be read is an error; the caller may go on with the next session.
pub fn count(session: &SessionFiles, cache: &mut Cache, done: &dyn Fn(u64)) -> Result<Counts, Error> {
    let mut buffer = Buffer::default();
    let mut counts = Counts::default();
    if let Some(main) = &session.main {
        counts.add(&of_file(main, Of::Session, cache, &mut buffer, done)?);
    }
    for agent in &session.agents {
        counts.add(&of_file(&agent.file, Of::Agent, cache, &mut buffer, done)?.of_agent());
    }
    Ok(counts)
}

/// Whether the counts of a session can be had without reading it.
pub fn is_known(session: &SessionFiles, cache: &Cache) -> bool {
    unread_bytes(session, cache) == 0
}

/// How much must be read to count a session.
pub fn unread_bytes(session: &SessionFiles, cache: &Cache) -> u64 {
    let unread = session.files().filter(|file| known(file, cache).is_none());
    unread.map(|file| file.bytes).sum()
}

fn of_file(
    file: &FileInfo,
    of: Of,
    cache: &mut Cache,
    buffer: &mut Buffer,
    done: &dyn Fn(u64),
) -> Result<Counts, Error> {
    if let Some(counts) = known(file, cache) {
        return Ok(counts);
    }
    // Branches need the whole tree, so that a file that grew is read from its beginning.
    let opened = File::open(&file.path).at("read", &file.path)?;
    let counts = Tally::read(opened, of, buffer).at("read", &file.path)?;
    done(file.bytes);
    cache.keep(file, KIND, Mark::default(), counts.to_facts());
    Ok(counts)
}

fn known(file: &FileInfo, cache: &Cache) -> Option<Counts> {
    match cache.known(file, KIND) {
        Known::Whole(facts) => Counts::of_facts(facts),
        Known::UpTo { .. } | Known::Nothing => None,
    }
}
