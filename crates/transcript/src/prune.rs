//! Removing sessions that are no longer needed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::all_files::{AllFiles, config_folder};
use crate::error::At as _;
use crate::roots::SessionFiles;
use crate::{Error, ErrorKind};

/// Sessions that changed this recently may still be in use and are kept.
pub const FRESH: Duration = Duration::from_secs(60 * 60);

/// Selects the sessions to remove: those that meet every condition that is set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// These sessions, by [`SessionFiles::dir`], however recently they changed.
    pub named: HashSet<PathBuf>,
    /// Sessions that did not change since this time.
    pub before: Option<SystemTime>,
    /// Sessions whose files together have more bytes than this.
    pub larger_than: Option<u64>,
    /// Sessions whose project folder contains this in its name, in which everything but letters and digits is
    /// a dash.
    pub project: Option<String>,
}

/// The sessions to be removed.
#[derive(Debug, Default)]
pub struct Plan {
    /// Sessions to remove, with their files.
    pub remove: Vec<PrunedSession>,
    /// Matching sessions that are kept.
    pub spared: Vec<(SessionFiles, KeepReason)>,
}

/// A session to remove.
#[derive(Debug)]
pub struct PrunedSession {
    /// The session.
    pub session: SessionFiles,
    /// All files that are removed with it.
    pub all_files: AllFiles,
}

/// Reason why a session is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// A process has it open.
    Running,
    /// It changed within [`FRESH`].
    Fresh,
}

impl Plan {
    /// Selects among sessions; `running` are those that a process has open. Does not remove anything yet.
    pub fn new(
        sessions: impl IntoIterator<Item = SessionFiles>,
        choice: &Choice,
        running: &HashSet<String>,
        now: SystemTime,
    ) -> Self {
        let mut plan = Plan::default();
        let mut staying = HashSet::new();
        for session in sessions {
            let all_files = AllFiles::of(&session);
            if !choice.fits(&session, &all_files) {
                staying.insert(session.id);
                continue;
            }
            let fresh = || changed(&session, &all_files).is_none_or(|at| at + FRESH > now);
            let spared = if running.contains(&session.id) {
                Some(KeepReason::Running)
            } else if !choice.named.contains(&session.dir()) && fresh() {
                Some(KeepReason::Fresh)
            } else {
                None
            };
            match spared {
                Some(why) => plan.spared.push((session, why)),
                None => plan.remove.push(PrunedSession { session, all_files }),
            }
        }
        staying.extend(plan.spared.iter().map(|(session, _)| session.id.clone()));
        let mut taken = HashSet::new();
        for PrunedSession { session, all_files } in &mut plan.remove {
            // A session that moved to another project left a copy behind, and its files elsewhere are still
            // needed there.
            if staying.contains(&session.id) {
                all_files.retain_below(&session.folder);
            }
            // If both copies are removed, their common files are listed once.
            all_files.retain_tops(|path| taken.insert(path.to_owned()));
        }
        plan
    }

    /// Number of bytes that the plan frees.
    pub fn bytes(&self) -> u64 {
        self.remove.iter().map(|doomed| doomed.all_files.bytes()).sum()
    }
}

impl Choice {
    fn fits(&self, session: &SessionFiles, all_files: &AllFiles) -> bool {
        let named = self.named.is_empty() || self.named.contains(&session.dir());
        let old = self.before.is_none_or(|before| session.modified().is_some_and(|at| at < before));
        let of_project = self.project.as_deref().is_none_or(|part| in_project(session, part));
        let large = self.larger_than.is_none_or(|least| all_files.bytes() > least);
        named && old && of_project && large
    }
}

impl PrunedSession {
    /// Removes the session, its main file last, so that a partly removed session is still found.
    ///
    /// Files outside of the configuration folder (behind a symbolic link) are left alone; so is a session
    /// that changed since the plan was made. Returns the removed files and folders.
    pub fn remove(&self) -> Result<Vec<PathBuf>, Error> {
        let main = self.session.main.as_ref();
        if let Some(main) = main
            && let Ok(now) = crate::roots::FileInfo::of(&main.path)
            && now != *main
        {
            let message = format!("The session `{}` has changed meanwhile", self.session.id);
            return Err(Error::new(ErrorKind::Invalid, message, "review again what would be removed"));
        }
        let root = config_folder(&self.session).unwrap_or_else(|| self.session.folder.clone());
        let root = fs_err::canonicalize(&root).at("look at", &root)?;
        let is_main = |path: &PathBuf| main.is_some_and(|main| main.path == *path);
        let (last, first): (Vec<_>, Vec<_>) = self.all_files.tops.iter().partition(|path| is_main(path));
        let paths: Vec<PathBuf> = first.into_iter().chain(last).cloned().collect();
        for path in &paths {
            remove_inside(&root, path)?;
        }
        Ok(paths)
    }
}

/// Removes a file or a folder; a symbolic link is removed and not followed.
fn remove_inside(root: &Path, path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(root);
    let folder = fs_err::canonicalize(folder).at("look at", folder)?;
    if !folder.starts_with(root) {
        let message = format!("`{}` lies outside of `{}`", path.display(), root.display());
        return Err(Error::new(
            ErrorKind::Invalid,
            message,
            "a folder on the way is a link; remove it by hand",
        ));
    }
    let metadata = std::fs::symlink_metadata(path).at("look at", path)?;
    if metadata.is_dir() {
        std::fs::remove_dir_all(path).at("delete", path)
    } else {
        std::fs::remove_file(path).at("delete", path)
    }
}

/// Time of the last change to any file of the session: a sub-agent may still write when the main conversation
/// does not.
fn changed(session: &SessionFiles, all_files: &AllFiles) -> Option<SystemTime> {
    all_files.files.iter().map(|file| file.modified).max().or_else(|| session.modified())
}

fn in_project(session: &SessionFiles, part: &str) -> bool {
    let folder = session.folder.file_name().unwrap_or_default().to_string_lossy();
    let encoded: String = part.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    folder.contains(part) || folder.contains(&encoded)
}
