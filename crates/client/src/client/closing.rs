//! The way out: first the end of the input, then a request to leave, then no choice.

use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::control::{ControlRequest, Interrupt};
use tidings_protocol::messages::Message;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Client;
use super::core::{Core, Ended};
use crate::error::Error;
use crate::limits::{BACKGROUND_WAIT, INTERRUPT_GRACE, KILL_GRACE, RELEASE_AFTER, TERM_GRACE, TURN_FOLLOWS};
use crate::transport::Exit;

/// What made a session or a turn stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoppedBy {
    /// Nothing was under way.
    Nothing,
    /// The interrupt, and the session goes on.
    Interrupt,
    /// SIGTERM, and the session has ended.
    Terminate,
    /// SIGKILL, and the session has ended.
    Kill,
}

impl Client {
    /// Lets the session come to its end by itself, as `claude -p` does: what runs in the background may finish, and so may
    /// the turns that it begins. Questions can be answered all the while.
    ///
    /// Then the CLI gets the end of its input. One that has nothing left to do and does not leave is made to.
    pub async fn finish(&self) -> Result<Exit, Error> {
        let core = &self.core;
        core.wait_until_done().await;
        core.writer.end();
        core.wait_until_left().await;
        self.ended().await
    }

    /// Ends the session at once: a turn that runs is interrupted, the CLI is asked to leave, and killed after `patience`.
    ///
    /// Turns and requests that are waited for fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed) at once.
    /// It may be called again with less patience.
    pub async fn stop(&self, patience: Duration) -> StoppedBy {
        if self.is_closed() {
            return StoppedBy::Nothing;
        }
        let deadline = Instant::now() + patience;
        let limit = patience.min(INTERRUPT_GRACE);
        let leaving = async {
            self.core.interrupt_turns(limit).await;
            self.core.leave(deadline.saturating_duration_since(Instant::now())).await
        };
        tokio::join!(leaving, self.core.release_waiters(limit)).0
    }

    /// Whether something runs in the background, as far as the CLI tells: agents, or commands.
    pub fn works_in_background(&self) -> bool {
        self.core.turns().works_in_background()
    }
}

impl Core {
    /// Waits until nothing is under way or in the background, though not for ever for what does not end.
    async fn wait_until_done(&self) {
        let mut changed = self.changed.subscribe();
        let mut after_work = Duration::ZERO;
        while self.ended.borrow().is_none() && self.closing.get().is_none() {
            let (busy, done) = {
                let turns = self.turns();
                (turns.is_busy(), turns.is_done())
            };
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

    /// Waits for the end after the end of the input.
    async fn wait_until_left(&self) {
        let mut changed = self.changed.subscribe();
        while self.ended.borrow().is_none() {
            let limit = self.turns().is_done().then_some(self.limits.close);
            if !within(limit, &mut changed).await {
                self.leave(TERM_GRACE).await;
                return;
            }
        }
    }

    /// Begins to close; may be called any number of times, from anywhere.
    pub(super) fn begin_close(self: &Arc<Self>) {
        if self.closing.set(()).is_ok() {
            self.touch();
            let core = Arc::clone(self);
            // If the runtime is shutting down this never runs, and the carrier cleans up when it is dropped.
            drop(self.runtime.spawn(async move {
                tokio::join!(core.close_in_steps(), core.release_waiters(INTERRUPT_GRACE))
            }));
        }
    }

    async fn close_in_steps(&self) {
        let deadline = Instant::now() + self.limits.close;
        let is_quiet = self.interrupt_turns(INTERRUPT_GRACE.min(self.limits.close)).await;
        self.writer.end();
        // After the end of its input the CLI finishes what it is at, and a background agent could go on for long.
        let may_finish = is_quiet && !self.turns().works_in_background();
        let grace = deadline.saturating_duration_since(Instant::now());
        if !may_finish || self.wait_ended(grace).await.is_none() {
            self.leave(TERM_GRACE).await;
        }
    }

    /// Fails everything that waits for a turn or for an answer: the session ends, and neither will come. What the CLI has
    /// written before is still read.
    async fn release_waiters(&self, limit: Duration) {
        tokio::time::sleep(RELEASE_AFTER.min(limit)).await;
        let error = Error::closed();
        self.pending.fail(&error);
        self.subscribers.end_turns(&error);
        self.touch();
    }

    /// Interrupts the turn that runs and drops queued prompts, until nothing is under way. Returns `false` if a turn
    /// still runs after `limit`.
    ///
    /// The CLI ignores an interrupt before the turn has begun, so each turn that begins meanwhile is interrupted again.
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

    /// Makes the other side leave, by force after `patience`.
    pub(super) async fn leave(&self, patience: Duration) -> StoppedBy {
        tracing::debug!("asking Claude Code to leave");
        self.forced.get_or_init(|| ());
        self.stop.terminate();
        if self.wait_ended(patience).await.is_some() {
            return StoppedBy::Terminate;
        }
        tracing::warn!("Claude Code does not leave and is killed");
        self.stop.kill();
        if self.wait_ended(KILL_GRACE).await.is_none() {
            // Nothing more can be done, and nobody shall wait for it.
            self.end(Exit::default());
        }
        StoppedBy::Kill
    }

    pub(super) async fn wait_ended(&self, limit: Duration) -> Option<Ended> {
        let mut ended = self.ended.subscribe();
        let ended = tokio::time::timeout(limit, ended.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Closes, and waits until nothing is left.
    pub(super) async fn close(self: &Arc<Self>) -> Result<Exit, Error> {
        self.begin_close();
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.map_err(|_| Error::closed())?;
        match ended.as_ref() {
            Some(Ended { error: Some(error), .. }) => Err(error.clone()),
            Some(Ended { exit, .. }) => Ok(*exit),
            None => Err(Error::closed()),
        }
    }
}

/// Whether something changes in time.
async fn within(limit: Option<Duration>, changed: &mut watch::Receiver<u64>) -> bool {
    match limit {
        Some(limit) => tokio::time::timeout(limit, changed.changed()).await.is_ok_and(|told| told.is_ok()),
        None => changed.changed().await.is_ok(),
    }
}
