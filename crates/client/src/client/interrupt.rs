//! Stopping a turn.

use std::time::Duration;

use tidings_protocol::control::{Interrupt, InterruptReceipt};

use super::Client;
use super::closing::StoppedBy;
use crate::error::{Error, ErrorKind};
use crate::limits::{INTERRUPT_HOLD, INTERRUPT_TIMEOUT, TERM_GRACE};

/// What an interrupt did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Interrupted {
    /// Nothing was under way.
    Nothing,
    /// The CLI stops the turn, which then ends as [`TurnOutcome::Cancelled`](super::TurnOutcome::Cancelled).
    Stopping(InterruptReceipt),
}

impl Client {
    /// Stops the turn that is under way. Prompts that wait stay and run next.
    ///
    /// The CLI takes an interrupt for nothing before the turn has begun, so this waits for the beginning if a prompt was
    /// just sent.
    pub async fn interrupt(&self) -> Result<Interrupted, Error> {
        self.interrupt_with(Interrupt::default()).await
    }

    /// Stops the turn that is under way, and drops the prompts that wait.
    pub async fn interrupt_and_cancel_queued(&self) -> Result<Interrupted, Error> {
        self.interrupt_with(Interrupt::and_cancel_queued()).await
    }

    /// Stops the turn that is under way, by force if need be, and waits until it has stopped.
    ///
    /// First the interrupt; if the turn goes on after `patience`, the process is ended, and the session with it.
    pub async fn stop_turn(&self, patience: Duration) -> Result<StoppedBy, Error> {
        match tokio::time::timeout(patience, self.interrupt_and_wait()).await {
            Ok(Ok(stopped)) => Ok(stopped),
            Ok(Err(error)) if error.kind() != ErrorKind::Timeout => Err(error),
            Ok(Err(_)) | Err(_) => Ok(self.core.leave(TERM_GRACE).await),
        }
    }

    async fn interrupt_and_wait(&self) -> Result<StoppedBy, Error> {
        if self.interrupt().await? == Interrupted::Nothing {
            return Ok(StoppedBy::Nothing);
        }
        let mut changed = self.core.changed.subscribe();
        while self.core.turns().is_running() && !self.is_closed() {
            changed.changed().await.map_err(|_| Error::closed())?;
        }
        Ok(StoppedBy::Interrupt)
    }

    async fn interrupt_with(&self, request: Interrupt) -> Result<Interrupted, Error> {
        let core = &self.core;
        if !self.wait_for_turn().await {
            return Ok(Interrupted::Nothing);
        }
        core.turns().interrupting();
        let receipt = core.request(request, INTERRUPT_TIMEOUT).await?;
        Ok(Interrupted::Stopping(receipt))
    }

    /// Whether a turn is under way, or begins within a while.
    async fn wait_for_turn(&self) -> bool {
        let waiting = async {
            let mut changed = self.core.changed.subscribe();
            loop {
                let (running, busy) = {
                    let turns = self.core.turns();
                    (turns.is_running(), turns.is_busy())
                };
                if running || !busy || self.is_closed() {
                    return running;
                }
                if changed.changed().await.is_err() {
                    return false;
                }
            }
        };
        // A turn that does not begin at all may be stuck before its beginning: then the CLI is asked all the same.
        tokio::time::timeout(INTERRUPT_HOLD, waiting).await.unwrap_or(true)
    }
}
