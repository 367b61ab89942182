//! Taking a session over from a terminal: its idle process ends in order, and the server's agent continues.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tidings::SessionHolder;
use tidings_api::{Code, SessionOrigin};
use tidings_transcript::running::{self, RunningCli};

use super::{ObservedProcess, Sessions, WAITING, place};
use crate::Error;
use crate::limits::{FOLLOW_PAUSE, TAKE_OVER_WAIT};
use crate::live_session::LiveSession;
use crate::starting::agent_slots::AgentSlot;
use crate::starting::writer;

impl Sessions {
    /// Ends the idle process that holds a session in a terminal. All of its events are stored afterwards.
    /// Returns the slot for the agent that continues the session.
    pub(crate) async fn end_in_terminal(&self, entry: &Arc<LiveSession>) -> Result<AgentSlot, Error> {
        let _lock = self.0.observed.taking_over.lock().await;
        let process = entry.memory().observed.clone().ok_or_else(not_in_terminal)?;
        let Some(config_dir) = entry.config_dir.clone() else { return Err(not_in_terminal()) };
        process.check_place()?;
        entry.check_no_requests()?;
        // Taken before anything ends: without one the session could not continue.
        let slot = self.slot_for(&entry.key).await?;
        self.check_successor(entry).await?;
        process.check_writer(&config_dir).await?;
        let ending = Arc::clone(&process);
        let end = move || ending.end(&config_dir);
        tokio::task::spawn_blocking(end).await.map_err(|_| did_not_end())??;
        tracing::info!(session = %entry.key, pid = process.running.pid, "ended the process in a terminal");
        let stored = async {
            loop {
                self.look_for_processes().await?;
                let now = entry.memory().observed.clone();
                match now {
                    None => return Ok(()),
                    Some(other) if !Arc::ptr_eq(&other, &process) => return Err(opened_again()),
                    Some(_) => tokio::time::sleep(FOLLOW_PAUSE).await,
                }
            }
        };
        tokio::time::timeout(TAKE_OVER_WAIT, stored).await.map_err(|_| did_not_end())??;
        Ok(slot)
    }
}

impl Sessions {
    /// Refuses to end a process if the agent that would continue its session could not start: its folder is
    /// not allowed, or Claude Code is missing or too old.
    async fn check_successor(&self, entry: &LiveSession) -> Result<(), Error> {
        entry.check_folders(&self.config().roots)?;
        let program = match self.config().real_program() {
            Some(program) => program.to_owned(),
            None => tidings::find::claude()?,
        };
        // A stand-in is another program without its arguments.
        if self.config().claude_args.is_empty() {
            tidings::find::supported(&program).await?;
        }
        Ok(())
    }
}

impl ObservedProcess {
    /// Refuses to end a process whose session another one has taken meanwhile, such as a second server.
    async fn check_writer(&self, config_dir: &Path) -> Result<(), Error> {
        let holder = writer::holder_of(config_dir, &self.running.session_id).await;
        let is_it =
            |holder: &SessionHolder| holder.agent.as_ref().is_some_and(|agent| agent.pid == self.running.pid);
        holder.filter(|holder| !is_it(holder)).map_or(Ok(()), |holder| Err(holder.refusal().into()))
    }

    /// True if the session can be taken over when it is idle: it runs in a terminal, and its process can be
    /// told from another one with the same id.
    pub(super) fn can_be_taken_over(&self) -> bool {
        cfg!(target_os = "linux")
            && self.origin == SessionOrigin::Terminal
            && self.running.proc_start.is_some()
    }

    fn check_place(&self) -> Result<(), Error> {
        if self.can_be_taken_over() {
            return Ok(());
        }
        let message = match self.origin {
            _ if self.is_file_only() => "The process of this session is not known".to_owned(),
            SessionOrigin::Terminal => {
                "The version of Claude Code in the terminal does not report its start time".to_owned()
            }
            origin => {
                format!("This session runs {}, and only sessions of terminals are taken over", place(origin))
            }
        };
        Err(Error::new(Code::Conflict, message, "close it there, and continue here"))
    }

