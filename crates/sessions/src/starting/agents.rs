//! Agents other than Claude Code: their models, and the past sessions that they list themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use parking_lot::Mutex;
use tidings_acp::adapter::{
    LIST_CURSOR_FLAG, LIST_FOLDER_FLAG, LIST_SESSIONS_FLAG, ListingResult, PastSession, PastSessions,
};
use tidings_acp::limits::LIST_CURSOR_BYTES_MAX;
use tidings_api::{AgentOption, Code, ModelList, Transcript, TranscriptList};
use tidings_journal::Key;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, oneshot};

use super::launch::ENTRYPOINT;
use crate::backends::Backend;
use crate::limits::{AGENT_LIST_BYTES_MAX, AGENT_LIST_EXIT, AGENT_LIST_WAIT, AGENT_LISTS_AT_ONCE};
use crate::live_session::LiveSession;
use crate::{Caller, Config, Error, Sessions};

/// State about other agents that outlives their sessions.
#[derive(Debug)]
pub(crate) struct OtherAgents {
    lists: Arc<Semaphore>,
    /// Models and modes that the last session of each agent offered, by the name of the agent.
    choices: Mutex<BTreeMap<String, ModelList>>,
}

impl Default for OtherAgents {
    fn default() -> Self {
        let lists = Arc::new(Semaphore::new(AGENT_LISTS_AT_ONCE));
        OtherAgents { lists, choices: Mutex::default() }
    }
}

impl Sessions {
    /// The models, modes and options that the agent of a session offers now, or, while none runs, the models
    /// and modes that such an agent offered last.
    pub async fn choices_of(&self, name: &str) -> Result<ModelList, Error> {
        let view = self.find(name).await?;
        let key = Key::new(&view.key)?;
        let agent = self.active().get(&key).and_then(|used| used.entry.agent());
        let Some(backend) = view.backend else {
            let options = match agent {
                Some(agent) => agent.choices().await.options,
                None => Vec::new(),
            };
            return Ok(ModelList { options, ..self.choices() });
        };
        if let Some(agent) = agent {
            return Ok(self.offered_by(&*agent, &backend).await);
        }
        // A session of another server may have an agent that this one does not have.
        Ok(self.choices_of_agent(&backend).await.unwrap_or_default())
    }

    /// The models and modes that an agent offered last; empty before its first start.
    pub async fn choices_of_agent(&self, backend: &str) -> Result<ModelList, Error> {
        self.config().agent(backend)?;
        let of_it = |entry: &LiveSession| entry.memory().settings.launch.backend.as_deref() == Some(backend);
        let running = {
            let active = self.active();
            active.values().filter(|used| of_it(&used.entry)).find_map(|used| used.entry.agent())
        };
        if let Some(agent) = running {
            drop(self.offered_by(&*agent, backend).await);
        }
        Ok(self.0.others.choices.lock().get(backend).cloned().unwrap_or_default())
    }

    /// Asks a running agent what it offers, and stores what its next session can choose from.
    async fn offered_by(&self, agent: &dyn Backend, backend: &str) -> ModelList {
        let mut offered = agent.choices().await;
        if !self.config().allow_bypass {
            for AgentOption { value, values, .. } in &mut offered.options {
                values.retain(|known| !known.bypass || known.value == *value);
            }
        }
        // Options have the values of one session.
        let stored = ModelList { options: Vec::new(), ..offered.clone() };
        self.0.others.choices.lock().insert(backend.to_owned(), stored);
        offered
    }

    /// The models of Claude Code.
    pub fn choices(&self) -> ModelList {
        ModelList { items: self.models(), ..ModelList::default() }
    }

