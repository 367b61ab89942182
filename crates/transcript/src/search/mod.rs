//! Full text of all sessions, without an index: as fast as a search of the bytes, and right about escapes.
//!
//! ```no_run
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::search::{self, Flow, Options, Query};
//!
//! let found = Roots::new(["/home/dev/.claude"]).scan()?;
//! let query = Query::new(Options { pattern: "segmentation fault".into(), ..Options::default() })?;
//! search::run(&found.sessions, &query, |hit| {
//!     println!("{}:{} {}", hit.file.path.display(), hit.line, hit.excerpt.text);
//!     Flow::Continue
//! });
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! A line matches at most once, as with `grep -c`, even where a tool's output stands twice in it. Text is found however
//! it is escaped in the file, and in damaged lines too. `texts` says what counts as text.

mod calls;
mod hit;
mod literals;
mod order;
mod pattern;
mod prefilter;
mod query;
mod scan;
mod texts;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

pub use hit::{Excerpt, Hit};
pub use query::{Case, Options, Query, Sidechains, Syntax, ToolNames};
pub use texts::Role;
#[cfg(feature = "index")]
pub(crate) use {
    literals::Literals,
    scan::damaged_texts,
    texts::{is_blob, texts},
};

use self::order::Gate;
use self::scan::Scan;
use crate::Error;
use crate::limits::{HITS_KEPT_MAX, SEARCH_THREADS};
use crate::roots::{FileInfo, SessionFiles};

/// Whether the search goes on after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// With the next line.
    Continue,
    /// With the next session.
    NextSession,
    /// Not at all.
    Stop,
}

/// What a search went through.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Files that were opened.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that are too long to be searched.
    pub oversized: u64,
    /// Files that could not be read.
    pub unreadable: Vec<Error>,
}

/// Searches sessions in the order given and hands every matching line to `each`.
pub fn run<'f>(
    sessions: &'f [SessionFiles],
    query: &Query,
    each: impl FnMut(Hit<'f>) -> Flow + Send,
) -> Summary {
    let tasks = sessions.iter().map(|session| {
        let files = session.files().map(|file| (file, vec![Part::WHOLE])).collect();
        Task::new(session, files)
    });
    run_tasks(&tasks.collect::<Vec<_>>(), query, each)
}

/// The folder that a session began in, as its first lines tell.
fn first_cwd(session: &SessionFiles) -> Option<String> {
    // What no file of the first few says, the others hardly do.
    const FILES_MAX: usize = 4;
    session.files().take(FILES_MAX).find_map(|file| scan::first_cwd(&file.path))
}

/// One session and what is to be searched of it.
#[derive(Debug)]
pub(crate) struct Task<'f> {
    session: &'f SessionFiles,
    files: Vec<(&'f FileInfo, Vec<Part>)>,
    project: OnceLock<Option<String>>,
}

/// Whole lines of a file.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) bytes: Range<u64>,
    /// The number of the first line.
    pub(crate) line: u64,
}

impl Part {
    /// A file from its beginning to wherever it ends.
    pub(crate) const WHOLE: Part = Part { bytes: 0..u64::MAX, line: 1 };
}

impl<'f> Task<'f> {
    pub(crate) fn new(session: &'f SessionFiles, files: Vec<(&'f FileInfo, Vec<Part>)>) -> Self {
        Task { session, files, project: OnceLock::new() }
    }

    /// The folder that the session began in, for lines that do not name one.
    fn project(&self) -> Option<&str> {
        self.project.get_or_init(|| first_cwd(self.session)).as_deref()
    }
}

/// The same for parts of files.
pub(crate) fn run_tasks<'f>(
    tasks: &[Task<'f>],
    query: &Query,
    each: impl FnMut(Hit<'f>) -> Flow + Send,
) -> Summary {
    let gate = Gate::new(each);
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Summary::default());
    let work = || {
        let mut scan = Scan::new(query);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { break };
            let mut hits = Vec::new();
            let _ = scan.task(task, &mut |hit| {
                hits.push(hit);
                if hits.len() >= HITS_KEPT_MAX || gate.is_turn_of(number) {
                    gate.pass(number, &mut hits)
                } else {
                    ControlFlow::Continue(())
                }
            });
            if gate.finish(number, hits).is_break() {
                break;
            }
        }
        total.lock().unwrap_or_else(PoisonError::into_inner).add(scan.summary);
    };
    thread::scope(|scope| {
        for _ in 1..SEARCH_THREADS.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Summary {
    fn add(&mut self, other: Summary) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.oversized += other.oversized;
        self.unreadable.extend(other.unreadable);
    }
}