    /// Ends the process, if it is idle, and waits for its end. Nothing is killed.
    #[cfg(target_os = "linux")]
    fn end(&self, config_dir: &Path) -> Result<(), Error> {
        use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

        let pid = i32::try_from(self.running.pid).ok().and_then(Pid::from_raw).ok_or_else(did_not_end)?;
        let failed = |error: rustix::io::Errno| {
            let message = format!("The process in the terminal cannot be ended: {error}");
            Error::new(Code::Conflict, message, "close it there, and continue here")
        };
        // The descriptor stands for this very process. Its id may be another one's before the signal is sent.
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            opened => opened.map_err(failed)?,
        };
        check_idle(running::current(config_dir, self.running.pid).as_ref(), &self.running)?;
        match pidfd_send_signal(&process, Signal::TERM) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(failed(error)),
        }
        // It removes its file at last.
        let file = config_dir.join("sessions").join(format!("{}.json", self.running.pid));
        let mut waited = Duration::ZERO;
        while self.running.is_alive() {
            if waited >= TAKE_OVER_WAIT {
                return Err(did_not_end());
            }
            std::thread::sleep(FOLLOW_PAUSE);
            waited += FOLLOW_PAUSE;
        }
        if file.exists() {
            tracing::info!(pid = self.running.pid, "the process has left its file behind");
        }
        Ok(())
    }

    /// Elsewhere a process cannot be told from another one with the same id.
    #[cfg(not(target_os = "linux"))]
    fn end(&self, _config_dir: &Path) -> Result<(), Error> {
        let _ = Duration::ZERO;
        check_idle(None, &self.running)
    }
}

impl LiveSession {
    /// Refuses to end a process one of whose requests is open: a sub-agent may ask while its session is idle.
    fn check_no_requests(&self) -> Result<(), Error> {
        let memory = self.memory();
        if memory.permissions.is_empty() && memory.questions.is_empty() {
            return Ok(());
        }
        Err(dialog_open())
    }
}

/// Refuses to end a process that is busy, or is not the one that was observed.
fn check_idle(now: Option<&RunningCli>, observed: &RunningCli) -> Result<(), Error> {
    let is_same =
        |now: &&RunningCli| now.session_id == observed.session_id && now.proc_start == observed.proc_start;
    let Some(now) = now.filter(is_same) else { return Err(not_in_terminal()) };
    match now.status.as_deref() {
        Some(super::IDLE) if now.waiting_for.is_none() => Ok(()),
        Some(WAITING) => Err(dialog_open()),
        _ if now.waiting_for.is_some() => Err(dialog_open()),
        None => {
            let message = "The version of Claude Code in the terminal does not report if it is idle";
            Err(Error::new(Code::Conflict, message, "close it there, and continue here"))
        }
        _ => {
            let hint = "interrupt it there, or wait for its end";
            Err(Error::new(Code::Conflict, "The terminal is working on a turn", hint))
        }
    }
}

fn dialog_open() -> Error {
    Error::new(Code::Conflict, "A dialog is open in the terminal", "answer it first")
}

fn not_in_terminal() -> Error {
    let message = "This session does not run in a terminal";
    Error::new(Code::Conflict, message, "a prompt continues it here")
}

fn opened_again() -> Error {
    let message = "Another process has opened this session in the meantime";
    Error::new(Code::Conflict, message, "close it there, and continue here")
}

fn did_not_end() -> Error {
    let message = "The process in the terminal did not end";
    Error::new(Code::Conflict, message, "close it there, and continue here")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(session: &str, status: &str, dialog: Option<&str>) -> RunningCli {
        let text = serde_json::json!({
            "pid": 7, "sessionId": session, "procStart": "1", "status": status, "waitingFor": dialog,
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn only_an_idle_process_without_a_dialog_is_ended() {
        let observed = process("a", "idle", None);
        let message = |now: Option<RunningCli>| check_idle(now.as_ref(), &observed).unwrap_err().to_string();
        assert!(check_idle(Some(&observed), &observed).is_ok());
        assert!(message(Some(process("a", "busy", None))).contains("working"));
        assert!(message(Some(process("a", "waiting", Some("permission prompt")))).contains("dialog"));
        assert!(message(Some(process("a", "idle", Some("dialog open")))).contains("dialog"));
        assert!(message(Some(process("a", "new word", None))).contains("working"));
    }

    #[test]
    fn another_process_or_session_is_left_alone() {
        let observed = process("a", "idle", None);
        let mut later = observed.clone();
        later.proc_start = Some("2".to_owned());
        for now in [None, Some(process("b", "idle", None)), Some(later)] {
            assert!(check_idle(now.as_ref(), &observed).is_err(), "{now:?}");
        }
    }
}
