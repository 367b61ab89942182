//! Shutdown of a session at the end of a run.

use std::time::Duration;

use super::turn::{INTERRUPTED, Interrupted, Turns, next_frame};
use crate::error::Exit;

/// Time that an agent has to write its session and stop its tools.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Way to end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shutdown {
    /// Close the input, and wait until the agent exits.
    Graceful,
    /// Stop the agent at once.
    Immediate,
}

impl Turns {
    /// Ends the session and writes its remaining output. A further signal stops it at once.
    pub(super) async fn shut_down(mut self, exit: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
        let shutdown = match &exit {
            // At the end of its input, an agent with a pending request would continue without an answer.
            Err(_) => Shutdown::Immediate,
            Ok(_) if self.interrupted == Interrupted::Twice => Shutdown::Immediate,
            Ok(Exit::Code(INTERRUPTED)) if self.session.client().works_in_background() => Shutdown::Immediate,
            Ok(_) => Shutdown::Graceful,
        };
        let (hurried, written) = self.close(shutdown).await;
        let written = written.and(self.last_frames().await);
        let finished = self.console.view.finish();
        let exit = exit?;
        written?;
        finished?;
        if let Some(frames) = &mut self.frames {
            frames.finish()?;
        }
        Ok(if hurried { Exit::Code(INTERRUPTED) } else { exit })
    }

    /// Waits for the end of the session. Returns true if a signal hurried it, and the result of writing
    /// frames.
    async fn close(&mut self, shutdown: Shutdown) -> (bool, anyhow::Result<()>) {
        let session = self.session.clone();
        let mut closing = std::pin::pin!(async {
            if shutdown == Shutdown::Immediate {
                session.client().stop(STOP_TIMEOUT).await;
            }
            session.close().await;
        });
        let mut hurried = false;
        let mut written = Ok(());
        loop {
            tokio::select! {
                biased;
                _ = self.signals.next() => {
                    hurried = true;
                    let client = self.session.client().clone();
                    drop(tokio::spawn(async move { client.stop(Duration::ZERO).await }));
                }
                // Not shown any more, but the session waits until its events are received.
                Some(_) = self.events.recv() => {}
                event = next_frame(self.frames.as_mut()), if written.is_ok() => written = self.frame(&event),
                () = &mut closing => return (hurried, written),
            }
        }
    }

    /// Writes the frames that were received but not written yet.
    async fn last_frames(&mut self) -> anyhow::Result<()> {
        loop {
            let event = tokio::select! {
                biased;
                event = next_frame(self.frames.as_mut()) => event,
                () = std::future::ready(()) => break,
            };
            self.frame(&event)?;
        }
        Ok(self.console.view.screen().clear()?)
    }
}
