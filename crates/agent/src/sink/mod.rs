//! Sinks for events.
//!
//! A full sink returns an error or makes the session wait: no event is dropped.

mod channel;
mod text;

use std::fmt;

use futures_core::future::BoxFuture;
use tidings_protocol::ui::UiMessage;

pub use channel::ChannelEventSink;
pub use text::TextEventSink;

/// A receiver of the events of sessions.
pub trait EventSink: Send + Sync {
    /// Takes an event immediately, or returns it in the error.
    fn send(&self, event: UiMessage) -> Result<(), SendError>;

    /// Takes an event as soon as there is room. The session waits until then.
    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>>;

    /// Takes the events of one step, in order. On failure a prefix of them may have been taken.
    ///
    /// `end` is the offset in the agent's output behind these events, if they come from the output and the
    /// transport counts bytes.
    /// A sink that stores it atomically with the events can tell later from which offset to continue.
    fn send_all(&self, events: Vec<UiMessage>, end: Option<u64>) -> BoxFuture<'_, Result<(), SendError>> {
        let _ = end;
        Box::pin(async move {
            for event in events {
                self.send_async(event).await?;
            }
            Ok(())
        })
    }

    /// Creates another handle to the same sink.
    fn clone_box(&self) -> Box<dyn EventSink>;
}

/// A sink did not take an event. The error contains the event.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no room at the moment.
    Full(Box<UiMessage>),
    /// The receiver is gone.
    Closed(Box<UiMessage>),
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
            SendError::Full(_) => "the event sink is full",
            SendError::Closed(_) => "the event sink is closed",
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
