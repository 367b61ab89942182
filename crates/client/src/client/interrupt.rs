//! Interrupting a turn.

use std::time::Duration;

use tidings_protocol::control::{Interrupt, InterruptReceipt};

use super::Client;
use super::closing::StoppedBy;
use crate::error::{Error, ErrorKind};
use crate::limits::{INTERRUPT_HOLD, INTERRUPT_TIMEOUT, TERM_GRACE};

/// The effect of an interrupt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Interrupted {
    /// No turn was running.
    Nothing,
    /// The CLI stops the turn, which then ends as [`TurnOutcome::Cancelled`](super::TurnOutcome::Cancelled).
    Stopping(InterruptReceipt),
}

impl Client {
    /// Interrupts the running turn. Queued prompts stay and run next.
    ///
    /// The CLI ignores an interrupt before the turn has begun, so this waits for the beginning if a prompt
    /// was just sent.
    pub async fn interrupt(&self) -> Result<Interrupted, Error> {
        self.interrupt_with(Interrupt::default()).await
    }

    /// Interrupts the running turn, and drops queued prompts.
    pub async fn interrupt_and_cancel_queued(&self) -> Result<Interrupted, Error> {
        self.interrupt_with(Interrupt::and_cancel_queued()).await
    }

    /// Stops the running turn, by force if necessary, and waits until it has stopped.
    ///
    /// If the turn still runs `patience` after the interrupt, the process is terminated, and the session with
    /// it.
    pub async fn stop_turn(&self, patience: Duration) -> Result<StoppedBy, Error> {
        match tokio::time::timeout(patience, self.interrupt_and_wait()).await {
            Ok(Ok(stopped)) => Ok(stopped),
            Ok(Err(error)) if error.kind() != ErrorKind::Timeout => Err(error),
            Ok(Err(_)) | Err(_) => Ok(self.core.terminate(TERM_GRACE).await),
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

    /// Waits until a turn runs; `false` if none does.
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
        // A turn that does not begin may be stuck before its beginning: send the interrupt all the same.
        tokio::time::timeout(INTERRUPT_HOLD, waiting).await.unwrap_or(true)
    }
}
