//! The sessions of Claude Code on disk (feature `sessions`, which is on by default).
//!
//! | here | Python SDK | TypeScript SDK |
//! |---|---|---|
//! | [`Sessions::list`] | `list_sessions` | `listSessions` |
//! | [`Sessions::info`] | `get_session_info` | `getSessionInfo` |
//! | [`Sessions::messages`] | `get_session_messages` | `getSessionMessages` |
//! | [`Sessions::subagents`] | `list_subagents` | `listSubagents` |
//! | [`Sessions::subagent_messages`] | `get_subagent_messages` | `getSubagentMessages` |
//! | [`Sessions::rename`] | `rename_session` | `renameSession` |
//! | [`Sessions::tag`] | `tag_session` | `tagSession` |
//! | [`Sessions::fork`] | `fork_session` | `forkSession` |
//! | [`Sessions::delete`] | `delete_session` | `deleteSession` |
//! | [`Sessions::archive`] | | `archiveSession` |
//! | [`Sessions::unarchive`] | | `unarchiveSession` |
//!
//! The results are those of the SDKs on the same files. The crate `tidings-transcript` implements them and
//! offers more: trees, costs, search, exports.

mod change;
mod read;
mod worktrees;

use std::path::{Path, PathBuf};

pub(crate) use self::change::now;
pub use tidings_transcript::manage::{Forked, Page, SessionInfo, SessionMessage, Speaker};
use tidings_transcript::manage::{Scope, SessionFile};
use tidings_transcript::roots::Roots;

use crate::error::{Error, ErrorKind};
use crate::ids::Ids;

/// The sessions of a configuration folder: all of them, or those of one project.
///
/// ```no_run
/// use tidings::Sessions;
/// use tidings::sessions::Page;
///
/// # async fn run() -> Result<(), tidings::Error> {
/// let sessions = Sessions::of_user()?.project("/home/dev/demo");
/// for session in sessions.list(Page { limit: Some(10), ..Page::default() }).await? {
///     println!("{} {}", session.session_id, session.summary);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Sessions {
    config: PathBuf,
    project: Option<PathBuf>,
    worktrees: Worktrees,
    ids: Ids,
}

/// Inclusion of the other worktrees of a project's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worktrees {
    Included,
    LeftOut,
}

impl Sessions {
    /// The sessions of the current system user: under `CLAUDE_CONFIG_DIR`, or `.claude` in the home folder.
    pub fn of_user() -> Result<Self, Error> {
        let config = crate::find::config_folder().ok_or_else(|| {
            let hint = "set CLAUDE_CONFIG_DIR, or use `Sessions::under`";
            Error::new(ErrorKind::Storage, "No home folder, so no sessions can be found", hint)
        })?;
        Ok(Sessions::under(config))
    }

    /// The sessions under a configuration folder, the one that contains `projects`.
    pub fn under(config: impl Into<PathBuf>) -> Self {
        Sessions { config: config.into(), project: None, worktrees: Worktrees::Included, ids: Ids::random() }
    }

    /// Limits the sessions to one project, by its folder, and the other worktrees of its repository.
    pub fn project(mut self, folder: impl Into<PathBuf>) -> Self {
        self.project = Some(folder.into());
        self
    }

    /// Excludes the other worktrees of a project's repository, and does not run git.
    pub fn without_worktrees(mut self) -> Self {
        self.worktrees = Worktrees::LeftOut;
        self
    }

    /// Sets the source of ids for copies; random by default.
    pub fn ids(mut self, ids: Ids) -> Self {
        self.ids = ids;
        self
    }

    /// Runs file operations on a blocking thread.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Scope<'_>) -> Result<T, tidings_transcript::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let worktrees = match &self.project {
            Some(folder) if self.worktrees == Worktrees::Included => worktrees::of(folder).await,
            _ => Vec::new(),
        };
        let (config, project) = (self.config.clone(), self.project.clone());
        let working = tokio::task::spawn_blocking(move || {
            let roots = Roots::new([config]);
            work(&scope(&roots, project.as_deref(), &worktrees))
        });
        let done = working.await.map_err(|source| {
            Error::new(ErrorKind::Storage, "The operation on session files was aborted", "").caused_by(source)
        })?;
        done.map_err(convert_error)
    }

    /// Runs file operations on one session, by its id.
    pub(crate) async fn run_with<T: Send + 'static>(
        &self,
        id: &str,
        work: impl FnOnce(&SessionFile) -> Result<T, tidings_transcript::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let id = id.to_owned();
        self.run(move |scope| work(&scope.find(&id)?)).await
    }
}

fn scope<'a>(roots: &'a Roots, project: Option<&'a Path>, worktrees: &'a [PathBuf]) -> Scope<'a> {
    project.map_or_else(|| Scope::everywhere(roots), |folder| Scope::project(roots, folder, worktrees))
}

fn convert_error(error: tidings_transcript::Error) -> Error {
    use tidings_transcript::ErrorKind as StorageErrorKind;
    let (kind, hint) = match error.kind() {
        StorageErrorKind::NotFound => (ErrorKind::NoSession, "`Sessions::list` returns the ids"),
        StorageErrorKind::Invalid | StorageErrorKind::Ambiguous => (ErrorKind::Invalid, error.hint()),
        _ => (ErrorKind::Storage, error.hint()),
    };
    let converted = Error::new(kind, error.to_string(), hint);
    match std::error::Error::source(&error) {
        // The message is already copied; only its cause follows.
        Some(_) => converted.caused_by(Cause(error)),
        None => converted,
    }
}

/// The cause below an error whose message is already shown.
#[derive(Debug)]
struct Cause(tidings_transcript::Error);

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match std::error::Error::source(&self.0) {
            Some(source) => write!(f, "{source}"),
            None => write!(f, "{}", self.0),
        }
    }
}

impl std::error::Error for Cause {}
