//! A full-text index, for tens of gigabytes of sessions. A search gives the same results with it and without
//! it.
//!
//! ```no_run
//! use tidings_transcript::index::Index;
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::search::{Options, SearchFlow, SearchQuery};
//!
//! let roots = Roots::new(["/home/dev/.claude"]);
//! let sessions = roots.scan()?.sessions;
//! let mut index = Index::create("/home/dev/.cache/tidings/index.sqlite".as_ref())?;
//! index.update(&sessions, &roots.projects_folders(), |_bytes| {})?;
//! let query = SearchQuery::new(Options { pattern: "segmentation fault".into(), ..Options::default() })?;
//! index.search(&sessions, &query, |hit| {
//!     println!("{}:{}", hit.file.path.display(), hit.line);
//!     SearchFlow::Continue
//! })?;
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! The index narrows a search to parts of files that may contain the text; the ordinary search then reads
//! only those. Unindexed data, such as a file that was just written, is searched as well. The index contains
//! no text, but words can be guessed from it, so only its owner may read it.

mod build;
mod candidates;
mod files;
mod line;
mod signature;
mod store;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::build::Builder;
use self::files::{FileState, Files};
use self::store::{COLUMNS, IfMissing, Store};
use crate::roots::{FileInfo, SessionFiles};
use crate::search::{self, Hit, LineRange, SearchFlow, SearchQuery, Summary, Task};
use crate::{Error, ErrorKind};

/// An open index.
#[derive(Debug)]
pub struct Index {
    store: Store,
    path: PathBuf,
    /// The indexed files, with the version of the database that they were read from.
    files: RefCell<(Option<i64>, Arc<Files>)>,
}

/// The result of an update.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Updated {
    /// Number of new files.
    pub added: u64,
    /// Number of files that were appended to.
    pub grown: u64,
    /// Number of files that were replaced by others.
    pub replaced: u64,
    /// Number of deleted files.
    pub removed: u64,
    /// Number of bytes read.
    pub bytes: u64,
    /// Errors about files that could not be read.
    pub unreadable: Vec<Error>,
}

/// Size figures of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Number of indexed files.
    pub files: u64,
    /// Number of bytes of those files that are indexed.
    pub covered: u64,
    /// Size of the index on disk in bytes.
    pub bytes: u64,
}

