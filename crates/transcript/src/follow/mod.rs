//! Reading sessions while they are being written.
//!
//! [`Tail`] reads one file and [`Follow`] a session or all of them. Neither blocks: the caller calls
//! [`Follow::look`] once a second, or sooner when `Wake` (feature `follow`) reports a changed file. Network
//! drives do not report changes, so polling is needed even then.
//!
//! ```
//! use std::ops::ControlFlow;
//! use tidings_transcript::blocks::Buffer;
//! use tidings_transcript::follow::{Change, Tail};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("s.jsonl");
//! std::fs::write(&path, "{\"type\":\"user\",\"message\":\"Hi\"}\n{\"type\":\"assi")?;
//! let mut tail = Tail::from_start(&path);
//! let mut texts = Vec::new();
//! tail.poll(&mut Buffer::default(), &mut |change| {
//!     if let Change::Line(line) = change {
//!         texts.push(String::from_utf8_lossy(line.bytes).into_owned());
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! // The second line is still being written.
//! assert_eq!(texts, ["{\"type\":\"user\",\"message\":\"Hi\"}"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fingerprint;
mod tail;
#[cfg(feature = "follow")]
mod wake;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use tail::{Change, Tail};
#[cfg(feature = "follow")]
pub use wake::{Wake, Woken};

use crate::blocks::Buffer;
use crate::limits::FOLLOW_GONE_MAX;
use crate::reader::Line;
use crate::roots::{FileInfo, Roots, SessionFiles};
use crate::{Error, ErrorKind};

/// Follows a session, or all sessions of some roots.
#[derive(Debug)]
pub struct Follow {
    what: FollowTarget,
    files: BTreeMap<PathBuf, Followed>,
    unreadable: Vec<Error>,
    buffer: Buffer,
}

#[derive(Debug)]
enum FollowTarget {
    Session { main: PathBuf },
    All(Roots),
}

/// A change in one of the files.
#[derive(Debug)]
pub struct News<'a> {
    /// The session.
    pub session: &'a str,
    /// Id of the sub-agent that the file belongs to.
    pub agent: Option<&'a str>,
    /// The file.
    pub path: &'a Path,
    /// The change.
    pub change: Change<'a>,
}

#[derive(Debug)]
struct Followed {
    session: String,
    agent: Option<String>,
    tail: Tail,
    /// State of the file when it was last listed.
    info: Option<FileInfo>,
    /// True if two listings in a row found the same state. One is not enough: file times are coarse, and a
    /// second change may have the time of the first.
    unchanged_twice: bool,
    /// True once an unreadable file was reported.
    unreadable: bool,
}

/// A file in a listing.
struct ListedFile {
    session: String,
    agent: Option<String>,
    info: FileInfo,
}

