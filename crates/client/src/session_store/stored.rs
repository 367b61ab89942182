//! Reading the sessions of a store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tidings_protocol::json::{Json, Raw};
use tidings_transcript::manage::SessionId;
use tokio::task::JoinSet;

use super::files::{blocking, write_subagent, write_transcript};
use super::{SessionKey, SessionStore, StoredSession, is_safe_subpath, project_key, storage_error};
use crate::error::{Error, ErrorKind};
use crate::limits::{STORE_LOADS_MAX, STORE_TIMEOUT};
use crate::sessions::{Page, SessionInfo, SessionMessage, Sessions};
use crate::transport::process::command::private_folder;

/// The sessions of one project in a store.
///
/// ```
/// use std::sync::Arc;
/// use tidings::session_store::{MemoryStore, StoredSessions};
/// use tidings::sessions::Page;
///
/// # async fn run() -> Result<(), tidings::Error> {
/// let sessions = StoredSessions::new(Arc::new(MemoryStore::new()), "/home/dev/demo");
/// for session in sessions.list(Page::default()).await? {
///     println!("{} {}", session.session_id, session.summary);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct StoredSessions {
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) folder: PathBuf,
    pub(super) project: String,
    pub(super) config: Option<PathBuf>,
    timeout: Duration,
}

impl StoredSessions {
    /// The sessions of the project in this folder.
    pub fn new(store: Arc<dyn SessionStore>, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let project = project_key(&folder);
        StoredSessions { store, folder, project, config: None, timeout: STORE_TIMEOUT }
    }

    /// Sets the key of the project, if it is not that of the folder: on another machine the folder may have
    /// another path.
    pub fn project(mut self, key: impl Into<String>) -> Self {
        self.project = key.into();
        self
    }