impl Index {
    /// Opens the index at `path`, if there is one.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let store = Store::open(path, IfMissing::Leave)?;
        Ok(store.map(|store| Index::of(store, path)))
    }

    /// Opens the index at `path`; creates an empty one if there is none, or a damaged one.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let opened = match Store::open(path, IfMissing::Create) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                store::remove(path)?;
                Store::open(path, IfMissing::Create)
            }
            opened => opened,
        };
        match opened? {
            Some(store) => Ok(Index::of(store, path)),
            None => Err(Error::io("open", path, std::io::ErrorKind::NotFound.into())),
        }
    }

    fn of(store: Store, path: &Path) -> Self {
        Index { store, path: path.to_owned(), files: RefCell::default() }
    }

    /// The indexed files; read again only if another process has written.
    fn files(&self) -> Result<Arc<Files>, Error> {
        let version = Some(self.store.ask("PRAGMA data_version")?);
        let mut kept = self.files.borrow_mut();
        if kept.0 != version {
            *kept = (version, Arc::new(Files::load(&self.store)?));
        }
        Ok(kept.1.clone())
    }

    /// Removes the index at `path`, whatever its state, and returns its size in bytes.
    pub fn remove(path: &Path) -> Result<u64, Error> {
        store::remove(path)
    }

    /// Number of bytes of the sessions that are not indexed yet.
    pub fn pending(&self, sessions: &[SessionFiles]) -> Result<u64, Error> {
        let files = self.files()?;
        Ok(all(sessions).map(|file| files.state(file).pending(file)).sum())
    }

    /// Indexes new data, and removes the files below `folders` that are no longer among the sessions.
    ///
    /// `each` is called with the number of bytes read from every file. Indexed data stays if the update is
    /// interrupted.
    pub fn update(
        &mut self,
        sessions: &[SessionFiles],
        folders: &[PathBuf],
        mut each: impl FnMut(u64),
    ) -> Result<Updated, Error> {
        self.run("BEGIN IMMEDIATE")?;
        let updated = self.update_inside(sessions, folders, &mut each);
        // Writes of this connection do not change its own data version.
        self.files = RefCell::default();
        match updated {
            Ok(updated) => self.run("COMMIT").map(|()| updated),
            Err(error) => {
                self.run("ROLLBACK").ok();
                Err(error)
            }
        }
    }

    fn update_inside(
        &self,
        sessions: &[SessionFiles],
        folders: &[PathBuf],
        each: &mut impl FnMut(u64),
    ) -> Result<Updated, Error> {
        let mut updated = Updated::default();
        let files = self.files()?;
        let missing = files.missing(folders, all(sessions).map(|file| file.path.as_path()));
        let changed: Vec<_> = all(sessions)
            .map(|file| (file, files.state(file)))
            .filter(|(_, state)| !matches!(state, FileState::Same(_)))
            .collect();
        if missing.is_empty() && changed.is_empty() {
            return Ok(updated);
        }
        let mut builder = Builder::new(&self.store)?;
        for file in missing {
            builder.remove(file)?;
            updated.removed += 1;
        }
        let mut segments = builder.segments();
        for (file, state) in changed {
            let pending = state.pending(file);
            if let Err(error) = builder.add(file, state)? {
                updated.unreadable.push(Error::io("read", &file.path, error));
                continue;
            }
            match state {
                FileState::Same(_) => {}
                FileState::New => updated.added += 1,
                FileState::Grown(_) => updated.grown += 1,
                FileState::Replaced(_) => updated.replaced += 1,
            }
            updated.bytes += pending;
            each(pending);
            // Commits from time to time, to bound memory and the loss at an interruption.
            if builder.segments() > segments {
                segments = builder.segments();
                builder.flush()?;
                self.run("COMMIT; BEGIN IMMEDIATE")?;
            }
        }
        builder.flush()?;
        Ok(updated)
    }

    /// Searches sessions as [`search::run`] does, but only in parts that may contain a match according to the
    /// index; in all parts if an input that is not in the files matches.
    pub fn search<'f>(
        &self,
        sessions: &'f [SessionFiles],
        query: &SearchQuery,
        each: impl FnMut(Hit<'f>) -> SearchFlow + Send,
    ) -> Result<Summary, Error> {
        if query.matches_changed_inputs() {
            return Ok(search::run(sessions, query, each));
        }
        // A consistent view, whatever other processes write meanwhile.
        self.run("BEGIN")?;
        let tasks = self.tasks(sessions, query);
        self.run("COMMIT")?;
        match tasks? {
            Some(tasks) => Ok(search::run_tasks(&tasks, query, each)),
            None => Ok(search::run(sessions, query, each)),
        }
    }

    fn tasks<'f>(
        &self,
        sessions: &'f [SessionFiles],
        query: &SearchQuery,
    ) -> Result<Option<Vec<Task<'f>>>, Error> {
        let Some(mut parts) = candidates::parts(&self.store, &query.literals)? else { return Ok(None) };
        let files = self.files()?;
        let mut parts_of = |file: &FileInfo| match files.state(file) {
            FileState::New | FileState::Replaced(_) => vec![LineRange::WHOLE],
            FileState::Same(row) | FileState::Grown(row) => {
                let mut parts = parts.remove(&row.id).unwrap_or_default();
                let reached = row.stamp.mark.offset();
                if reached < file.bytes {
                    parts.push(LineRange { bytes: reached..u64::MAX, line: row.lines + 1 });
                    candidates::join(&mut parts);
                }
                parts
            }
        };
        let tasks = sessions.iter().filter_map(|session| {
            let files: Vec<_> = session.files().map(|file| (file, parts_of(file))).collect();
            let files: Vec<_> = files.into_iter().filter(|(_, parts)| !parts.is_empty()).collect();
            (!files.is_empty()).then(|| Task::new(session, files))
        });
        Ok(Some(tasks.collect()))
    }

    /// Size figures of the index.
    pub fn status(&self) -> Result<Status, Error> {
        let ask = |sql| self.store.ask(sql).map(i64::cast_unsigned);
        Ok(Status {
            files: ask("SELECT COUNT(*) FROM file")?,
            covered: ask("SELECT COALESCE(SUM(stop - start), 0) FROM part")?,
            bytes: store::size(&self.path),
        })
    }

    /// Returns true if most of the index is about deleted files, so that it should be rebuilt.
    pub fn is_worn(&self) -> Result<bool, Error> {
        // A small index is cheap to keep.
        const SEGMENTS_MIN: usize = 2;
        let segments = self.store.segments()?;
        let used = self.store.ask("SELECT COUNT(DISTINCT signature) FROM part")?;
        Ok(segments >= SEGMENTS_MIN && usize::try_from(used).unwrap_or(0) * 2 < segments * COLUMNS)
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.store.connection.execute_batch(sql).map_err(|error| self.store.failed(&error))
    }
}

fn all(sessions: &[SessionFiles]) -> impl Iterator<Item = &FileInfo> {
    sessions.iter().flat_map(SessionFiles::files)
}
