//! Sessions in use: they are opened on first use, and end with the server.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::MutexGuard;
use tidings_api::{Code, ServerPhase};
use tidings_journal::{Key, SessionName};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::live_session::LiveSession;
use super::running::actor::{Actor, ActorCommand};
use super::{Sessions, remote};
use crate::limits::{ACTOR_QUEUE_MAX, DRAIN_WAIT};
use crate::{Caller, Error};

/// State of the server: sessions may be opened, or not any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Admission {
    #[default]
    Open,
    Closed,
}

/// Time at which a newly opened session gets its queued prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deliver {
    Now,
    /// After its agent was found or is known to be gone.
    Later,
}

/// A session in use: its state, and the channel to its actor.
#[derive(Debug, Clone)]
pub(super) struct ActiveSession {
    pub(super) entry: Arc<LiveSession>,
    pub(super) commands: mpsc::Sender<ActorCommand>,
}

impl ActiveSession {
    /// Detaches from the agent, which keeps running.
    #[cfg(unix)]
    async fn detach(&self) {
        let (reply, done) = oneshot::channel();
        if self.commands.send(ActorCommand::Detach(reply)).await.is_ok() {
            drop(done.await);
        }
    }

    /// Ends the agent, and waits until it has ended.
    pub(super) async fn end(&self, phase: ServerPhase) {
        let (reply, done) = oneshot::channel();
        if self.commands.send(ActorCommand::End(phase, reply)).await.is_ok() {
            drop(done.await);
        }
    }
}

impl Sessions {
    /// Returns the session in use; opens it first if necessary.
    pub(super) async fn active_for(&self, caller: &Caller, name: &str) -> Result<ActiveSession, Error> {
        let row = self.row(name).await?;
        check_folder(caller, &row.cwd)?;
        if let Some(node) = &row.node {
            return Err(remote::belongs_to(node));
        }
        let used = self.active_session(&row.key).await?;
        let continued_on = used.entry.memory().settings.continued_on.clone();
        match continued_on {
            Some(node) => Err(remote::continued_on(&node)),
            None => Ok(used),
        }
    }

    /// The same without a caller.
    pub(super) async fn active_session(&self, key: &Key) -> Result<ActiveSession, Error> {
        if let Some(used) = self.active().get(key) {
            return Ok(used.clone());
        }
        let opening = self.0.opening.lock().await;
        if *opening == Admission::Closed {
            return Err(Error::new(Code::Unavailable, "The server is stopping", "try again in a moment")
                .retry_after_ms(2000));
        }
        // Another caller may have been faster.
        if let Some(used) = self.active().get(key) {
            return Ok(used.clone());
        }
        self.activate(key, Deliver::Now).await
    }

    /// Opens a session: claims it and starts its actor.
    pub(super) async fn activate(&self, key: &Key, deliver: Deliver) -> Result<ActiveSession, Error> {
        let journal = self.0.broadcast.journal();
        let fence = journal.claim(key).await?;
        let row = journal.session(&SessionName::Key(key.clone())).await?;
        let config = Arc::clone(&self.0.config);
        let entry = Arc::new(LiveSession::new(
            row,
            fence,
            self.0.broadcast.clone(),
            &config,
            self.0.slots.clone(),
            self.0.notices.clone(),
            Arc::clone(&self.0.projects),
        ));
        entry.memory().is_held = deliver == Deliver::Later;
        let (commands, inbox) = mpsc::channel(ACTOR_QUEUE_MAX);
        let actor =
            Actor { entry: Arc::clone(&entry), config, commands: inbox, used: Instant::now(), turn: None };
        drop(tokio::spawn(actor.run()));
        let used = ActiveSession { entry, commands };
        self.active().insert(key.clone(), used.clone());
        Ok(used)
    }

    /// Ends all agents, or detaches from them if hosts keep them. Nothing is started afterwards.
    pub async fn drain(&self) {
        *self.0.opening.lock().await = Admission::Closed;
        let used: Vec<ActiveSession> = self.active().drain().map(|(_, used)| used).collect();
        #[cfg(unix)]
        if self.0.config.hosts.as_ref().is_some_and(|hosts| !hosts.lease().is_zero()) {
            let ends = used.iter().map(ActiveSession::detach);
            return drop(tokio::time::timeout(DRAIN_WAIT, futures_util::future::join_all(ends)).await);
        }
        let ends = used.iter().map(|used| used.end(ServerPhase::Parked));
        // Agents that do not end in time end with the process.
        drop(tokio::time::timeout(DRAIN_WAIT, futures_util::future::join_all(ends)).await);
    }

    pub(super) fn active(&self) -> MutexGuard<'_, HashMap<Key, ActiveSession>> {
        self.0.active.lock()
    }
}

/// Refuses folders that the credential is not limited to.
pub(super) fn check_folder(caller: &Caller, folder: &str) -> Result<(), Error> {
    if caller.sees(folder) { Ok(()) } else { Err(hidden_folder(caller, folder)) }
}

/// Refuses a folder that the caller may not see.
pub(super) fn hidden_folder(caller: &Caller, folder: &str) -> Error {
    let message = format!("`{}` may not use sessions in `{folder}`", caller.name);
    Error::new(Code::Forbidden, message, "pair the device again with more folders")
}
