//! Configuration folders, and the session files in them.
//!
//! ```no_run
//! use tidings_transcript::roots::Roots;
//!
//! let found = Roots::new(["/home/dev/.claude"]).scan()?;
//! for session in &found.sessions {
//!     println!("{} {} bytes, {} sub-agents", session.id, session.bytes(), session.agents.len());
//! }
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! Folder names under `projects/` cannot be decoded (every character other than a letter or digit became a
//! dash), so nothing here tries: a session's lines contain its working folder.

mod files;
mod scan;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use files::{AgentFile, FileId, FileInfo, SessionFiles};
#[cfg(feature = "analysis")]
pub(crate) use scan::relatives_of;

use crate::error::At as _;
use crate::id_prefix::names_id;
use crate::{Error, ErrorKind};

/// Configuration folders (`~/.claude` and the like) that contain sessions.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    roots: Vec<PathBuf>,
}

/// Hint for a name that matches no session.
const HINT: &str =
    "`tidings sessions list` shows the ids; a unique prefix of four characters or more is enough";

/// The error for a name that matches no session.
pub fn no_such_session(name: impl AsRef<OsStr>) -> Error {
    let message = format!("No such session: `{}`", name.as_ref().display());
    Error::new(ErrorKind::NotFound, message, HINT)
}

/// The sessions in the roots.
#[derive(Debug, Default)]
pub struct SessionScan {
    /// Every session once per folder that holds it, last changed first.
    pub sessions: Vec<SessionFiles>,
    /// Errors about folders and files that could not be read.
    pub unreadable: Vec<Error>,
    /// Ids of existing sessions that the filter rejected.
    pub(crate) unwanted: HashSet<String>,
}

impl SessionScan {
    /// One session alone.
    pub fn of(session: SessionFiles) -> Self {
        SessionScan { sessions: vec![session], ..SessionScan::default() }
    }
}

/// Number of ids listed in an error about an ambiguous id.
const CANDIDATES_MAX: usize = 5;

impl Roots {
    /// Roots at these folders. A root may also be a `projects` folder itself.
    pub fn new<P: Into<PathBuf>>(roots: impl IntoIterator<Item = P>) -> Self {
        let mut kept: Vec<PathBuf> = Vec::new();
        for root in roots {
            let root = root.into();
            // Two names of one folder would count everything twice.
            let root = fs_err::canonicalize(&root).unwrap_or(root);
            if !kept.contains(&root) {
                kept.push(root);
            }
        }
        Roots { roots: kept }
    }

    /// The folders.
    pub fn paths(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The folders that hold one folder per project; those that do not exist are left out.
    pub fn projects_folders(&self) -> Vec<PathBuf> {
        self.roots.iter().filter_map(|root| scan::projects_folder(root)).collect()
    }

    /// Finds all sessions. A root that does not exist is an error; an unreadable folder inside one is
    /// reported.
    pub fn scan(&self) -> Result<SessionScan, Error> {
        self.scan_some(|_, _| true)
    }

    /// Finds the sessions for which `wanted` returns true, by id and main file; no other files of the rest
    /// are examined.
    ///
    /// A session with only files of sub-agents left is always included.
    pub fn scan_some(&self, wanted: impl Fn(&str, &FileInfo) -> bool) -> Result<SessionScan, Error> {
        let mut found = SessionScan::default();
        for root in &self.roots {
            scan::root(root, &wanted, &mut found)?;
        }
        found.sessions.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// Finds a session by `name`: the path of a session file, an id, or a [prefix](crate::id_prefix) of an id
    /// that only one session has.
    ///
    /// Of copies of one session in several folders, the last written one is returned.
    pub fn find(&self, name: impl AsRef<OsStr>) -> Result<SessionFiles, Error> {
        let name = name.as_ref();
        match file_named(name) {
            Some(path) => SessionFiles::of_file(path),
            None => Ok(self.fitting(name)?.swap_remove(0)),
        }
    }

    /// Finds all copies of the session with this `name`, last changed first.
    ///
    /// A path selects that one copy, and has to lie in the roots, so that removing sessions by name cannot
    /// remove others.
    pub fn find_copies(&self, name: impl AsRef<OsStr>) -> Result<Vec<SessionFiles>, Error> {
        let name = name.as_ref();
        let Some(path) = file_named(name) else { return self.fitting(name) };
        let path = fs_err::canonicalize(path).at("look at", path)?;
        let is_it = |main: &FileInfo| fs_err::canonicalize(&main.path).is_ok_and(|main| main == path);
        let mut sessions = self.scan()?.sessions;
        sessions.retain(|session| session.main.as_ref().is_some_and(is_it));
        if sessions.is_empty() {
            let message = format!("Not among the sessions: `{}`", path.display());
            return Err(Error::new(ErrorKind::NotFound, message, "use --root to search another folder"));
        }
        Ok(sessions)
    }

    /// The sessions with this id or prefix; at least one, and all with the same id.
    fn fitting(&self, name: &OsStr) -> Result<Vec<SessionFiles>, Error> {
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, "The id of the session is empty", HINT));
        }
        // Ids are UTF-8: any other name matches none of them.
        let fits = |session: &SessionFiles| name.to_str().is_some_and(|name| names_id(name, &session.id));
        let mut fitting: Vec<SessionFiles> = self.scan()?.sessions.into_iter().filter(fits).collect();
        if fitting.iter().any(|session| session.id.as_str() == name) {
            fitting.retain(|session| session.id.as_str() == name);
        }
        let ids: HashSet<&str> = fitting.iter().map(|session| session.id.as_str()).collect();
        match ids.len() {
            0 => Err(no_such_session(name)),
            1 => Ok(fitting),
            count => {
                let mut ids: Vec<&str> = ids.into_iter().collect();
                ids.sort_unstable();
                let rest = if count > CANDIDATES_MAX { ", …" } else { "" };
                ids.truncate(CANDIDATES_MAX);
                let (name, ids) = (name.display(), ids.join(", "));
                let message = format!("{count} sessions begin with `{name}`: {ids}{rest}");
                Err(Error::new(ErrorKind::Ambiguous, message, "give more characters of the id"))
            }
        }
    }
}

/// The path that a name stands for, if it is not an id.
fn file_named(name: &OsStr) -> Option<&Path> {
    let path = Path::new(name);
    ((path.extension().is_some() || path.components().count() > 1) && path.is_file()).then_some(path)
}
