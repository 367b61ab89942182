//! Closing a session: first the end of its input, then SIGTERM, then SIGKILL.

use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::control::{ControlRequest, Interrupt};
use tidings_protocol::messages::Message;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Client;
use super::core::{Core, SessionEnd};
use crate::error::Error;
use crate::limits::{BACKGROUND_WAIT, INTERRUPT_GRACE, KILL_GRACE, RELEASE_AFTER, TERM_GRACE, TURN_FOLLOWS};
use crate::transport::Exit;

/// The means that stopped a session or a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoppedBy {
    /// There was nothing to stop.
    Nothing,
    /// The interrupt; the session goes on.
    Interrupt,
    /// SIGTERM; the session has ended.
    Terminate,
    /// SIGKILL; the session has ended.
    Kill,
}

impl Client {
    /// Lets the session end by itself, as `claude -p` does: background work may finish, and so may the turns
    /// that it begins. Requests can still be answered in the meantime.
    ///
    /// Then the CLI gets the end of its input. A CLI that has nothing left to do and does not exit is
    /// stopped.
    pub async fn finish(&self) -> Result<Exit, Error> {
        let core = &self.core;
        core.wait_until_done().await;
        core.writer.end();
        core.wait_for_exit().await;
        self.ended().await
    }

    /// Stops the session at once: a running turn is interrupted, the CLI gets SIGTERM, and is killed after
    /// `patience`.
    ///
    /// Turns and requests that are awaited fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed) at once.
    /// This may be called again with less patience.
    pub async fn stop(&self, patience: Duration) -> StoppedBy {
        if self.is_closed() {
            return StoppedBy::Nothing;
        }
        let deadline = Instant::now() + patience;
        let limit = patience.min(INTERRUPT_GRACE);
        let leaving = async {
            self.core.interrupt_turns(limit).await;
            self.core.terminate(deadline.saturating_duration_since(Instant::now())).await
        };
        tokio::join!(leaving, self.core.release_waiters(limit)).0
    }

    /// True if agents or commands run in the background, as far as the CLI reports them.
    pub fn works_in_background(&self) -> bool {
        self.core.turns().works_in_background()
    }
}

impl Core {
    /// Waits until no turn and no background work runs, with a limit for work that does not end.
    async fn wait_until_done(&self) {
        let mut changed = self.changed.subscribe();
        let mut after_work = Duration::ZERO;
        while self.ended.borrow().is_none() && self.closing.get().is_none() {
            let (busy, done) = {
                let turns = self.turns();
                (turns.is_busy(), turns.is_done())
            };
            if self.stuck().is_some() {
                return;
            }
            if !busy && !done {
                after_work = TURN_FOLLOWS;
            }
            let limit = match (busy, done) {
                (true, _) => None,
                (false, true) => Some(after_work),
                (false, false) => Some(BACKGROUND_WAIT),
            };
            if !within(limit, &mut changed).await {
                return;
            }
        }
    }

    /// Waits for the exit after the end of the input.
    async fn wait_for_exit(&self) {
        let mut changed = self.changed.subscribe();
        while self.ended.borrow().is_none() {
            let limit = self.turns().is_done().then_some(self.timeouts.close);
            if !within(limit, &mut changed).await {
                self.terminate(TERM_GRACE).await;
                return;
            }
        }
    }

    /// Starts to close the session; may be called any number of times, from anywhere.
    pub(super) fn begin_close(self: &Arc<Self>) {
        if self.closing.set(()).is_ok() {
            self.touch();
            let core = Arc::clone(self);
            // During a shutdown of the runtime this never runs, and the transport cleans up when it is
            // dropped.
            drop(self.runtime.spawn(async move {
                tokio::join!(core.close_in_steps(), core.release_waiters(INTERRUPT_GRACE))
            }));
        }
    }

    async fn close_in_steps(&self) {
        let deadline = Instant::now() + self.timeouts.close;
        let is_quiet = self.interrupt_turns(INTERRUPT_GRACE.min(self.timeouts.close)).await;
        self.writer.end();
        // After the end of its input the CLI finishes its work, and a background agent could run for long.
        let may_finish = is_quiet && !self.turns().works_in_background();
        let grace = deadline.saturating_duration_since(Instant::now());
        if !may_finish || self.wait_ended(grace).await.is_none() {
            self.terminate(TERM_GRACE).await;
        }
    }

    /// Fails all callers that wait for a turn or a reply, since neither will arrive. Output that the CLI has
    /// already written is still read.
    async fn release_waiters(&self, limit: Duration) {
        tokio::time::sleep(RELEASE_AFTER.min(limit)).await;
        let error = Error::closed();
        self.pending_calls.fail(&error);
        self.subscribers.end_turns(&error);
        self.touch();
    }

    /// Interrupts the running turn and drops queued prompts, until no turn runs. Returns `false` if a turn
    /// still runs after `limit`.
    ///
    /// The CLI ignores an interrupt before the turn has begun, so each turn that begins meanwhile is
    /// interrupted again.
    async fn interrupt_turns(&self, limit: Duration) -> bool {
        let interrupting = async {
            let mut changed = self.changed.subscribe();
            let mut interrupted = None;
            while self.ended.borrow().is_none() {
                let running = {
                    let mut turns = self.turns();
                    if !turns.is_busy() {
                        return;
                    }
                    turns.interrupting();
                    turns.running_turn()
                };
                if interrupted != Some(running) {
                    interrupted = Some(running);
                    let request = ControlRequest::new(Interrupt::and_cancel_queued());
                    let line = Message::ControlRequest { request_id: self.ids.next(), request }.to_line();
                    if self.writer.control(line).await.is_err() {
                        return;
                    }
                }
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::time::timeout(limit, interrupting).await.is_ok()
    }

    /// Makes the CLI exit: SIGTERM, and SIGKILL after `patience`.
    pub(super) async fn terminate(&self, patience: Duration) -> StoppedBy {
        tracing::debug!("terminating the agent");
        self.forced.get_or_init(|| ());
        self.stop.terminate();
        if self.wait_ended(patience).await.is_some() {
            return StoppedBy::Terminate;
        }
        tracing::warn!("the agent does not exit and is killed");
        self.stop.kill();
        if self.wait_ended(KILL_GRACE).await.is_none() {
            // Nothing more can be done, and no caller may wait for it.
            self.end(Exit::default());
        }
        StoppedBy::Kill
    }

    pub(super) async fn wait_ended(&self, limit: Duration) -> Option<SessionEnd> {
        let mut ended = self.ended.subscribe();
        let ended = tokio::time::timeout(limit, ended.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Closes the session, and waits until its processes are gone.
    pub(super) async fn close(self: &Arc<Self>) -> Result<Exit, Error> {
        self.begin_close();
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.map_err(|_| Error::closed())?;
        match ended.as_ref() {
            Some(SessionEnd { error: Some(error), .. }) => Err(error.clone()),
            Some(SessionEnd { exit, .. }) => Ok(*exit),
            None => Err(Error::closed()),
        }
    }
}

/// Waits for a change; `false` if none comes in time.
async fn within(limit: Option<Duration>, changed: &mut watch::Receiver<u64>) -> bool {
    match limit {
        Some(limit) => {
            tokio::time::timeout(limit, changed.changed()).await.is_ok_and(|result| result.is_ok())
        }
        None => changed.changed().await.is_ok(),
    }
}