    /// The past sessions of another agent in the folders that the caller may use, as the agent lists them. It
    /// is started for that, and ended again. `folder` is asked for if it lists none otherwise.
    pub async fn agent_sessions(
        &self,
        caller: &Caller,
        backend: &str,
        limit: usize,
        after: Option<&str>,
        folder: Option<&str>,
    ) -> Result<TranscriptList, Error> {
        // It is only a hint: one that may not be used is not asked for.
        let folder = folder.and_then(|folder| self.folder(caller, folder).ok());
        let config = self.0.config.for_backend(Some(backend))?;
        if after.is_some_and(|after| after.len() > LIST_CURSOR_BYTES_MAX || after.contains('\0')) {
            let hint = "send the `next` of the page before";
            return Err(Error::new(Code::Invalid, "Not a position in a list", hint));
        }
        let busy = |_| {
            let hint = "try again in a moment";
            Error::new(Code::TooMany, "Another list of an agent's sessions is being made", hint)
        };
        let permits = Arc::clone(&self.0.others.lists).acquire_owned();
        let permit = tokio::time::timeout(AGENT_LIST_WAIT, permits).await.map_err(busy)?;
        let mut adapter = start(&config, limit, after, folder.as_deref()).map_err(|error| {
            Error::new(Code::Agent, format!("`{backend}` could not be asked: {error}"), "")
        })?;
        let (sender, line) = oneshot::channel();
        // A task of its own: the agent is ended in order although the client has left.
        drop(tokio::spawn(async move {
            let line = tokio::time::timeout(AGENT_LIST_WAIT, first_line(&mut adapter)).await;
            drop(sender.send(line.ok().flatten()));
            drop(adapter.stdin.take());
            if tokio::time::timeout(AGENT_LIST_EXIT, adapter.wait()).await.is_err() {
                drop(adapter.start_kill());
            }
            drop(permit);
        }));
        let result = line.await.ok().flatten().and_then(|line| serde_json::from_slice(&line).ok());
        let listed = match result {
            Some(ListingResult::Sessions(listed)) => listed,
            Some(ListingResult::Unsupported) => {
                let message = format!("`{backend}` does not list its sessions");
                let hint = "resume one by its id, with `tidings start --backend NAME --resume ID`";
                return Err(Error::new(Code::Conflict, message, hint));
            }
            Some(ListingResult::Failed(why)) => return Err(Error::new(Code::Agent, why, "")),
            None => {
                let message = format!("`{backend}` did not list its sessions in time");
                return Err(Error::new(Code::Timeout, message, "try again"));
            }
        };
        let (sessions, caller, backend) = (self.clone(), caller.clone(), backend.to_owned());
        let visible = tokio::task::spawn_blocking(move || sessions.visible(&caller, &backend, listed));
        visible.await.map_err(|_| Error::new(Code::Internal, "Failed to check the folders of a list", ""))
    }

    /// The sessions whose folders exist and may be used by the caller.
    fn visible(&self, caller: &Caller, backend: &str, listed: PastSessions) -> TranscriptList {
        let items = listed.items.into_iter();
        let items = items.filter_map(|session| {
            let folder = self.folder(caller, &session.cwd).ok()?;
            Some(view(backend, folder, session))
        });
        TranscriptList { items: items.collect(), prev: None, next: listed.next }
    }
}

/// Starts the adapter of an agent, which lists the agent's sessions.
fn start(config: &Config, limit: usize, after: Option<&str>, folder: Option<&str>) -> std::io::Result<Child> {
    let program = config.claude.as_deref().unwrap_or(Path::new(""));
    let mut command = Command::new(program);
    command.args(&config.claude_args).arg(format!("{LIST_SESSIONS_FLAG}={limit}"));
    if let Some(after) = after {
        command.arg(format!("{LIST_CURSOR_FLAG}={after}"));
    }
    if let Some(folder) = folder {
        command.arg(format!("{LIST_FOLDER_FLAG}={folder}"));
    }
    // No project: an agent may run commands of the folder that it is started in.
    let home = config.home().map(Path::new).filter(|home| home.is_dir()).unwrap_or(Path::new("/"));
    let environment = config.environment.iter().map(|(name, value)| (name, value));
    command.current_dir(home).env_clear().envs(environment).env("CLAUDE_CODE_ENTRYPOINT", ENTRYPOINT);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.kill_on_drop(true).spawn()
}

/// The first line of a process, if it has one that is not too long.
async fn first_line(process: &mut Child) -> Option<Vec<u8>> {
    let output = process.stdout.take()?;
    let mut line = Vec::new();
    BufReader::new(output.take(AGENT_LIST_BYTES_MAX)).read_until(b'\n', &mut line).await.ok()?;
    (line.last() == Some(&b'\n')).then_some(line)
}

/// A session as sessions on disk are listed.
fn view(backend: &str, folder: String, session: PastSession) -> Transcript {
    let name = Path::new(&folder).file_name().and_then(|name| name.to_str()).unwrap_or(&folder);
    let time: Option<jiff::Timestamp> = session.updated.and_then(|updated| updated.parse().ok());
    Transcript {
        id: session.id,
        project: name.to_owned(),
        cwd: Some(folder),
        title: session.title,
        created: None,
        modified: time.map(|time| format!("{time:.3}")),
        turns: None,
        messages: None,
        subagents: 0,
        branches: None,
        bytes: 0,
        cost_usd: None,
        model: None,
        tag: None,
        archived: false,
        backend: Some(backend.to_owned()),
    }
}