impl Follow {
    /// Follows one session, including sub-agents that start later. The first changes are the last entries of
    /// the main file: the last `count` lines for which `counts` returns true.
    pub fn session(
        session: &SessionFiles,
        count: usize,
        counts: impl FnMut(&Line<'_>) -> bool,
    ) -> Result<Self, Error> {
        let main = match &session.main {
            Some(file) => file.path.clone(),
            None => session.folder.join(format!("{}.jsonl", session.id)),
        };
        let mut follow = Self::new(FollowTarget::Session { main: main.clone() });
        let tail = Tail::from_last(&main, count, &mut follow.buffer, counts)?;
        follow.files.insert(main, Followed::new(&session.id, None, tail));
        follow.begin_at_end(listed(session));
        Ok(follow)
    }

    /// Follows one session from its first entry. The file need not exist yet.
    pub fn session_from_start(main: PathBuf) -> Self {
        Self::new(FollowTarget::Session { main })
    }

    /// Follows every session, including those that begin later; existing lines are skipped.
    pub fn all(roots: Roots) -> Result<Self, Error> {
        let found = roots.scan()?;
        let mut follow = Self::new(FollowTarget::All(roots));
        follow.unreadable = found.unreadable;
        follow.begin_at_end(found.sessions.iter().flat_map(listed));
        Ok(follow)
    }

    /// Files and folders that could not be read at the start.
    pub fn unreadable(&self) -> &[Error] {
        &self.unreadable
    }

    /// The folders to watch for changes. New folders may have to be added later.
    pub fn folders(&self) -> Vec<PathBuf> {
        match &self.what {
            FollowTarget::All(roots) => roots.projects_folders(),
            FollowTarget::Session { main } => main.parent().map(Path::to_owned).into_iter().collect(),
        }
    }

    /// Polls every file that may have changed, and looks for new ones. Called at regular intervals.
    pub fn look(
        &mut self,
        each: &mut dyn FnMut(News<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut there = HashSet::new();
        let mut changed = Vec::new();
        for ListedFile { session, agent, info } in self.list()? {
            let path = info.path.clone();
            let file = self.files.entry(path.clone()).or_insert_with(|| {
                let tail = Tail::from_start(&path);
                Followed::new(&session, agent, tail)
            });
            if file.may_have_changed(info) {
                changed.push(path.clone());
            }
            there.insert(path);
        }
        let missing = |(path, file): &(&PathBuf, &Followed)| !file.tail.is_gone() && !there.contains(*path);
        changed.extend(self.files.iter().filter(missing).map(|(path, _)| path.clone()));
        // Changes in several files have no order; sorting by name makes it deterministic.
        changed.sort_unstable();
        for path in changed {
            if self.poll(&path, each).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.prune_gone();
        Ok(ControlFlow::Continue(()))
    }

    /// Polls these files, after a change notification.
    pub fn look_at(
        &mut self,
        paths: &[PathBuf],
        each: &mut dyn FnMut(News<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        if paths.iter().any(|path| !self.files.contains_key(path) && self.is_relevant(path)) {
            // A listing determines the session of a new file. It may report known files as unchanged, so they
            // are polled too.
            let looked = self.look(each)?;
            if looked.is_break() {
                return Ok(looked);
            }
        }
        for path in paths {
            if self.poll(path, each).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn new(what: FollowTarget) -> Self {
        Follow { what, files: BTreeMap::new(), unreadable: Vec::new(), buffer: Buffer::default() }
    }

    fn begin_at_end(&mut self, listed: impl IntoIterator<Item = ListedFile>) {
        for ListedFile { session, agent, info } in listed {
            if self.files.contains_key(&info.path) {
                continue;
            }
            match Tail::from_end(&info.path) {
                Ok(tail) => {
                    self.files.insert(info.path, Followed::new(&session, agent, tail));
                }
                Err(error) => self.unreadable.push(error),
            }
        }
    }

    fn list(&self) -> Result<Vec<ListedFile>, Error> {
        match &self.what {
            FollowTarget::All(roots) => Ok(roots.scan()?.sessions.iter().flat_map(listed).collect()),
            FollowTarget::Session { main } => match SessionFiles::of_file(main) {
                Ok(session) => Ok(listed(&session).collect()),
                // Known files are reported as gone by their tails.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            },
        }
    }

    /// Returns true if an unknown path may be a file to follow or a folder with such files.
    fn is_relevant(&self, path: &Path) -> bool {
        let ours = match &self.what {
            FollowTarget::All(_) => true,
            FollowTarget::Session { main } => path.starts_with(main.with_extension("")),
        };
        ours && path.extension().is_none_or(|extension| extension == OsStr::new("jsonl"))
    }

    fn poll(&mut self, path: &Path, each: &mut dyn FnMut(News<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let Some(file) = self.files.get_mut(path) else { return ControlFlow::Continue(()) };
        let Followed { session, agent, tail, unreadable, .. } = file;
        let mut tell = |change: Change<'_>| each(News { session, agent: agent.as_deref(), path, change });
        match tail.poll(&mut self.buffer, &mut tell) {
            Ok(flow) => {
                *unreadable = false;
                flow
            }
            Err(_) if *unreadable => ControlFlow::Continue(()),
            Err(error) => {
                *unreadable = true;
                tell(Change::Unreadable(&error))
            }
        }
    }

    fn prune_gone(&mut self) {
        let gone = self.files.values().filter(|file| file.tail.is_gone()).count();
        if gone > FOLLOW_GONE_MAX {
            self.files.retain(|_, file| !file.tail.is_gone());
        }
    }
}

impl Followed {
    fn new(session: &str, agent: Option<String>, tail: Tail) -> Self {
        Followed {
            session: session.to_owned(),
            agent,
            tail,
            info: None,
            unchanged_twice: false,
            unreadable: false,
        }
    }

    /// Returns true if the file may have changed since it was last listed.
    fn may_have_changed(&mut self, info: FileInfo) -> bool {
        let same = self.info.as_ref() == Some(&info);
        let may_have_changed = !(same && self.unchanged_twice);
        self.unchanged_twice = same;
        self.info = Some(info);
        may_have_changed
    }
}

fn listed(session: &SessionFiles) -> impl Iterator<Item = ListedFile> + use<'_> {
    let of = |agent: Option<&str>, info: &FileInfo| ListedFile {
        session: session.id.clone(),
        agent: agent.map(str::to_owned),
        info: info.clone(),
    };
    let main = session.main.iter().map(move |info| of(None, info));
    main.chain(session.agents.iter().map(move |agent| of(Some(&agent.agent_id), &agent.file)))
}
