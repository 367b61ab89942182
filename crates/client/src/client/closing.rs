//! The way out: first the end of the input, then a request to leave, then no choice.

use std::sync::Arc;
use std::time::Duration;

use super::core::{Core, Ended};
use crate::error::Error;
use crate::limits::{KILL_GRACE, TERM_GRACE};
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

impl Core {
    /// Begins to close; may be called any number of times, from anywhere.
    pub(super) fn begin_close(self: &Arc<Self>) {
        if self.closing.set(()).is_ok() {
            let core = Arc::clone(self);
            // If the runtime is shutting down this never runs, and the carrier cleans up when it is dropped.
            drop(self.runtime.spawn(async move { core.close_in_steps().await }));
        }
    }

    async fn close_in_steps(&self) {
        self.writer.end();
        if self.wait_ended(self.limits.close).await.is_none() {
            self.leave().await;
        }
    }

    /// Makes the other side leave.
    pub(super) async fn leave(&self) -> StoppedBy {
        tracing::debug!("asking Claude Code to leave");
        self.forced.get_or_init(|| ());
        self.stop.terminate();
        if self.wait_ended(TERM_GRACE).await.is_some() {
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