    /// Sets the configuration folder from which a resumed session takes the login and the user's settings; by
    /// default that of the current user.
    pub fn config_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config = Some(folder.into());
        self
    }

    /// Sets the time for one call to the store; a minute by default.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Information about each session, last modified first, as [`Sessions::list`] has it.
    ///
    /// Every session is loaded for it. One that cannot be loaded is listed without a summary.
    pub async fn list(&self, page: Page) -> Result<Vec<SessionInfo>, Error> {
        let stored = self.within("list the sessions of", self.store.list(&self.project)).await?;
        let mut left = stored.into_iter().filter(|one| SessionId::parse(&one.session).is_ok());
        let (mut loads, mut infos) = (JoinSet::new(), Vec::new());
        loop {
            while loads.len() < STORE_LOADS_MAX
                && let Some(one) = left.next()
            {
                let sessions = self.clone();
                loads.spawn(async move { sessions.listed(one).await });
            }
            match loads.join_next().await {
                Some(info) => infos.extend(info.unwrap_or_default()),
                None => break,
            }
        }
        infos.sort_by(|a, b| {
            b.last_modified.cmp(&a.last_modified).then_with(|| a.session_id.cmp(&b.session_id))
        });
        let wanted = infos.into_iter().skip(page.offset);
        Ok(wanted.take(page.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX)).collect())
    }

    async fn listed(&self, one: StoredSession) -> Option<SessionInfo> {
        let info = match self.info(&one.session).await {
            Ok(info) => info?,
            Err(error) => {
                tracing::warn!(session = one.session, %error, "failed to load a session for a list");
                SessionInfo::unread(&one.session)
            }
        };
        Some(SessionInfo { last_modified: one.modified_ms, ..info })
    }

    /// Information about one session; `None` if it does not exist, or if it would not be listed. Its time is
    /// that of its last entry.
    pub async fn info(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let Some((files, entries)) = self.written(id, Transcripts::Main).await? else { return Ok(None) };
        let info = files.sessions(self).info(id).await?;
        Ok(info.map(|info| SessionInfo {
            last_modified: written_at(&entries).unwrap_or(info.last_modified),
            ..info
        }))
    }

    /// The messages of a session, in order, without sub-agents; empty if there is no such session.
    pub async fn messages(&self, id: &str, page: Page) -> Result<Vec<SessionMessage>, Error> {
        match self.written(id, Transcripts::Main).await? {
            Some((files, _)) => files.sessions(self).messages(id, page).await,
            None => Ok(Vec::new()),
        }
    }

    /// The ids of a session's sub-agents.
    pub async fn subagents(&self, id: &str) -> Result<Vec<String>, Error> {
        let key = self.key(id)?;
        let mut agents: Vec<String> = Vec::new();
        for subpath in self.within("list the transcripts of a session in", self.store.subpaths(&key)).await? {
            let Some(agent) = subpath.strip_prefix("subagents/").map(last_part) else { continue };
            if let Some(agent) = agent.strip_prefix("agent-")
                && !agents.iter().any(|known| known == agent)
            {
                agents.push(agent.to_owned());
            }
        }
        Ok(agents)
    }

    /// The messages of a sub-agent; empty if there is no such agent.
    pub async fn subagent_messages(
        &self,
        id: &str,
        agent_id: &str,
        page: Page,
    ) -> Result<Vec<SessionMessage>, Error> {
        match self.written(id, Transcripts::All).await? {
            Some((files, _)) => files.sessions(self).subagent_messages(id, agent_id, page).await,
            None => Ok(Vec::new()),
        }
    }

    /// The session that was written last and is none of a sub-agent.
    pub async fn latest(&self) -> Result<Option<String>, Error> {
        let mut stored = self.within("list the sessions of", self.store.list(&self.project)).await?;
        stored.sort_by_key(|one| std::cmp::Reverse(one.modified_ms));
        for one in stored.into_iter().filter(|one| SessionId::parse(&one.session).is_ok()) {
            let key = SessionKey::new(&self.project, &one.session);
            let entries =
                self.within("load a session from", self.store.load(&key)).await?.unwrap_or_default();
            let is_sidechain =
                |entry: &Json| entry.raw().get("isSidechain").and_then(Raw::bool) == Some(true);
            if entries.first().is_some_and(|first| !is_sidechain(first)) {
                return Ok(Some(one.session));
            }
        }
        Ok(None)
    }

    /// Deletes a session with its sub-agents, if the store deletes.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        let key = self.key(id)?;
        self.within("delete a session from", self.store.delete(&key)).await
    }

    pub(super) fn key(&self, id: &str) -> Result<SessionKey, Error> {
        let id = SessionId::parse(id).map_err(|error| {
            let hint = error.hint().to_owned();
            Error::new(ErrorKind::Invalid, error.to_string(), hint)
        })?;
        Ok(SessionKey::new(&self.project, id.as_str()))
    }

    /// Writes a session into a folder of its own, in which Claude Code finds it. `None` if it does not exist.
    pub(super) async fn written(
        &self,
        id: &str,
        transcripts: Transcripts,
    ) -> Result<Option<(WrittenSession, Vec<Json>)>, Error> {
        let key = self.key(id)?;
        let entries = self.within("load a session from", self.store.load(&key)).await?.unwrap_or_default();
        if entries.is_empty() {
            return Ok(None);
        }
        let mut others = Vec::new();
        if transcripts == Transcripts::All {
            for subpath in
                self.within("list the transcripts of a session in", self.store.subpaths(&key)).await?
            {
                if !is_safe_subpath(&subpath) {
                    tracing::warn!(session = id, subpath, "a store names a path outside of the session");
                    continue;
                }
                let key = key.with_subpath(&subpath);
                let entries =
                    self.within("load a session from", self.store.load(&key)).await?.unwrap_or_default();
                others.push((subpath, entries));
            }
        }
        let written = blocking(move || {
            let write = || -> std::io::Result<TempDir> {
                let folder = private_folder()?;
                let project = folder.path().join("projects").join(&key.project);
                write_transcript(&project.join(format!("{}.jsonl", key.session)), &entries)?;
                for (subpath, entries) in &others {
                    write_subagent(&project.join(&key.session).join(format!("{subpath}.jsonl")), entries)?;
                }
                Ok(folder)
            };
            let folder =
                write().map_err(|source| storage_error("Failed to write a session of a store", source))?;
            Ok((WrittenSession(folder), entries))
        });
        written.await.map(Some)
    }

    /// Waits for a store. Its errors say what failed.
    pub(super) async fn within<T>(
        &self,
        what: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                let message = format!("Failed to {what} a session store");
                Err(Error::new(ErrorKind::Storage, message, "see the cause").caused_by(error))
            }
            Err(_) => {
                let message = format!("Failed to {what} a session store within {:?}", self.timeout);
                Err(Error::new(ErrorKind::Timeout, message, "set a longer `StoredSessions::timeout`"))
            }
        }
    }
}

/// The transcripts of a session that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transcripts {
    Main,
    All,
}

/// A configuration folder with one session of a store, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct WrittenSession(TempDir);

impl WrittenSession {
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    fn sessions(&self, of: &StoredSessions) -> Sessions {
        let sessions = Sessions::under(self.path());
        if of.project == project_key(&of.folder) {
            return sessions.project(&of.folder).without_worktrees();
        }
        sessions
    }
}

/// The time of the last entry, in milliseconds since 1970.
fn written_at(entries: &[Json]) -> Option<i64> {
    let time = entries.last()?.raw().get("timestamp").and_then(Raw::text)?;
    Some(time.get().parse::<jiff::Timestamp>().ok()?.as_millisecond())
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl fmt::Debug for StoredSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSessions")
            .field("folder", &self.folder)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}
