//! A sink that sends events to another task through a channel.

use futures_core::future::BoxFuture;
use tidings_protocol::ui::UiMessage;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{EventSink, SendError};

/// A sink that sends events to another task through a channel.
///
/// ```
/// use tidings_agent::{ChannelEventSink, EventSink, UiMessage};
///
/// let (sink, mut events) = ChannelEventSink::new(16);
/// sink.send(UiMessage::System { message: "ready".to_owned(), session_id: None })?;
/// assert!(matches!(events.try_recv(), Ok(UiMessage::System { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChannelEventSink(mpsc::Sender<UiMessage>);

impl ChannelEventSink {
    /// Creates a sink that buffers up to `room` events, and its receiver.
    pub fn new(room: usize) -> (Self, mpsc::Receiver<UiMessage>) {
        let (sender, receiver) = mpsc::channel(room.max(1));
        (ChannelEventSink(sender), receiver)
    }
}

impl From<mpsc::Sender<UiMessage>> for ChannelEventSink {
    fn from(sender: mpsc::Sender<UiMessage>) -> Self {
        ChannelEventSink(sender)
    }
}

impl EventSink for ChannelEventSink {
    fn send(&self, event: UiMessage) -> Result<(), SendError> {
        self.0.try_send(event).map_err(|error| match error {
            TrySendError::Full(event) => SendError::Full(Box::new(event)),
            TrySendError::Closed(event) => SendError::Closed(Box::new(event)),
        })
    }

    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(
            async move { self.0.send(event).await.map_err(|error| SendError::Closed(Box::new(error.0))) },
        )
    }

    fn clone_box(&self) -> Box<dyn EventSink> {
        Box::new(self.clone())
    }
}
