use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::json::Raw;
use tidings_protocol::messages::{Message, OriginKind};
use tidings_protocol::{Frame, Outcome};

use crate::error::Error;
use crate::transport::Exit;

/// Something that happened in a session, for [subscribers](super::Subscriber).
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all events are frames, and a box would cost each of them"
)]
pub enum Event {
    /// A frame of the conversation.
    Frame {
        /// The turn that it belongs to; none between turns.
        turn: Option<TurnId>,
        /// The frame.
        frame: Frame,
        /// Where its line ends in everything that the CLI wrote, if the carrier counts that.
        end: Option<u64>,
    },
    /// A turn begins: of a prompt, of several that were merged, or one that the CLI began by itself.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The prompts that it answers, by uuid; none if the CLI began it by itself.
        prompts: Vec<String>,
    },
    /// A turn has ended.
    TurnEnded(Arc<TurnEnd>),
    /// A line that is no frame.
    Noise {
        /// How it begins.
        text: String,
    },
    /// A line that was too long to keep.
    Oversized {
        /// Its length.
        bytes: u64,
        /// How it begins.
        head: String,
    },
    /// A turn is under way, nobody is asked anything, no tool runs, and yet nothing has come for a while.
    Stalled {
        /// For how long.
        quiet: Duration,
    },
    /// This subscriber was too slow, and lost events.
    Lagged {
        /// How many.
        lost: u64,
    },
    /// The session has ended. Nothing follows.
    Ended {
        /// How the process ended.
        exit: Exit,
        /// Why, if it was not meant to.
        error: Option<Error>,
    },
}

/// Names a turn of a session. Turns count up in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub(super) u64);

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The turn; none if the prompt never came to one.
    pub turn: Option<TurnId>,
    /// The prompts that it answered, by uuid; none if the CLI began it by itself.
    pub prompts: Vec<String>,
    /// What began it, if the CLI says so.
    pub origin: Option<OriginKind>,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// The `result` frame; none if the prompt never came to a turn.
    pub result: Option<Frame>,
}

/// How a turn ended, told apart by what a caller would do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// It ran to its end.
    Completed,
    /// It was interrupted.
    Cancelled,
    /// It failed.
    Failed(Outcome),
    /// The prompt was taken back, or refused, before a turn began.
    Dropped,
    /// The line of its result was longer than [`Options::line_bytes_max`](crate::Options::line_bytes_max), or broken.
    ResultLost,
}

/// The error of a turn that should have ended with an output and did not.
pub(crate) const OUTPUT_MISSING: &str =
    "The turn ended without the structured output that the options ask for";

impl TurnEnd {
    /// Whether it ran to its end, and well.
    pub fn is_success(&self) -> bool {
        self.outcome == TurnOutcome::Completed
    }

    /// The final text; empty if there is none.
    pub fn text(&self) -> String {
        let text =
            self.result.as_ref().filter(|_| self.is_success()).and_then(|frame| frame.get("result")?.text());
        text.map(|text| text.get().into_owned()).unwrap_or_default()
    }

    /// What a turn that failed says of itself. An interrupted one says nothing.
    pub fn error_text(&self) -> Option<String> {
        match self.outcome {
            TurnOutcome::Failed(Outcome::StructuredOutput) => {
                let told = self.result.as_ref().and_then(Frame::error_text);
                Some(told.unwrap_or_else(|| OUTPUT_MISSING.to_owned()))
            }
            TurnOutcome::Failed(_) => self.result.as_ref()?.error_text(),
            _ => None,
        }
    }

    /// The result in the form that the options asked for with a schema.
    pub fn structured_output(&self) -> Option<Raw<'_>> {
        self.result.as_ref()?.get("structured_output")
    }

    /// The result as a value of the type that [`Options::output_type`](crate::Options::output_type) asked for.
    #[cfg(feature = "schema")]
    pub fn output<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        let Some(output) = self.structured_output() else {
            let reason = self.error_text().unwrap_or_else(|| OUTPUT_MISSING.to_owned());
            return Err(Error::new(
                crate::ErrorKind::Decode,
                reason,
                "ask for it with `Options::output_type`",
            ));
        };
        output.read().map_err(|error| {
            let message = "The structured output of the turn does not fit the type";
            Error::new(crate::ErrorKind::Decode, message, "ask for this type with `Options::output_type`")
                .caused_by(error)
        })
    }

    /// The conversation that the turn belongs to.
    pub fn session_id(&self) -> Option<String> {
        self.result.as_ref()?.session_id().map(Into::into)
    }

    /// What the session has cost so far, in dollars, as the CLI counts.
    pub fn total_cost_usd(&self) -> Option<f64> {
        self.result.as_ref()?.get("total_cost_usd")?.f64()
    }

    /// The tokens of the turn, as the CLI counts them: `input_tokens`, `output_tokens` and more.
    pub fn usage(&self) -> Option<Raw<'_>> {
        self.result.as_ref()?.get("usage")
    }

    /// The `result` frame as an owned value.
    pub fn message(&self) -> Option<Message> {
        self.result.as_ref().map(Frame::message)
    }
}

impl Event {
    /// About how much memory it holds.
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
