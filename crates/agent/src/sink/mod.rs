//! Where events go.
//!
//! A sink that is full says so, or makes the session wait: no event is dropped.

mod channel;
mod text;

use std::fmt;

use futures_core::future::BoxFuture;
use tidings_protocol::ui::UiMessage;

pub use channel::ChannelEventSink;
pub use text::TextEventSink;

/// Takes the events of sessions.
pub trait EventSink: Send + Sync {
    /// Takes an event at once, or gives it back.
    fn send(&self, event: UiMessage) -> Result<(), SendError>;

    /// Takes an event as soon as there is room. The session waits, and loses nothing.
    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>>;

    /// Takes what came of one step, all of it or, when it fails, the first of it.
    ///
    /// `end` is how far the agent's output is behind these events, if they came of it and the carrier counts. A sink that
    /// stores it with them, all or nothing, can say later from where to read on.
    fn send_all(&self, events: Vec<UiMessage>, end: Option<u64>) -> BoxFuture<'_, Result<(), SendError>> {
        let _ = end;
        Box::pin(async move {
            for event in events {
                self.send_async(event).await?;
            }
            Ok(())
        })
    }

    /// Another handle on the same sink.
    fn clone_box(&self) -> Box<dyn EventSink>;
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
