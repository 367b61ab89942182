use std::io::{self, IsTerminal as _, Write as _};

use tidings::{Event, Frame, Kind, Subscriber};
use tidings_protocol::json::Raw;

/// What programs get: frames as Claude Code wrote them.
pub(super) struct Frames {
    subscriber: Subscriber,
    which: Which,
    result: Option<Frame>,
    /// Whether there are no more.
    over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    All(Partial),
    Last,
}

/// Whether pieces of messages are written too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    Wanted,
    LeftOut,
}

impl Frames {
    /// Every frame as it comes.
    pub(super) fn all(subscriber: Subscriber, partial: Partial) -> Self {
        Frames { subscriber, which: Which::All(partial), result: None, over: false }
    }

    /// The result, at the end.
    pub(super) fn last(subscriber: Subscriber) -> Self {
        Frames { subscriber, which: Which::Last, result: None, over: false }
    }

    /// The next; waits for ever when there are no more.
    pub(super) async fn next(&mut self) -> Event {
        if !self.over
            && let Some(event) = self.subscriber.next().await
        {
            return event;
        }
        self.over = true;
        std::future::pending().await
    }

    /// Writes a frame, or keeps it for the end.
    pub(super) fn take(&mut self, frame: &Frame) -> io::Result<()> {
        let name = frame.name();
        // These come because we drive the CLI as an SDK does; after a prompt on its command line it does not write them.
        if matches!(&*name, "command_lifecycle" | "system/session_state_changed") {
            return Ok(());
        }
        let is_partial = name == "stream_event" || name == "system/status" && is_requesting(frame);
        match (self.which, frame.kind()) {
            (Which::Last, Kind::Result) => {
                self.result = Some(frame.clone());
                Ok(())
            }
            (Which::Last, _) => Ok(()),
            (Which::All(Partial::LeftOut), _) if is_partial => Ok(()),
            (Which::All(_), _) => write(frame),
        }
    }

    /// Writes what was kept.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.result.take().map_or(Ok(()), |frame| write(&frame))
    }
}

/// Whether a frame tells of a request to the model; of other states it tells whoever listens.
fn is_requesting(frame: &Frame) -> bool {
    frame.get("status").and_then(Raw::text).is_some_and(|status| status.get() == "requesting")
}

fn write(frame: &Frame) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame.raw())?;
    // A terminal is raw while a turn runs.
    out.write_all(if io::stdout().is_terminal() { b"\r\n" } else { b"\n" })?;
    out.flush()
}
