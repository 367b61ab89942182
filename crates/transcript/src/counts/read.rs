//! The counts of several sessions, from the cache or from their files.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

use super::file_counter::{FileCounter, FileOwner};
use super::{Counts, KIND};
use crate::Error;
use crate::blocks::Buffer;
use crate::cache::{Cache, Known, Mark};
use crate::error::At as _;
use crate::limits::COUNT_THREADS_MAX;
use crate::roots::{FileInfo, SessionFiles};

/// Counts of several sessions.
#[derive(Debug, Default)]
pub struct Counted {
    /// The counts of each session, in the given order.
    pub sessions: Vec<Counts>,
    /// Errors about files that could not be read; nothing of them is counted.
    pub unreadable: Vec<Error>,
}

/// Counts sessions with their sub-agents. Unchanged files are not read again.
///
/// `done` is called with the number of bytes just read, from the reading threads. The caller saves the cache.
pub fn count(sessions: &[&SessionFiles], cache: &mut Cache, done: &(dyn Fn(u64) + Sync)) -> Counted {
    let mut counted = Counted { sessions: vec![Counts::default(); sessions.len()], unreadable: Vec::new() };
    let mut jobs = Vec::new();
    for (session, files) in sessions.iter().enumerate() {
        let main = files.main.iter().map(|file| (file, FileOwner::Session));
        let agents = files.agents.iter().map(|agent| (&agent.file, FileOwner::Agent));
        for (file, of) in main.chain(agents) {
            match known(file, cache) {
                Some(counts) => counted.sessions[session].add(&of.share(counts)),
                None => jobs.push(CountJob { session, file, of }),
            }
        }
    }
    // The largest first, so that no thread is left with a large one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.file.bytes));
    for (job, counts) in all(&jobs, done) {
        match counts {
            Ok(counts) => {
                cache.keep(job.file, KIND, Mark::default(), counts.to_facts());
                counted.sessions[job.session].add(&job.of.share(counts));
            }
            Err(error) => counted.unreadable.push(error),
        }
    }
    counted
}

/// Number of bytes to read in order to count a session.
pub fn unread_bytes(session: &SessionFiles, cache: &Cache) -> u64 {
    let unread = session.files().filter(|file| known(file, cache).is_none());
    unread.map(|file| file.bytes).sum()
}

#[derive(Debug)]
struct CountJob<'a> {
    session: usize,
    file: &'a FileInfo,
    of: FileOwner,
}

/// Reads all files, on a few threads.
fn all<'j, 'f>(
    jobs: &'j [CountJob<'f>],
    done: &(dyn Fn(u64) + Sync),
) -> Vec<(&'j CountJob<'f>, Result<Counts, Error>)> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(COUNT_THREADS_MAX);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let work = || {
        let mut buffer = Buffer::default();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counts = of_file(job, &mut buffer);
            done(job.file.bytes);
            results.lock().push((job, counts));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner()
}

/// Counts one file. Branches need the whole tree, so a file that grew is read from its beginning.
fn of_file(job: &CountJob<'_>, buffer: &mut Buffer) -> Result<Counts, Error> {
    let path = &job.file.path;
    let file = File::open(path).at("read", path)?;
    FileCounter::read(file, job.of, buffer).at("read", path)
}

fn known(file: &FileInfo, cache: &Cache) -> Option<Counts> {
    match cache.known(file, KIND) {
        Known::Whole(facts) => Counts::of_facts(facts),
        Known::UpTo { .. } | Known::Nothing => None,
    }
}
