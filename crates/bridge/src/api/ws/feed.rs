//! Subscriptions of a WebSocket: to one session, or to notices about all sessions.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tidings_protocol::api::{Notice, SocketMessage};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::deltas::{Deltas, HeldDeltas};
use super::link::Utf8Bytes;
use crate::api::sse::reason;
use crate::api::visibility::Visibility;
use crate::api::wire::body_text;
use crate::broadcast::{Delivery, Subscription};
use crate::error::Error;
use crate::journal::{Cursor, Event, JournalError};
use crate::limits::{CHUNK_BYTES, LONG_EVENT_BYTES};
use crate::sessions::Sessions;
use crate::sessions::frames::FRAME;

/// One subscription of a WebSocket.
pub(crate) struct SocketFeed {
    /// The key of the session; empty for notices about all sessions.
    pub(crate) key: Arc<str>,
    /// Ends the subscription.
    pub(crate) stop: CancellationToken,
    pub(crate) source: SocketSource,
}

pub(crate) enum SocketSource {
    Session(Box<SessionFeed>),
    Notices { sessions: Sessions, receiver: broadcast::Receiver<Arc<Notice>>, visibility: Visibility },
}

/// A subscription to one session.
pub(crate) struct SessionFeed {
    pub(crate) events: Subscription,
    deltas: Deltas,
    held: Option<HeldDeltas>,
    /// The key of the session as JSON.
    key: String,
    is_over: bool,
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
        let SocketFeed { stop, source, .. } = self;
        tokio::select! {
            biased;
            () = stop.cancelled() => SocketUpdate::Stopped,
            sent = source.next() => sent,
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
    async fn next(&mut self) -> SocketUpdate {
        match self {
            SocketSource::Session(feed) => feed.next().await,
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

impl SessionFeed {
    pub(crate) fn new(key: &str, events: Subscription, deltas: Deltas) -> Self {
        let key = serde_json::to_string(key).unwrap_or_default();
        SessionFeed { events, deltas, held: None, key, is_over: false }
    }

    /// Waits for one event, and adds the events that are already available.
    async fn next(&mut self) -> SocketUpdate {
        let mut out = SocketBuffer::default();
        loop {
            let Some(next) = self.next_in_time().await else {
                self.release(&mut out);
                return SocketUpdate::Some(out.messages);
            };
            self.take(next, &mut out);
            while out.bytes < CHUNK_BYTES && !self.is_over {
                let Some(next) = self.events.next().now_or_never() else { break };
                self.take(next, &mut out);
            }
            if self.is_over {
                return SocketUpdate::Last(out.messages);
            }
            if !out.messages.is_empty() {
                return SocketUpdate::Some(out.messages);
            }
        }
    }

    /// The next event; `None` when the time of held deltas is up.
    async fn next_in_time(&mut self) -> Option<Result<Delivery, JournalError>> {
        match self.held.as_ref().and_then(|held| held.until) {
            Some(until) => tokio::time::timeout_at(until, self.events.next()).await.ok(),
            None => Some(self.events.next().await),
        }
    }

    fn take(&mut self, next: Result<Delivery, JournalError>, out: &mut SocketBuffer) {
        match next {
            Ok(Delivery::Event(event)) if event.kind.as_str() == FRAME => {}
            Ok(Delivery::Event(event)) => self.take_event(&event, out),
            Ok(Delivery::Cut(cut)) => {
                self.release(out);
                self.is_over = true;
                let session = serde_json::from_str(&self.key).unwrap_or_default();
                let cursor = self.events.cursor().to_string();
                out.push(to_json(&SocketMessage::Resync { session, reason: reason(cut), cursor }));
            }
            Err(error) => {
                self.release(out);
                self.is_over = true;
                let problem = Error::from(error).problem("");
                out.push(to_json(&SocketMessage::Error { id: None, problem }));
            }
        }
    }

    fn take_event(&mut self, event: &Event, out: &mut SocketBuffer) {
        let Some(delta) = HeldDeltas::first(event, self.deltas) else {
            self.release(out);
            let write = || self.event(event.cursor, &body_text(event));
            // A long message stays in memory until the client reads it, so subscribers share one copy.
            let is_shared = self.events.is_shared() || event.body.len() >= LONG_EVENT_BYTES;
            let message = if is_shared { event.message.once(write) } else { Utf8Bytes::from(write()) };
            out.push(message);
            return;
        };
        let delta = match &mut self.held {
            Some(held) => held.join(delta).err(),
            None => Some(delta),
        };
        if let Some(delta) = delta {
            self.release(out);
            self.held = Some(delta);
        }
    }

    /// Moves held deltas to the output.
    fn release(&mut self, out: &mut SocketBuffer) {
        if let Some(held) = self.held.take() {
            out.push(self.event(held.cursor, &held.json()));
        }
    }

    /// The message of an event. The body is inserted unchanged.
    fn event(&self, cursor: Cursor, body: &str) -> String {
        // One allocation, because this runs for each delta and each subscriber.
        let (session, cursor) = (self.key.as_str(), cursor.to_string());
        [r#"{"type":"event","session":"#, session, r#","cursor":""#, &cursor, r#"","event":"#, body, "}"]
            .concat()
    }
}

#[derive(Default)]
struct SocketBuffer {
    messages: Vec<Utf8Bytes>,
    bytes: usize,
}

impl SocketBuffer {
    fn push(&mut self, message: impl Into<Utf8Bytes>) {
        let message = message.into();
        self.bytes += message.len();
        self.messages.push(message);
    }
}

/// A message as JSON.
pub(crate) fn to_json(message: &SocketMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
