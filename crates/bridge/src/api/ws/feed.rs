//! Subscriptions of a WebSocket: to one session, or to notices about all sessions.

use std::sync::Arc;

use tidings_protocol::api::{Notice, SocketMessage};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::link::Utf8Bytes;
use crate::api::feed::{Encoder, EventBatch, Feed, FeedEnd, reason};
use crate::api::visibility::Visibility;
use crate::api::wire::body_text;
use crate::error::Error;
use crate::journal::Event;
use crate::sessions::Sessions;

/// One subscription of a WebSocket.
pub(crate) struct SocketFeed {
    /// The key of the session; empty for notices about all sessions.
    pub(crate) key: Arc<str>,
    /// Ends the subscription.
    pub(crate) stop: CancellationToken,
    pub(crate) source: SocketSource,
}

pub(crate) enum SocketSource {
    Session(Box<Feed<SocketEncoder>>),
    Notices { sessions: Sessions, receiver: broadcast::Receiver<Arc<Notice>>, visibility: Visibility },
}

/// The next messages of a subscription.
#[derive(Debug)]
pub(crate) enum SocketUpdate {
    /// Messages, and more will follow.
    Some(Vec<Utf8Bytes>),
    /// The last messages.
    Last(Vec<Utf8Bytes>),
    /// The client has unsubscribed.
    Stopped,
}

impl SocketFeed {
    /// Waits for the next messages.
    pub(crate) async fn next(&mut self) -> SocketUpdate {
        let SocketFeed { key, stop, source } = self;
        tokio::select! {
            biased;
            () = stop.cancelled() => SocketUpdate::Stopped,
            sent = source.next(key) => sent,
        }
    }

    /// Waits until the client is so far behind that it must subscribe again.
    pub(crate) async fn fallen_behind(&mut self) {
        match &mut self.source {
            SocketSource::Session(feed) => _ = feed.events.fallen_behind().await,
            // Notices are few, and the channel drops the oldest when it is full.
            SocketSource::Notices { .. } => std::future::pending().await,
        }
    }
}

impl SocketSource {
    async fn next(&mut self, key: &str) -> SocketUpdate {
        match self {
            SocketSource::Session(feed) => match feed.next().await {
                Ok(batch) => SocketUpdate::Some(batch.messages),
                Err(end) => SocketUpdate::Last(vec![to_json(&last_message(end, key)).into()]),
            },
            SocketSource::Notices { sessions, receiver, visibility } => loop {
                let message = match receiver.recv().await {
                    Ok(notice) if visibility.sees_notice(sessions, &notice).await => {
                        SocketMessage::Notice { notice: (*notice).clone() }
                    }
                    Ok(_) => continue,
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        SocketMessage::Notice { notice: Notice::Resync {} }
                    }
                    Err(broadcast::error::RecvError::Closed) => return SocketUpdate::Last(Vec::new()),
                };
                return SocketUpdate::Some(vec![to_json(&message).into()]);
            },
        }
    }
}

/// Encodes events as messages of the WebSocket.
pub(crate) struct SocketEncoder {
    /// The key of the session as JSON.
    key: String,
}

impl SocketEncoder {
    pub(crate) fn new(key: &str) -> Self {
        SocketEncoder { key: serde_json::to_string(key).unwrap_or_default() }
    }

    /// The message of an event: a [`SocketMessage::Event`] whose body is inserted as it is stored.
    fn event(&self, event: &Event) -> String {
        // One allocation, because this runs for each delta and each subscriber.
        let (session, cursor, body) = (self.key.as_str(), event.cursor.to_string(), body_text(event));
        [r#"{"type":"event","session":"#, session, r#","cursor":""#, &cursor, r#"","event":"#, &body, "}"]
            .concat()
    }
}

impl Encoder for SocketEncoder {
    type Batch = SocketBatch;

    fn encode(&mut self, event: &Event, batch: &mut SocketBatch) {
        // A long message stays in memory until the client reads it, so subscribers share one copy. A short
        // one is encoded once too; checking its bytes again is cheaper than encoding them.
        let bytes = event.forms.socket(|| self.event(event).into());
        batch.push(Utf8Bytes::try_from(bytes).unwrap_or_else(|_| self.event(event).into()));
    }
}

/// Messages that are sent together.
#[derive(Debug, Default)]
pub(crate) struct SocketBatch {
    messages: Vec<Utf8Bytes>,
    bytes: usize,
}

impl SocketBatch {
    fn push(&mut self, message: Utf8Bytes) {
        self.bytes += message.len();
        self.messages.push(message);
    }
}

impl EventBatch for SocketBatch {
    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The last message of a subscription.
fn last_message(end: FeedEnd, key: &str) -> SocketMessage {
    match end {
        FeedEnd::Cut(cut, cursor) => {
            SocketMessage::Resync { session: key.to_owned(), reason: reason(cut), cursor: cursor.to_string() }
        }
        FeedEnd::Failed(error) => SocketMessage::Error { id: None, problem: Error::from(error).problem("") },
    }
}

/// A message as JSON.
pub(crate) fn to_json(message: &SocketMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
