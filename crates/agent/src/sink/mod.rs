//! Where events go.
//!
//! A sink that is full says so, or makes the session wait: no event is dropped.

mod channel;
mod text;

use std::fmt;

use futures_core::future::BoxFuture;
use tidings_protocol::ui::UiMessage;

use crate::fold;

pub use channel::ChannelEventSink;
pub use text::TextEventSink;

/// Takes the events of sessions.
pub trait EventSink: Send + Sync {
    /// Takes an event at once, or gives it back.
    fn send(&self, event: UiMessage) -> Result<(), SendError>;

    /// Takes an event as soon as there is room. The session waits, and loses nothing.
    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>>;

    /// Takes what came of one thing that happened. Whoever keeps events can keep these together.
    fn send_step(&self, step: Step) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            for event in step.events {
                self.send_async(event).await?;
            }
            Ok(())
        })
    }

    /// Whether a [`Checkpoint`] is of use to it.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// Another handle on the same sink.
    fn clone_box(&self) -> Box<dyn EventSink>;
}

/// What came of one thing that happened.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Step {
    /// The events, in their order.
    pub events: Vec<UiMessage>,
    /// Where the line of the agent that they come from ends, if they come from one and the carrier counts.
    pub end: Option<u64>,
    /// How the session can go on after this in another process, now and then.
    pub checkpoint: Option<Checkpoint>,
}

/// What a session needs in order to go on in another process: see [`Setup::resume`](crate::Setup).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Where the last line of the agent ends that is taken in.
    pub end: u64,
    /// What the events were made from.
    pub fold: fold::Snapshot,
}

/// A sink did not take an event; here it is again.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no room at the moment.
    Full(Box<UiMessage>),
    /// Nobody takes events any more.
    Closed(Box<UiMessage>),
}

impl Step {
    /// These events.
    pub fn new(events: Vec<UiMessage>) -> Self {
        Step { events, ..Step::default() }
    }
}

impl SendError {
    /// The event.
    pub fn into_event(self) -> UiMessage {
        match self {
            SendError::Full(event) | SendError::Closed(event) => *event,
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Full(_) => "whoever shows the events has no room for more",
            SendError::Closed(_) => "nobody shows the events any more",
        })
    }
}

impl std::error::Error for SendError {}

impl Clone for Box<dyn EventSink> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

impl fmt::Debug for dyn EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}
