//! Removing sessions that are not needed any more.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::belongings::{Belongings, config_folder};
use crate::error::At as _;
use crate::roots::SessionFiles;
use crate::{Error, ErrorKind};

/// Somebody may be about to go on with a session that changed so recently.
pub const FRESH: Duration = Duration::from_secs(60 * 60);

/// Which sessions to remove: those that meet every condition that is given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// These sessions, by [`SessionFiles::dir`]. They may be as fresh as they like.
    pub named: HashSet<PathBuf>,
    /// Not changed since.
    pub before: Option<SystemTime>,
    /// All files together are larger.
    pub larger_than: Option<u64>,
    /// This stands in the name of the project's folder, in which everything but letters and digits is a dash.
    pub project: Option<String>,
}

/// What will be removed.
#[derive(Debug, Default)]
pub struct Plan {
    /// Sessions to remove, and what belongs to them.
    pub remove: Vec<Doomed>,
    /// Sessions that fit but stay.
    pub spared: Vec<(SessionFiles, Spared)>,
}

/// A session to remove.
#[derive(Debug)]
pub struct Doomed {
    /// The session.
    pub session: SessionFiles,
    /// Everything that goes with it.
    pub belongings: Belongings,
}

/// Why a session stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spared {
    /// A process has it open.
    Running,
    /// It changed within [`FRESH`].
    Fresh,
}

impl Plan {
    /// Chooses among sessions; `running` are those that a process has open. Nothing is removed yet.
    pub fn new(
        sessions: impl IntoIterator<Item = SessionFiles>,
        choice: &Choice,
        running: &HashSet<String>,
        now: SystemTime,
    ) -> Self {
        let mut plan = Plan::default();
        let mut staying = HashSet::new();
        for session in sessions {
            let belongings = Belongings::of(&session);
            if !choice.fits(&session, &belongings) {
                staying.insert(session.id);
                continue;
            }
            let fresh = || changed(&session, &belongings).is_none_or(|at| at + FRESH > now);
            let spared = if running.contains(&session.id) {
                Some(Spared::Running)
            } else if !choice.named.contains(&session.dir()) && fresh() {
                Some(Spared::Fresh)
            } else {
                None
            };
            match spared {
                Some(why) => plan.spared.push((session, why)),
                None => plan.remove.push(Doomed { session, belongings }),
            }
        }
        staying.extend(plan.spared.iter().map(|(session, _)| session.id.clone()));
        let mut taken = HashSet::new();
        for Doomed { session, belongings } in &mut plan.remove {
            // A session that moved to another project left a copy behind, and what lies elsewhere is needed there.
            if staying.contains(&session.id) {
                belongings.retain_below(&session.folder);
            }
            // Where both copies go, what lies elsewhere goes once.
            belongings.retain_tops(|path| taken.insert(path.to_owned()));
        }
        plan
    }

    /// How many bytes the plan sets free.
    pub fn bytes(&self) -> u64 {
        self.remove.iter().map(|doomed| doomed.belongings.bytes()).sum()
    }
}

impl Choice {
    fn fits(&self, session: &SessionFiles, belongings: &Belongings) -> bool {
        let named = self.named.is_empty() || self.named.contains(&session.dir());
        let old = self.before.is_none_or(|before| session.modified().is_some_and(|at| at < before));
        let of_project = self.project.as_deref().is_none_or(|part| in_project(session, part));
        let large = self.larger_than.is_none_or(|least| belongings.bytes() > least);
        named && old && of_project && large
    }
}

impl Doomed {
    /// Removes the session, its main file last, so that one that could not be removed whole is still found.
    ///
    /// What lies outside of the configuration folder, because a folder on the way is a link, is left alone; so is a
    /// session that changed since the plan was made. Gives the files and folders that are gone.
    pub fn remove(&self) -> Result<Vec<PathBuf>, Error> {
        let main = self.session.main.as_ref();
        if let Some(main) = main
            && let Ok(now) = crate::roots::FileInfo::of(&main.path)
            && now != *main
        {
            let message = format!("The session `{}` has changed meanwhile", self.session.id);
            return Err(Error::new(ErrorKind::Invalid, message, "look again at what would be removed"));
        }
        let root = config_folder(&self.session).unwrap_or_else(|| self.session.folder.clone());
        let root = fs_err::canonicalize(&root).at("look at", &root)?;
        let is_main = |path: &PathBuf| main.is_some_and(|main| main.path == *path);
        let (last, first): (Vec<_>, Vec<_>) = self.belongings.tops.iter().partition(|path| is_main(path));
        let paths: Vec<PathBuf> = first.into_iter().chain(last).cloned().collect();
        for path in &paths {
            remove_inside(&root, path)?;
        }
        Ok(paths)
    }
}

/// Removes a file or a folder; a link is removed and not followed.
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

/// When anything of the session last changed: a sub-agent may still write when the conversation itself does not.
fn changed(session: &SessionFiles, belongings: &Belongings) -> Option<SystemTime> {
    belongings.files.iter().map(|file| file.modified).max().or_else(|| session.modified())
}

fn in_project(session: &SessionFiles, part: &str) -> bool {
    let folder = session.folder.file_name().unwrap_or_default().to_string_lossy();
    let encoded: String = part.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    folder.contains(part) || folder.contains(&encoded)
}
