//! Events of a session for its subscribers, and the end of a turn.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::json::Raw;
use tidings_protocol::messages::{Message, OriginKind};
use tidings_protocol::{Frame, Outcome};

use crate::error::Error;
use crate::transport::Exit;

/// An event of a session, for [subscribers](super::Subscriber).
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all events are frames, and a box would cost each of them"
)]
pub enum Event {
    /// A frame of the conversation.
    Frame {
        /// The turn that it belongs to; `None` between turns.
        turn: Option<TurnId>,
        /// The frame.
        frame: Frame,
        /// The offset at which its line ends in the CLI's output, if the transport counts bytes.
        end: Option<u64>,
    },
    /// A turn begins: for a prompt, for several merged prompts, or started by the CLI itself.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The prompts that it answers, by uuid; empty if the CLI started it.
        prompts: Vec<String>,
    },
    /// A turn has ended.
    TurnEnded(Arc<TurnEnd>),
    /// A line that is not a JSON object.
    Noise {
        /// The beginning of the line.
        text: String,
    },
    /// A line that was too long to keep.
    Oversized {
        /// Its length in bytes.
        bytes: u64,
        /// The beginning of the line.
        head: String,
    },
    /// A turn runs, no request is open, no tool runs, and yet no frame has arrived for a while.
    Stalled {
        /// Time since the last frame.
        quiet: Duration,
    },
    /// This subscriber was too slow and lost events.
    Lagged {
        /// The number of lost events.
        lost: u64,
    },
    /// The session has ended. This is the last event.
    Ended {
        /// The exit status of the process.
        exit: Exit,
        /// The reason, if the end was unexpected.
        error: Option<Error>,
    },
}

/// The id of a turn in its session. Turns are numbered in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub(super) u64);

/// The end of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The turn; `None` if the prompt never reached one.
    pub turn: Option<TurnId>,
    /// The prompts that it answered, by uuid; empty if the CLI started it.
    pub prompts: Vec<String>,
    /// The trigger of the turn, if the CLI reports one.
    pub origin: Option<OriginKind>,
    /// The outcome of the turn.
    pub outcome: TurnOutcome,
    /// The `result` frame; `None` if the prompt never reached a turn.
    pub result: Option<Frame>,
}

/// The outcome of a turn, by what a caller does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// It ran to its end.
    Completed,
    /// It was interrupted.
    Cancelled,
    /// It failed.
    Failed(Outcome),
    /// The prompt was cancelled or refused before a turn began.
    Dropped,
    /// The line of its result was longer than [`Options::line_bytes_max`](crate::Options::line_bytes_max), or
    /// unreadable.
    ResultLost,
}

/// The error message of a turn that lacks its structured output.
pub(crate) const OUTPUT_MISSING: &str =
    "The turn ended without the structured output that the options require";

impl TurnEnd {
    /// True if the turn completed successfully.
    pub fn is_success(&self) -> bool {
        self.outcome == TurnOutcome::Completed
    }

    /// The final text; empty if there is none.
    pub fn text(&self) -> String {
        let text =
            self.result.as_ref().filter(|_| self.is_success()).and_then(|frame| frame.get("result")?.text());
        text.map(|text| text.get().into_owned()).unwrap_or_default()
    }

    /// The error text of a failed turn; `None` for an interrupted turn.
    pub fn error_text(&self) -> Option<String> {
        match self.outcome {
            TurnOutcome::Failed(Outcome::StructuredOutput) => {
                let text = self.result.as_ref().and_then(Frame::error_text);
                Some(text.unwrap_or_else(|| OUTPUT_MISSING.to_owned()))
            }
            TurnOutcome::Failed(_) => self.result.as_ref()?.error_text(),
            _ => None,
        }
    }

    /// The error of a turn that did not complete, with its [outcome](Error::outcome); `None` for one that
    /// did.
    pub fn error(&self) -> Option<Error> {
        (!self.is_success()).then(|| Error::turn(self.outcome, self.error_text()))
    }

    /// The structured output, if the options set a schema.
    pub fn structured_output(&self) -> Option<Raw<'_>> {
        self.result.as_ref()?.get("structured_output")
    }

    /// The structured output as a value of the type given with
    /// [`Options::output_type`](crate::Options::output_type). It needs the feature `schema`.
    #[cfg(feature = "schema")]
    pub fn output<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        let Some(output) = self.structured_output() else {
            let reason = self.error_text().unwrap_or_else(|| OUTPUT_MISSING.to_owned());
            return Err(Error::new(
                crate::ErrorKind::Decode,
                reason,
                "request it with `Options::output_type`",
            ));
        };
        output.read().map_err(|error| {
            let message = "The structured output of the turn does not fit the type";
            Error::new(crate::ErrorKind::Decode, message, "request this type with `Options::output_type`")
                .caused_by(error)
        })
    }

    /// The id of the conversation that the turn belongs to.
    pub fn session_id(&self) -> Option<String> {
        self.result.as_ref()?.session_id().map(Into::into)
    }

    /// The cost of the session so far in US dollars, as counted by the CLI.
    pub fn total_cost_usd(&self) -> Option<f64> {
        self.result.as_ref()?.get("total_cost_usd")?.f64()
    }

    /// The token usage of the turn, as counted by the CLI: `input_tokens`, `output_tokens` and more.
    pub fn usage(&self) -> Option<Raw<'_>> {
        self.result.as_ref()?.get("usage")
    }

    /// The `result` frame as an owned value.
    pub fn message(&self) -> Option<Message> {
        self.result.as_ref().map(Frame::message)
    }
}

impl Event {
    /// Approximate memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Event::Frame { frame, .. } => frame.raw().len(),
            Event::Noise { text } => text.len(),
            Event::Oversized { head, .. } => head.len(),
            _ => 0,
        }
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
