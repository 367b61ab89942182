//! The way out, whatever led to it.

use std::time::Duration;

use super::turn::{INTERRUPTED, Interrupted, Turns, next_frame};
use crate::error::Exit;

/// How long an agent that is left may take to write its session and end its tools.
const LEAVE_PATIENCE: Duration = Duration::from_secs(2);

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The end of the input, and time to finish.
    Gently,
    /// At once, whatever it is at.
    Now,
}

impl Turns {
    /// Ends the session. What it still has to tell is written, and whoever is in a hurry may say so once more.
    pub(super) async fn leave(mut self, exit: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
        let way = match &exit {
            // Nobody waits for the rest: at the end of its input an agent with an open question would only go on without.
            Err(_) => Way::Now,
            Ok(_) if self.interrupted == Interrupted::Twice => Way::Now,
            Ok(Exit::Code(INTERRUPTED)) if self.session.client().works_in_background() => Way::Now,
            Ok(_) => Way::Gently,
        };
        let (hurried, written) = self.close(way).await;
        let written = written.and(self.last_frames().await);
        let finished = self.view.finish();
        let exit = exit?;
        written?;
        finished?;
        if let Some(frames) = &mut self.frames {
            frames.finish()?;
        }
        Ok(if hurried { Exit::Code(INTERRUPTED) } else { exit })
    }

    /// Waits for the end of the session; whether somebody could not, and whether the frames could be written.
    async fn close(&mut self, way: Way) -> (bool, anyhow::Result<()>) {
        let session = self.session.clone();
        let mut closing = std::pin::pin!(async {
            if way == Way::Now {
                session.client().stop(LEAVE_PATIENCE).await;
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
                // Nobody is shown them any more, but the session waits until they are taken.
                Some(_) = self.events.recv() => {}
                event = next_frame(self.frames.as_mut()), if written.is_ok() => written = self.frame(&event),
                () = &mut closing => return (hurried, written),
            }
        }
    }

    /// The frames that were read but not written yet.
    async fn last_frames(&mut self) -> anyhow::Result<()> {
        loop {
            let event = tokio::select! {
                biased;
                event = next_frame(self.frames.as_mut()) => event,
                () = std::future::ready(()) => break,
            };
            self.frame(&event)?;
        }
        Ok(self.view.screen().clear()?)
    }
}
