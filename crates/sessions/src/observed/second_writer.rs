//! A process that opens a session while this server's agent runs it: the agent ends, and the session is
//! observed from then on.
//!
//! Claude Code locks nothing, so two processes would write one file and mix two conversations.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::MutexGuard;
use tidings_agent::UiMessage;
use tidings_api::{Code, ServerPhase};
use tidings_transcript::roots::Roots;
use tidings_transcript::running::RunningCli;

use super::Sessions;
use crate::Error;
use crate::live_session::{LiveSession, Memory};
use crate::running::actor::Actor;
use crate::settings::FollowedFile;
use crate::starting::launch;

/// A process and its session.
pub(super) type ProcessId = (u32, String);

/// The right of this server's agent to write a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AgentClaim {
    /// True while an agent is being started.
    is_starting: bool,
    /// True while a process outside of this server has opened the session beside its agent: the agent ends
    /// as soon as it is idle.
    pub(crate) is_yielding: bool,
}

impl Sessions {
    /// Has the agent of a session end, since another process has opened the session. Users are warned at
    /// once, and once.
    pub(super) async fn yield_to(&self, process: &RunningCli, entry: &Arc<LiveSession>) -> Result<(), Error> {
        let id = (process.pid, process.session_id.clone());
        if self.second_writers().insert(id, Arc::clone(entry)).is_some() {
            return Ok(());
        }
        entry.memory().claim.is_yielding = true;
        entry.warn_second_writer(process.pid).await?;
        entry.wake.notify_one();
        Ok(())
    }

    /// True if the agent of a session is about to end for a process.
    pub(super) fn is_yielding_to(&self, process: &RunningCli) -> bool {
        let id = (process.pid, process.session_id.clone());
        self.second_writers().get(&id).is_some_and(|entry| entry.memory().has_agent())
    }

    /// Forgets processes that are gone, or are observed by now.
    pub(super) fn forget_second_writers(&self, is_second: impl Fn(&str, u32) -> bool) {
        let mut over = Vec::new();
        self.second_writers().retain(|(pid, session), entry| {
            let stays = is_second(session, *pid);
            if !stays {
                over.push(Arc::clone(entry));
            }
            stays
        });
        for entry in over {
            entry.memory().claim.is_yielding = false;
            entry.wake.notify_one();
        }
    }

    fn second_writers(&self) -> MutexGuard<'_, HashMap<ProcessId, Arc<LiveSession>>> {
        self.0.observed.second_writers.lock()
    }
}

impl Actor {
    /// Ends an idle agent whose session is open elsewhere.
    pub(crate) async fn yield_to_second_writer(&mut self) {
        let yields = {
            let memory = self.entry.memory();
            let is_elsewhere = memory.claim.is_yielding || memory.observed.is_some();
            is_elsewhere && memory.agent.is_some() && !memory.is_busy() && memory.closing.is_none()
        };
        if yields {
            self.end(ServerPhase::Parked).await;
        }
    }
}

/// The start of an agent: no process is observed meanwhile.
pub(crate) struct StartingAgent(Arc<LiveSession>);

impl StartingAgent {
    /// Begins a start, unless the session is open elsewhere.
    pub(crate) fn begin(entry: &Arc<LiveSession>) -> Result<Self, Error> {
        entry.check_hosted()?;
        let mut memory = entry.memory();
        memory.claim.is_starting = memory.observed.is_none();
        drop(memory);
        // It may have been opened between the two.
        entry.check_hosted().map(|()| StartingAgent(Arc::clone(entry)))
    }
}

impl Drop for StartingAgent {
    fn drop(&mut self) {
        self.0.memory().claim.is_starting = false;
    }
}

impl Memory {
    /// True if an agent runs or is being started.
    pub(crate) fn has_agent(&self) -> bool {
        self.agent.is_some() || self.claim.is_starting
    }

    /// Refuses an action for idle sessions while there is work.
    pub(crate) fn check_idle(&self) -> Result<(), Error> {
        if !self.is_busy() && !self.settings.has_waiting() {
            return Ok(());
        }
        let hint = "wait for the end of its turn, or interrupt it";
        Err(Error::new(Code::Conflict, "The session is working", hint))
    }
}

impl LiveSession {
    /// Warns that another process writes the file of this session.
    async fn warn_second_writer(&self, pid: u32) -> Result<(), Error> {
        tracing::warn!(session = %self.key, pid, "a second process has opened this session");
        let when = if self.memory().is_busy() { "after this turn" } else { "now" };
        let message = format!(
            "Another Claude Code process ({pid}) has opened this session. Two processes that write one session \
             mix their conversations, so the server's agent ends {when}, and the session continues there"
        );
        self.append_event(&UiMessage::Error { message, session_id: Some(self.handle) }, None).await.map(drop)
    }

    /// Notes how long the session's files are before an agent writes them: earlier entries are events
    /// already, and later ones name their program.
    pub(crate) async fn note_files_before_agent(&self) {
        let (cli_session, is_copy) = {
            let memory = self.memory();
            let id = launch::cli_session_of(&memory.row, &memory.settings.launch).map(str::to_owned);
            (id, memory.row.cli_sessions.is_empty() && memory.settings.launch.fork)
        };
        if is_copy {
            // The entries of a copy name the programs that wrote the original.
            return;
        }
        let mut ends = vec![FollowedFile::default()];
        if let (Some(id), Some(config_dir)) = (cli_session, self.config_dir.clone()) {
            let find = move || Roots::new([config_dir]).find(&id).ok();
            let Some(files) = tokio::task::spawn_blocking(find).await.ok().flatten() else { return };
            ends[0].end = files.main.map_or(0, |main| main.bytes);
            let agents = files.agents.into_iter();
            ends.extend(agents.map(|agent| FollowedFile { agent: agent.agent_id, end: agent.file.bytes }));
        }
        let mut memory = self.memory();
        for file in ends {
            match memory.followed.iter_mut().find(|known| known.agent == file.agent) {
                Some(known) => known.end = known.end.max(file.end),
                None => memory.followed.push(file),
            }
        }
    }

    /// Notes the CLI session that the agent writes. Positions belong to the files of the one before.
    pub(crate) fn note_cli_session(&self, id: &str) {
        let mut memory = self.memory();
        if launch::cli_session_of(&memory.row, &memory.settings.launch) == Some(id) {
            return;
        }
        let is_copy = memory.settings.launch.fork;
        memory.followed = if is_copy { Vec::new() } else { vec![FollowedFile::default()] };
    }
}
