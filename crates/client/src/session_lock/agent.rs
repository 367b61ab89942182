//! The lock of an agent: that of the session which it writes, which may change while it runs.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{SessionLock, SessionOwner};
use crate::error::{Error, ErrorKind};
use crate::find;
use crate::options::{EnvBase, Environment, Launch};

/// The session that an agent will write.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LockedSession {
    /// None: the conversation is not stored.
    #[default]
    None,
    /// A new one, whose id the agent chooses.
    New,
    /// The one with this id, or with this title.
    Named(String),
    /// The latest one of the folder.
    Latest,
}

/// The lock that the starter of an agent must take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockRequest {
    config_dir: String,
    session: LockedSession,
    /// The session that is the latest one at this moment, if the agent continues that.
    #[serde(default)]
    latest: Option<String>,
    owner: SessionOwner,
}

impl LockRequest {
    /// The lock for a launch; none if the agent stores nothing, or its configuration folder is not known.
    pub(crate) fn of(launch: &Launch) -> Option<Self> {
        if launch.locked_session == LockedSession::None {
            return None;
        }
        let folder = launch.config_dir.clone().or_else(|| config_dir(launch))?;
        let (session, owner) = (launch.locked_session.clone(), launch.owner.clone());
        let cwd = || launch.cwd.clone().or_else(find::own_folder);
        let latest = match session {
            LockedSession::Latest => cwd().and_then(|cwd| latest_session(&folder, &cwd)),
            _ => None,
        };
        Some(LockRequest { config_dir: folder.to_str()?.to_owned(), session, latest, owner })
    }

    /// The lock of a session whose id is known.
    #[cfg(all(unix, feature = "host"))]
    pub(crate) fn named(config_dir: &Path, id: String, owner: SessionOwner) -> Option<Self> {
        let (config_dir, session) = (config_dir.to_str()?.to_owned(), LockedSession::Named(id));
        Some(LockRequest { config_dir, session, latest: None, owner })
    }

    /// The session that is known before the agent is started.
    fn known(&self) -> Option<&str> {
        match &self.session {
            LockedSession::Named(id) => Some(id),
            _ => self.latest.as_deref(),
        }
    }

    /// The same for an agent under a host.
    #[cfg(all(unix, feature = "host"))]
    pub(crate) fn under_host(mut self, id: &str) -> Self {
        self.owner.host = Some(id.to_owned());
        self
    }
}

/// The configuration folder of Claude Code in the environment of an agent.
fn config_dir(launch: &Launch) -> Option<PathBuf> {
    let variable = |name: &str| variable(&launch.environment, name);
    let named = variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = named.or_else(|| Some(variable("HOME").map(PathBuf::from)?.join(".claude")))?;
    Some(launch.cwd.as_deref().unwrap_or(Path::new("")).join(folder))
}

/// The session file of a folder that was written last, as Claude Code chooses the latest conversation. If it
/// chooses another one, it says so with its first frame.
fn latest_session(config_dir: &Path, cwd: &Path) -> Option<String> {
    let cwd = cwd.canonicalize().ok()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let project: String = cwd.to_str()?.chars().map(plain).collect();
    let entries = std::fs::read_dir(config_dir.join("projects").join(project)).ok()?;
    let session = |entry: std::fs::DirEntry| {
        let id = entry.file_name().to_str()?.strip_suffix(".jsonl")?.to_owned();
        let modified = entry.metadata().ok()?.modified().ok()?;
        uuid::Uuid::try_parse(&id).is_ok().then_some((modified, id))
    };
    entries.flatten().filter_map(session).max().map(|(_, id)| id)
}

/// A variable of the environment of an agent.
fn variable(environment: &Environment, name: &str) -> Option<String> {
    let is_inherited = match &environment.base {
        EnvBase::Inherit => !environment.remove.iter().any(|removed| removed == name),
        EnvBase::Only(names) => names.iter().any(|kept| kept == name),
        EnvBase::Empty => false,
    };
    let inherited = || find::variables(&[name]).pop().filter(|_| is_inherited)?.1.into_string().ok();
    let set = environment.set.get(name).cloned();
    let found = set.or_else(inherited).or_else(|| environment.set_if_unset.get(name).cloned());
    found.filter(|value| !value.is_empty())
}

