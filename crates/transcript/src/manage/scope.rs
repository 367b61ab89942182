//! The scope of a call: all sessions, or those of one folder and its worktrees.

use std::path::{Path, PathBuf};

use super::SessionId;
use super::project_key::{ProjectKeys, canonical};
use crate::roots::{Roots, SessionFiles};
use crate::{Error, ErrorKind};

/// The scope of a call: all sessions, or those of one folder and of the other worktrees of its repository.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    roots: &'a Roots,
    project: Option<(&'a Path, &'a [PathBuf])>,
}

/// A session that was found, for reading or changing it.
#[derive(Debug, Clone)]
pub struct SessionFile {
    /// Its id.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// The folder it was looked up under, if one was given: the working folder of a session that names none.
    pub(super) project: Option<String>,
}

/// A folder with sessions, and their working folder if it is known.
#[derive(Debug)]
pub(super) struct ProjectFolder {
    pub(super) path: PathBuf,
    pub(super) project: Option<String>,
}

impl<'a> Scope<'a> {
    /// The sessions of all projects.
    pub fn everywhere(roots: &'a Roots) -> Self {
        Scope { roots, project: None }
    }

    /// The sessions of one folder. `worktrees` are those reported by git, see [`worktrees`]; without them
    /// only the folder itself counts.
    pub fn project(roots: &'a Roots, folder: &'a Path, worktrees: &'a [PathBuf]) -> Self {
        Scope { roots, project: Some((folder, worktrees)) }
    }

    /// Finds the session with this id. Empty files do not count; of several the last written one is returned.
    pub fn find(&self, id: &str) -> Result<SessionFile, Error> {
        let id = SessionId::parse(id)?;
        let name = format!("{id}.jsonl");
        let mut found: Option<(SessionFile, std::time::SystemTime)> = None;
        for ProjectFolder { path, project } in self.folders() {
            let path = path.join(&name);
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            let Ok(modified) = metadata.modified() else { continue };
            if !metadata.is_file() || metadata.len() == 0 {
                continue;
            }
            // The project's own folder takes precedence over its worktrees.
            let better = found.as_ref().is_none_or(|(_, other)| self.project.is_none() && modified > *other);
            if better {
                found = Some((SessionFile { id: id.clone(), path, project }, modified));
            }
        }
        found.map(|(session, _)| session).ok_or_else(|| not_found(&id))
    }

    /// The folders to search.
    pub(super) fn folders(&self) -> Vec<ProjectFolder> {
        let Some((folder, worktrees)) = self.project else {
            let all = self.subfolders().into_iter();
            return all.map(|(path, _)| ProjectFolder { path, project: None }).collect();
        };
        let folder = canonical(folder);
        let mut wanted = vec![folder.clone()];
        // Git lists the repository itself too, so a single item means that there is no worktree.
        if worktrees.len() > 1 {
            let others = worktrees.iter().map(|path| path.to_string_lossy().into_owned());
            wanted.extend(others.filter(|path| *path != folder));
        }
        let mut left = self.subfolders();
        let mut folders = Vec::new();
        for project in wanted {
            let keys = ProjectKeys::of(&project);
            for (path, _) in left.extract_if(.., |(_, name)| keys.fit(name)) {
                folders.push(ProjectFolder { path, project: Some(project.clone()) });
            }
        }
        folders
    }

    /// Every folder with sessions and its name. An unreadable folder has none.
    fn subfolders(&self) -> Vec<(PathBuf, String)> {
        let mut folders = Vec::new();
        for projects in self.roots.projects_folders() {
            let Ok(entries) = std::fs::read_dir(projects) else { continue };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                folders.push((path, name));
            }
        }
        folders.sort();
        folders
    }
}

impl SessionFile {
    /// The session of files that were found by other means, such as the beginning of its id.
    pub fn of(files: &SessionFiles) -> Result<Self, Error> {
        let id = SessionId::of_file(&files.id);
        let Some(main) = &files.main else {
            let message = format!("Only files of sub-agents are left of session `{id}`");
            return Err(Error::new(ErrorKind::NotFound, message, "name one of them by its path"));
        };
        if main.bytes == 0 {
            return Err(not_found(&id));
        }
        Ok(SessionFile { id, path: main.path.clone(), project: None })
    }

    /// The folder beside the file: sub-agents, tool results, marks. It need not exist.
    pub fn dir(&self) -> PathBuf {
        self.path.with_file_name(self.id.as_str())
    }
}

/// The folders in the output of `git worktree list --porcelain`.
pub fn worktrees(porcelain: &str) -> Vec<PathBuf> {
    porcelain.lines().filter_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from).collect()
}

pub(super) fn not_found(id: &SessionId) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("No such session: `{id}`"),
        "`tidings sessions list` shows the ids",
    )
}
