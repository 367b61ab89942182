//! JSON output of `tidings run`: the frames as Claude Code wrote them.

use std::io::{self, IsTerminal as _, Write as _};

use tidings::{Event, Frame, Kind, Subscriber};
use tidings_protocol::json::Raw;

/// Writer of JSON output: frames as Claude Code wrote them.
pub(super) struct Frames {
    subscriber: Subscriber,
    filter: FrameFilter,
    result: Option<Frame>,
    /// True after the last frame.
    over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameFilter {
    All(Partial),
    Result,
}

/// Handling of partial messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    Included,
    Omitted,
}

impl Frames {
    /// Writes every frame as it comes.
    pub(super) fn all(subscriber: Subscriber, partial: Partial) -> Self {
        Frames { subscriber, filter: FrameFilter::All(partial), result: None, over: false }
    }

    /// Writes only the result, at the end.
    pub(super) fn last(subscriber: Subscriber) -> Self {
        Frames { subscriber, filter: FrameFilter::Result, result: None, over: false }
    }

    /// Waits for the next frame; never returns after the last.
    pub(super) async fn next(&mut self) -> Event {
        if !self.over
            && let Some(event) = self.subscriber.next().await
        {
            return event;
        }
        self.over = true;
        std::future::pending().await
    }

    /// Writes a frame, or stores it for `finish`.
    pub(super) fn take(&mut self, frame: &Frame) -> io::Result<()> {
        let name = frame.name();
        // The CLI writes these only to an SDK, not with a prompt on its command line.
        if matches!(&*name, "command_lifecycle" | "system/session_state_changed") {
            return Ok(());
        }
        let is_partial = name == "stream_event" || name == "system/status" && is_requesting(frame);
        match (self.filter, frame.kind()) {
            (FrameFilter::Result, Kind::Result) => {
                self.result = Some(frame.clone());
                Ok(())
            }
            (FrameFilter::Result, _) => Ok(()),
            (FrameFilter::All(Partial::Omitted), _) if is_partial => Ok(()),
            (FrameFilter::All(_), _) => write(frame),
        }
    }

    /// Writes the stored result.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.result.take().map_or(Ok(()), |frame| write(&frame))
    }
}

/// True if a status frame reports a request to the model; the CLI writes that only with partial messages.
fn is_requesting(frame: &Frame) -> bool {
    frame.get("status").and_then(Raw::text).is_some_and(|status| status.get() == "requesting")
}

fn write(frame: &Frame) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame.raw())?;
    // A terminal is in raw mode during a turn, so it needs a carriage return.
    out.write_all(if io::stdout().is_terminal() { b"\r\n" } else { b"\n" })?;
    out.flush()
}