/// The lock of an agent.
#[derive(Debug)]
pub(crate) struct AgentLock {
    request: Option<LockRequest>,
    state: Mutex<LockState>,
}

#[derive(Debug, Default)]
struct LockState {
    held: Option<SessionLock>,
    agent: Option<u32>,
    /// True once the agent has said which session it writes.
    is_known: bool,
}

impl AgentLock {
    /// Takes the lock before an agent is started, if its session is known. Blocks.
    pub(crate) fn take(request: Option<LockRequest>) -> Result<Self, Error> {
        let known = request.as_ref().and_then(|request| Some((request, request.known()?)));
        let held = match known {
            Some((LockRequest { config_dir, owner, .. }, id)) => {
                or_without(SessionLock::take(Path::new(config_dir), id, owner))?
            }
            None => None,
        };
        Ok(AgentLock { request, state: Mutex::new(LockState { held, ..LockState::default() }) })
    }

    /// Notes the process of the agent: the session is its own as long as it lives.
    pub(crate) fn set_agent(&self, pid: Option<u32>) {
        let mut state = self.state.lock();
        state.agent = pid;
        state.describe_agent();
    }

    /// Takes the lock of the session that the agent has begun to write, and releases the one before. Fails if
    /// it continues a session of another process.
    pub(crate) fn note_session(&self, id: &str) -> Result<(), Error> {
        let Some(LockRequest { config_dir, session, owner, .. }) = &self.request else { return Ok(()) };
        let mut state = self.state.lock();
        let is_first = !std::mem::replace(&mut state.is_known, true);
        if state.held.as_ref().is_some_and(|held| held.session_id() == id) {
            return Ok(());
        }
        // The id of a new session is new: only a script repeats one, and it writes no conversation of others.
        let is_continued = is_first && *session != LockedSession::New;
        match or_without(SessionLock::take_for_running(Path::new(config_dir), id, owner)) {
            Ok(lock) => {
                state.held = lock;
                state.describe_agent();
                Ok(())
            }
            Err(error) if is_continued => Err(error),
            Err(error) => {
                tracing::warn!(%error, "two agents write the same session");
                Ok(())
            }
        }
    }

    /// Releases the lock when the agent has described itself, which every other command of ours respects, and
    /// which changes with `/clear`. Earlier versions of Claude Code do not; then it is kept.
    #[cfg(all(unix, feature = "terminal"))]
    pub(crate) fn release_when_described(self: std::sync::Arc<Self>) {
        #[cfg(feature = "sessions")]
        drop(std::thread::spawn(move || {
            let agent = self.state.lock().agent;
            let (Some(request), Some(agent)) = (&self.request, agent) else { return };
            let is_described =
                || tidings_transcript::running::current(Path::new(&request.config_dir), agent).is_some();
            while self.state.lock().held.is_some() && !is_described() {
                std::thread::sleep(crate::limits::DESCRIBED_LOOK_EVERY);
            }
            self.release();
        }));
    }

    /// Releases the lock after the end of the agent.
    pub(crate) fn release(&self) {
        self.state.lock().held = None;
    }
}

impl LockState {
    fn describe_agent(&mut self) {
        if let (Some(lock), Some(pid)) = (&mut self.held, self.agent)
            && let Err(error) = lock.set_agent(pid)
        {
            tracing::warn!(%error, "failed to describe the agent in the lock of its session");
        }
    }
}

/// The lock; none if it cannot be taken for another reason than another writer. A folder in which nothing can
/// be written has no session either.
fn or_without(taken: Result<SessionLock, Error>) -> Result<Option<SessionLock>, Error> {
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == ErrorKind::Taken => Err(error),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%error, cause, "an agent runs without the lock of its session");
            Ok(None)
        }
    }
}
