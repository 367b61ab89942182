//! Full-text search in all sessions, without an index: as fast as a byte search, and correct about escapes.
//!
//! ```no_run
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::search::{self, Options, SearchFlow, SearchQuery};
//!
//! let found = Roots::new(["/home/dev/.claude"]).scan()?;
//! let query = SearchQuery::new(Options { pattern: "segmentation fault".into(), ..Options::default() })?;
//! search::run(&found.sessions, &query, |hit| {
//!     println!("{}:{} {}", hit.file.path.display(), hit.line, hit.excerpt.text);
//!     SearchFlow::Continue
//! });
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! A line matches at most once, as with `grep -c`, even if it contains a tool's output twice. Text is found
//! however it is escaped in the file, and in damaged lines too. `texts` defines the searched text.

mod calls;
mod entries;
mod fold;
mod hit;
mod literals;
mod ordered_hits;
mod pattern;
mod prefilter;
mod query;
mod rank;
mod scan;
mod texts;

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

pub use entries::search_entries;
pub use fold::{FoldedHit, HitText, folded};
pub use hit::{Excerpt, Hit};
pub use query::{Case, Options, SearchQuery, Sidechains, Syntax, ToolNames};
pub use rank::{SessionHits, ranked};
pub use texts::Role;
#[cfg(feature = "index")]
pub(crate) use {
    literals::Literals,
    scan::damaged_texts,
    texts::{is_blob, texts},
};

use self::ordered_hits::OrderedHits;
use self::scan::Scan;
use crate::Error;
use crate::limits::{HITS_KEPT_MAX, SEARCH_THREADS};
use crate::roots::{FileInfo, SessionFiles};

/// The continuation of a search after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchFlow {
    /// Continue with the next line.
    Continue,
    /// Continue with the next session.
    NextSession,
    /// End the search.
    Stop,
}

/// Statistics of a search.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Number of opened files.
    pub files: u64,
    /// Number of bytes read.
    pub bytes: u64,
    /// Number of lines that are too long to be searched.
    pub oversized: u64,
    /// Errors about files that could not be read.
    pub unreadable: Vec<Error>,
}

/// Searches sessions in the given order and calls `each` for every matching line.
pub fn run<'f>(
    sessions: &'f [SessionFiles],
    query: &SearchQuery,
    each: impl FnMut(Hit<'f>) -> SearchFlow + Send,
) -> Summary {
    let tasks = sessions.iter().map(|session| {
        let files = session.files().map(|file| (file, vec![LineRange::WHOLE])).collect();
        Task::new(session, files)
    });
    run_tasks(&tasks.collect::<Vec<_>>(), query, each)
}

/// The working folder at the start of a session, according to its first lines.
fn first_cwd(session: &SessionFiles) -> Option<String> {
    // If the first few files do not contain it, the others hardly do.
    const FILES_MAX: usize = 4;
    session.files().take(FILES_MAX).find_map(|file| scan::first_cwd(&file.path))
}

/// One session and the parts of it to search.
#[derive(Debug)]
pub(crate) struct Task<'f> {
    session: &'f SessionFiles,
    files: Vec<(&'f FileInfo, Vec<LineRange>)>,
    project: OnceLock<Option<String>>,
}

/// A range of whole lines of a file.
#[derive(Debug, Clone)]
pub(crate) struct LineRange {
    pub(crate) bytes: Range<u64>,
    /// Number of the first line.
    pub(crate) line: u64,
}

impl LineRange {
    /// A file from beginning to end.
    pub(crate) const WHOLE: LineRange = LineRange { bytes: 0..u64::MAX, line: 1 };
}

impl<'f> Task<'f> {
    pub(crate) fn new(session: &'f SessionFiles, files: Vec<(&'f FileInfo, Vec<LineRange>)>) -> Self {
        Task { session, files, project: OnceLock::new() }
    }

    /// The working folder at the start of the session, for lines that do not name one.
    fn project(&self) -> Option<&str> {
        self.project.get_or_init(|| first_cwd(self.session)).as_deref()
    }
}

/// Like [`run`], for parts of files.
pub(crate) fn run_tasks<'f>(
    tasks: &[Task<'f>],
    query: &SearchQuery,
    each: impl FnMut(Hit<'f>) -> SearchFlow + Send,
) -> Summary {
    let gate = OrderedHits::new(each);
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
        total.lock().add(scan.summary);
    };
    thread::scope(|scope| {
        for _ in 1..SEARCH_THREADS.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner()
}

impl Summary {
    fn add(&mut self, other: Summary) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.oversized += other.oversized;
        self.unreadable.extend(other.unreadable);
    }
}
