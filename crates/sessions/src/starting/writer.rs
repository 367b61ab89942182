//! The one writer of a CLI session.
//!
//! The process that starts an agent [locks](SessionLock) its session, and that lock decides. The checks here
//! answer a client before anything is stored, and name the process that has the session.

use std::path::{Path, PathBuf};

use tidings::{SessionHolder, SessionLock};
use tidings_api::Code;

use crate::Error;
#[cfg(unix)]
use crate::hosts::FoundHost;
use crate::live_session::LiveSession;
use crate::running::actor::Actor;
use crate::starting::launch;

/// The process that writes a CLI session now.
pub(crate) async fn holder_of(config_dir: &Path, cli_session: &str) -> Option<SessionHolder> {
    let (config_dir, id) = (config_dir.to_owned(), cli_session.to_owned());
    let look = move || SessionLock::holder(&config_dir, &id);
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// Refuses a CLI session that a process writes.
pub(crate) async fn check_free(config_dir: Option<&Path>, cli_session: &str) -> Result<(), Error> {
    let Some(config_dir) = config_dir else { return Ok(()) };
    holder_of(config_dir, cli_session).await.map_or(Ok(()), |holder| Err(holder.refusal().into()))
}

impl LiveSession {
    /// Refuses a prompt for an agent that could not be started, since another process writes the session.
    pub(crate) async fn check_free(&self) -> Result<(), Error> {
        if self.memory().has_agent() {
            return Ok(());
        }
        self.check_no_other_writer().await
    }

    /// Refuses to continue a session that another process writes. A host of this session that has not ended
    /// yet, or is about to be adopted, is not another one.
    pub(crate) async fn check_no_other_writer(&self) -> Result<(), Error> {
        let Some((config_dir, id)) = self.written_session() else { return Ok(()) };
        let is_own = |holder: &SessionHolder| {
            let [ours, its] = [&self.owner, &holder.owner];
            ours.attach.is_some() && (&ours.command, &ours.attach) == (&its.command, &its.attach)
        };
        match holder_of(&config_dir, &id).await {
            Some(holder) if !is_own(&holder) => Err(holder.refusal().into()),
            _ => Ok(()),
        }
    }

    /// The CLI session that the agent of this session continues, and the configuration folder that it is in.
    fn written_session(&self) -> Option<(PathBuf, String)> {
        let memory = self.memory();
        let id = launch::cli_session_of(&memory.row, &memory.settings.launch)?.to_owned();
        Some((self.config_dir.clone()?, id))
    }

    /// Locks the session that an adopted agent writes, unless its host has done so: hosts of earlier versions
    /// lock nothing.
    #[cfg(unix)]
    pub(crate) async fn lock_adopted(&self, found: &FoundHost) -> Result<(), Error> {
        let Some((config_dir, id)) = self.written_session() else { return Ok(()) };
        let owner = self.owner.clone();
        let take = move || SessionLock::take_for_running(&config_dir, &id, &owner);
        let lost = |_| Error::new(Code::Internal, "Failed to lock a session", "try again");
        match tokio::task::spawn_blocking(take).await.map_err(lost)? {
            Ok(lock) => self.memory().adopted_lock = Some(lock),
            Err(error) if error.kind() != tidings::ErrorKind::Taken => {
                tracing::warn!(session = %self.key, %error, "an adopted agent runs without a lock");
            }
            Err(error) => {
                let holder = self.writer().await;
                let host = found.folder.path().file_name().and_then(|name| name.to_str());
                let is_host = holder.is_some_and(|holder| holder.owner.host.as_deref() == host);
                return if is_host { Ok(()) } else { Err(error.into()) };
            }
        }
        Ok(())
    }

    /// The process that writes the session.
    #[cfg(unix)]
    async fn writer(&self) -> Option<SessionHolder> {
        let (config_dir, id) = self.written_session()?;
        holder_of(&config_dir, &id).await
    }

    /// Locks the next session of an adopted agent whose host locks nothing: `/clear` begins one.
    pub(crate) fn follow_adopted(&self, cli_session: &str) {
        let Some(config_dir) = self.config_dir.clone() else { return };
        let mut memory = self.memory();
        if memory.adopted_lock.as_ref().is_none_or(|lock| lock.session_id() == cli_session) {
            return;
        }
        match SessionLock::take_for_running(&config_dir, cli_session, &self.owner) {
            Ok(lock) => memory.adopted_lock = Some(lock),
            Err(error) => tracing::warn!(session = %self.key, %error, "an adopted agent runs without a lock"),
        }
    }
}

impl Actor {
    /// Locks the CLI session: only one agent of this server may write it, whatever the journal says.
    pub(crate) fn lock_cli_session(&self) -> Result<(), Error> {
        let memory = self.entry.memory();
        let Some(id) = launch::cli_session_of(&memory.row, &memory.settings.launch) else { return Ok(()) };
        self.entry.slots.lock_cli_session(&self.entry.key, id).map_err(|other| {
            let message = format!("The session `{other}` uses the same session of the agent at this moment");
            Error::new(Code::Conflict, message, "use that one, or stop it").about_session(other.as_str())
        })
    }
}
