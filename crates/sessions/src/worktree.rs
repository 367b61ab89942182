//! Git worktrees: a working copy of the project for one session, with a branch of its own.
//!
//! A worktree lies in `.claude/worktrees` of the folder that the session was started in, where the CLI puts
//! its own, so it is inside of the allowed folders. It is removed on request only, and its branch stays.

use std::path::{Path, PathBuf};

use tidings_api::{
    Code, CreateSession, Scope, ServerPhase, SessionView, SessionWorktree, SessionWorktreeState,
};
use tidings_base::plural::counted;
use tidings_journal::Key;

use super::Sessions;
use super::live_session::Change;
use crate::git::Git;
use crate::{Caller, Error, paths};

/// The folders between a project and its worktrees.
const PARENTS: [&str; 2] = [".claude", "worktrees"];

/// Letters of the key of a session in the name of its branch.
const KEY_LETTERS: usize = 8;

/// Changes that are not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommitted {
    /// The changes stay.
    Keep,
    /// The changes are lost.
    Discard,
}

impl Sessions {
    /// Makes the worktree that a new session wants, which becomes its folder.
    pub(super) async fn make_worktree(
        &self,
        caller: &Caller,
        new: &mut CreateSession,
        key: &Key,
    ) -> Result<Option<SessionWorktree>, Error> {
        let Some(wanted) = new.worktree.as_deref().map(str::trim) else { return Ok(None) };
        if new.resume.is_some() {
            let message = "A resumed session stays in its folder, and cannot get a worktree";
            return Err(Error::new(Code::Invalid, message, "leave `worktree` or `resume` out"));
        }
        let project = PathBuf::from(&new.cwd);
        let Some(git) = Git::open(&self.config().environment, &new.cwd).await? else {
            let message = format!("`{}` is not under version control", new.cwd);
            return Err(Error::new(Code::Invalid, message, "leave `worktree` out, or run `git init` there"));
        };
        self.folder(caller, &git.repository_folder().await?)?;
        let start: String = key.as_str().chars().take(KEY_LETTERS).collect();
        let branch = if wanted.is_empty() { format!("session-{start}") } else { wanted.to_owned() };
        let folder = parent_of_worktrees(&project)?.join(branch.replace('/', "-"));
        git.add_worktree(&folder, &branch).await?;
        let worktree = SessionWorktree {
            project: new.cwd.clone(),
            folder: folder.to_string_lossy().into_owned(),
            branch,
            removed: false,
        };
        // The session works in the same part of the repository.
        let same_part = match git.prefix().await {
            Ok(prefix) => self.folder(caller, &folder.join(prefix).to_string_lossy()),
            Err(error) => Err(error),
        };
        match same_part {
            Ok(cwd) => new.cwd = cwd,
            Err(error) => {
                self.drop_worktree(&worktree).await;
                return Err(error);
            }
        }
        Ok(Some(worktree))
    }

    /// Removes a new worktree whose session could not be created.
    pub(super) async fn drop_worktree(&self, worktree: &SessionWorktree) {
        let dropped = async {
            let git = Git::open(&self.config().environment, &worktree.project).await?;
            match git {
                Some(git) => git.remove_worktree(Path::new(&worktree.folder)).await,
                None => Ok(()),
            }
        };
        if let Err(error) = dropped.await {
            tracing::warn!(folder = worktree.folder, %error, "failed to remove an unused worktree");
        }
    }

    /// The state of the worktree of a session.
    pub async fn worktree(&self, name: &str) -> Result<SessionWorktreeState, Error> {
        let row = self.row(name).await?;
        let worktree = self.settings(&row).await.worktree;
        self.state_of(worktree.ok_or_else(|| no_worktree(name))?).await
    }

    async fn state_of(&self, worktree: SessionWorktree) -> Result<SessionWorktreeState, Error> {
        // A person may have removed its folder.
        let is_missing = Path::new(&worktree.folder).symlink_metadata().is_err();
        if worktree.removed || is_missing {
            return Ok(SessionWorktreeState { worktree, changes: 0, commits: 0 });
        }
        paths::unchanged(&self.config().roots, Path::new(&worktree.folder))?;
        let git = Git::open(&self.config().environment, &worktree.folder).await?;
        let git = git.ok_or_else(|| {
            let message = format!("`{}` is not a worktree any more", worktree.folder);
            Error::new(Code::Conflict, message, "look at the folder yourself")
        })?;
        let (changes, commits) = (git.uncommitted().await?, git.own_commits(&worktree.branch).await?);
        Ok(SessionWorktreeState { worktree, changes, commits })
    }

    /// Removes the worktree of a session; its branch stays. The agent is stopped first, and a worktree with
    /// changes that are not committed is removed only if they are to be discarded.
    pub async fn remove_worktree(
        &self,
        caller: &Caller,
        name: &str,
        uncommitted: Uncommitted,
    ) -> Result<SessionView, Error> {
        caller.require(Scope::Always)?;
        let used = self.active_for(caller, name).await?;
        let view = used.entry.view();
        let worktree = view.worktree.clone().ok_or_else(|| no_worktree(name))?;
        if worktree.removed {
            return Ok(view);
        }
        if matches!(view.state, ServerPhase::Running | ServerPhase::NeedsYou | ServerPhase::Starting) {
            let message = "The agent of this session is at work in the worktree";
            return Err(Error::new(Code::Conflict, message, "stop the agent first"));
        }
        used.end(ServerPhase::Stopped).await;
        let state = self.state_of(worktree).await?;
        if state.changes > 0 && uncommitted == Uncommitted::Keep {
            let files = counted(state.changes, "file");
            let message = format!("The worktree has changes in {files} that are not committed");
            return Err(Error::new(Code::Conflict, message, "commit them, or send `discard`"));
        }
        let worktree = state.worktree;
        let Some(git) = Git::open(&self.config().environment, &worktree.project).await? else {
            let message = format!("`{}` is not a repository any more", worktree.project);
            return Err(Error::new(Code::Conflict, message, "remove the folder of the worktree yourself"));
        };
        git.remove_worktree(Path::new(&worktree.folder)).await?;
        self.audit_action(caller, Some(&view.key), "worktree removed", &worktree.folder).await;
        let change = used.entry.change(|settings, _| {
            settings.worktree = Some(SessionWorktree { removed: true, ..worktree });
            Ok(Change::default())
        });
        change.await.map(|(view, _)| view)
    }
}

/// The folder for the worktrees of a project. `git` ignores it, and no part of it may be a link.
fn parent_of_worktrees(project: &Path) -> Result<PathBuf, Error> {
    let failed = |error: std::io::Error| {
        let message = format!("Failed to make the folder for worktrees: {error}");
        Error::new(Code::Unprocessable, message, "check the folder `.claude` of the project")
    };
    let mut folder = project.to_owned();
    for part in PARENTS {
        folder.push(part);
        match fs_err::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        if !fs_err::symlink_metadata(&folder).map_err(failed)?.is_dir() {
            let message = format!("`{}` is not a folder, or a link", folder.display());
            return Err(Error::new(Code::Unprocessable, message, "rename it"));
        }
    }
    let ignored = folder.join(".gitignore");
    if fs_err::symlink_metadata(&ignored).is_err() {
        fs_err::write(&ignored, "*\n").map_err(failed)?;
    }
    Ok(folder)
}

fn no_worktree(name: &str) -> Error {
    let message = format!("The session `{name}` has no worktree");
    Error::new(Code::NotFound, message, "create a session with `worktree`")
}
