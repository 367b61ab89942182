use std::io::{self, IsTerminal as _, Write as _};

use tidings::{Event, Frame, Kind, Subscriber};

/// What programs get: frames as Claude Code wrote them.
pub(super) struct Frames {
    subscriber: Subscriber,
    which: Which,
    result: Option<Frame>,
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
        Frames { subscriber, which: Which::All(partial), result: None }
    }

    /// The result, at the end.
    pub(super) fn last(subscriber: Subscriber) -> Self {
        Frames { subscriber, which: Which::Last, result: None }
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        self.subscriber.next().await
    }

    /// Writes a frame, or keeps it for the end.
    pub(super) fn take(&mut self, frame: &Frame) -> io::Result<()> {
        let name = frame.name();
        // These come because we drive the CLI as an SDK does; after a prompt on its command line it does not write them.
        if matches!(&*name, "command_lifecycle" | "system/session_state_changed") {
            return Ok(());
        }
        let is_partial = matches!(&*name, "stream_event" | "system/status" | "system/thinking_tokens");
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

fn write(frame: &Frame) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame.raw())?;
    // A terminal is raw while a turn runs.
    out.write_all(if io::stdout().is_terminal() { b"\r\n" } else { b"\n" })?;
    out.flush()
}
