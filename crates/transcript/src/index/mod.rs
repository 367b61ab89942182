//! A full-text index, for those with tens of gigabytes. A search finds exactly the same with it and without it.
//!
//! ```no_run
//! use tidings_transcript::index::Index;
//! use tidings_transcript::roots::Roots;
//! use tidings_transcript::search::{Flow, Options, Query};
//!
//! let roots = Roots::new(["/home/dev/.claude"]);
//! let sessions = roots.scan()?.sessions;
//! let mut index = Index::create("/home/dev/.cache/tidings/index.sqlite".as_ref())?;
//! index.update(&sessions, &roots.projects_folders(), |_bytes| {})?;
//! let query = Query::new(Options { pattern: "segmentation fault".into(), ..Options::default() })?;
//! index.search(&sessions, &query, |hit| {
//!     println!("{}:{}", hit.file.path.display(), hit.line);
//!     Flow::Continue
//! })?;
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! The index says in which parts of which files a text may stand; the ordinary search then looks only there. What it
//! does not know yet, such as a file that was written a moment ago, is searched as well. It holds no text, but whoever
//! can read it can guess words, so that only its owner may.

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
use self::files::{Files, State};
use self::store::{COLUMNS, Missing, Store};
use crate::roots::{FileInfo, SessionFiles};
use crate::search::{self, Flow, Hit, Part, Query, Summary, Task};
use crate::{Error, ErrorKind};

/// An index that is open.
#[derive(Debug)]
pub struct Index {
    store: Store,
    path: PathBuf,
    /// The files that it knows, with the version of the database that they were read from.
    files: RefCell<(Option<i64>, Arc<Files>)>,
}

/// What bringing an index up to date came to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Updated {
    /// Files that it did not know.
    pub added: u64,
    /// Files that were appended to.
    pub grown: u64,
    /// Files that had become others.
    pub replaced: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that could not be read.
    pub unreadable: Vec<Error>,
}

/// What an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Files in it.
    pub files: u64,
    /// Bytes of those files that are in it.
    pub covered: u64,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
}

impl Index {
    /// The index at `path`, if there is one.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let store = Store::open(path, Missing::Leave)?;
        Ok(store.map(|store| Index::of(store, path)))
    }

    /// The index at `path`; an empty one is made if there is none, or only a damaged one.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let opened = match Store::open(path, Missing::Create) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                store::remove(path)?;
                Store::open(path, Missing::Create)
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

    /// The files that it knows; read again only if somebody else has written.
    fn files(&self) -> Result<Arc<Files>, Error> {
        let version = Some(self.store.ask("PRAGMA data_version")?);
        let mut kept = self.files.borrow_mut();
        if kept.0 != version {
            *kept = (version, Arc::new(Files::load(&self.store)?));
        }
        Ok(kept.1.clone())
    }

    /// Removes the index at `path`, whatever state it is in, and says how many bytes it took.
    pub fn remove(path: &Path) -> Result<u64, Error> {
        store::remove(path)
    }

    /// How many bytes of the sessions it has still to read.
    pub fn pending(&self, sessions: &[SessionFiles]) -> Result<u64, Error> {
        let files = self.files()?;
        Ok(all(sessions).map(|file| files.state(file).pending(file)).sum())
    }

    /// Reads what was written since, and forgets the files below `folders` that are no longer among the sessions.
    ///
    /// `each` is told about every file's bytes. What was read stays if the update is interrupted.
    pub fn update(
        &mut self,
        sessions: &[SessionFiles],
        folders: &[PathBuf],
        mut each: impl FnMut(u64),
    ) -> Result<Updated, Error> {
        self.run("BEGIN IMMEDIATE")?;
        let updated = self.update_inside(sessions, folders, &mut each);
        // What this connection writes itself does not show as a new version.
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
            .filter(|(_, state)| !matches!(state, State::Same(_)))
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
                State::Same(_) => {}
                State::New => updated.added += 1,
                State::Grown(_) => updated.grown += 1,
                State::Replaced(_) => updated.replaced += 1,
            }
            updated.bytes += pending;
            each(pending);
            // From time to time, so that little is lost, and little memory taken, on the way.
            if builder.segments() > segments {
                segments = builder.segments();
                builder.flush()?;
                self.run("COMMIT; BEGIN IMMEDIATE")?;
            }
        }
        builder.flush()?;
        Ok(updated)
    }

    /// Searches sessions as [`search::run`] does, but only where the index says that something may be found.
    pub fn search<'f>(
        &self,
        sessions: &'f [SessionFiles],
        query: &Query,
        each: impl FnMut(Hit<'f>) -> Flow + Send,
    ) -> Result<Summary, Error> {
        // One look at everything, whatever others write meanwhile.
        self.run("BEGIN")?;
        let tasks = self.tasks(sessions, query);
        self.run("COMMIT")?;
        match tasks? {
            Some(tasks) => Ok(search::run_tasks(&tasks, query, each)),
            None => Ok(search::run(sessions, query, each)),
        }
    }

    fn tasks<'f>(&self, sessions: &'f [SessionFiles], query: &Query) -> Result<Option<Vec<Task<'f>>>, Error> {
        let Some(mut parts) = candidates::parts(&self.store, &query.literals)? else { return Ok(None) };
        let files = self.files()?;
        let mut parts_of = |file: &FileInfo| match files.state(file) {
            State::New | State::Replaced(_) => vec![Part::WHOLE],
            State::Same(row) | State::Grown(row) => {
                let mut parts = parts.remove(&row.id).unwrap_or_default();
                let reached = row.stamp.mark.offset();
                if reached < file.bytes {
                    parts.push(Part { bytes: reached..u64::MAX, line: row.lines + 1 });
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

    /// What it holds.
    pub fn status(&self) -> Result<Status, Error> {
        let ask = |sql| self.store.ask(sql).map(i64::cast_unsigned);
        Ok(Status {
            files: ask("SELECT COUNT(*) FROM file")?,
            covered: ask("SELECT COALESCE(SUM(stop - start), 0) FROM part")?,
            bytes: store::size(&self.path),
        })
    }

    /// Whether most of it speaks of files that are gone, so that it should be built anew.
    pub fn is_worn(&self) -> Result<bool, Error> {
        // A small one is cheap to keep.
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
