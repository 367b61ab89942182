//! What a WebSocket is subscribed to: a session, or what happens in any of them.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tidings_protocol::api::{Notice, SocketMessage};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::deltas::{Deltas, Held};
use super::link::Utf8Bytes;
use crate::api::reach::Sight;
use crate::api::sse::reason;
use crate::api::wire::{FRAME, body_text};
use crate::broadcast::{Delivery, Subscription};
use crate::error::Error;
use crate::journal::{Cursor, Event, JournalError};
use crate::limits::{CHUNK_BYTES, LONG_EVENT_BYTES};
use crate::sessions::Sessions;

/// What is subscribed to.
pub(crate) struct Feed {
    /// The key of the session; empty for what happens in any of them.
    pub(crate) key: Arc<str>,
    /// Ends it, unless it is over already.
    pub(crate) stop: CancellationToken,
    pub(crate) source: Source,
}

pub(crate) enum Source {
    Session(Box<Watched>),
    Notices { sessions: Sessions, receiver: broadcast::Receiver<Arc<Notice>>, sight: Sight },
}

/// One session, as one client watches it.
pub(crate) struct Watched {
    pub(crate) events: Subscription,
    deltas: Deltas,
    held: Option<Held>,
    /// The key as JSON.
    key: String,
    is_over: bool,
}

/// What is to be sent.
#[derive(Debug)]
pub(crate) enum Sent {
    /// These messages, and more will follow.
    Some(Vec<Utf8Bytes>),
    /// These messages and no more.
    Last(Vec<Utf8Bytes>),
    /// The client wants no more of it.
    Stopped,
}

impl Feed {
    /// What is to be sent next, as soon as there is something.
    pub(crate) async fn next(&mut self) -> Sent {
        let Feed { stop, source, .. } = self;
        tokio::select! {
            biased;
            () = stop.cancelled() => Sent::Stopped,
            sent = source.next() => sent,
        }
    }

    /// Ends when so much has happened while nothing could be sent that the client has to start again.
    pub(crate) async fn fallen_behind(&mut self) {
        match &mut self.source {
            Source::Session(watched) => _ = watched.events.fallen_behind().await,
            // Notices are few, and the oldest are dropped where too many wait.
            Source::Notices { .. } => std::future::pending().await,
        }
    }
}

impl Source {
    async fn next(&mut self) -> Sent {
        match self {
            Source::Session(watched) => watched.next().await,
            Source::Notices { sessions, receiver, sight } => loop {
                let message = match receiver.recv().await {
                    Ok(notice) if sight.of_notice(sessions, &notice).await => {
                        SocketMessage::Notice { notice: (*notice).clone() }
                    }
                    Ok(_) => continue,
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        SocketMessage::Notice { notice: Notice::Resync {} }
                    }
                    Err(broadcast::error::RecvError::Closed) => return Sent::Last(Vec::new()),
                };
                return Sent::Some(vec![written(&message).into()]);
            },
        }
    }
}

impl Watched {
    pub(crate) fn new(key: &str, events: Subscription, deltas: Deltas) -> Self {
        let key = serde_json::to_string(key).unwrap_or_default();
        Watched { events, deltas, held: None, key, is_over: false }
    }

    /// Waits for one event, and takes along whatever else is there already.
    async fn next(&mut self) -> Sent {
        let mut out = Out::default();
        loop {
            let Some(next) = self.next_in_time().await else {
                self.release(&mut out);
                return Sent::Some(out.messages);
            };
            self.take(next, &mut out);
            while out.bytes < CHUNK_BYTES && !self.is_over {
                let Some(next) = self.events.next().now_or_never() else { break };
                self.take(next, &mut out);
            }
            if self.is_over {
                return Sent::Last(out.messages);
            }
            if !out.messages.is_empty() {
                return Sent::Some(out.messages);
            }
        }
    }

    /// The next event; none when what is held back has waited long enough.
    async fn next_in_time(&mut self) -> Option<Result<Delivery, JournalError>> {
        match self.held.as_ref().and_then(|held| held.until) {
            Some(until) => tokio::time::timeout_at(until, self.events.next()).await.ok(),
            None => Some(self.events.next().await),
        }
    }

    fn take(&mut self, next: Result<Delivery, JournalError>, out: &mut Out) {
        match next {
            Ok(Delivery::Event(event)) if event.kind.as_str() == FRAME => {}
            Ok(Delivery::Event(event)) => self.take_event(&event, out),
            Ok(Delivery::Cut(cut)) => {
                self.release(out);
                self.is_over = true;
                let session = serde_json::from_str(&self.key).unwrap_or_default();
                let cursor = self.events.cursor().to_string();
                out.push(written(&SocketMessage::Resync { session, reason: reason(cut), cursor }));
            }
            Err(error) => {
                self.release(out);
                self.is_over = true;
                let problem = Error::from(error).problem("");
                out.push(written(&SocketMessage::Error { id: None, problem }));
            }
        }
    }

    fn take_event(&mut self, event: &Event, out: &mut Out) {
        let Some(piece) = Held::first(event, self.deltas) else {
            self.release(out);
            let write = || self.event(event.cursor, &body_text(event));
            // A long one is held for as long as the client does not read it.
            let is_shared = self.events.is_shared() || event.body.len() >= LONG_EVENT_BYTES;
            let message = if is_shared { event.message.once(write) } else { Utf8Bytes::from(write()) };
            out.push(message);
            return;
        };
        let piece = match &mut self.held {
            Some(held) => held.join(piece).err(),
            None => Some(piece),
        };
        if let Some(piece) = piece {
            self.release(out);
            self.held = Some(piece);
        }
    }

    /// Sends what was held back.
    fn release(&mut self, out: &mut Out) {
        if let Some(held) = self.held.take() {
            out.push(self.event(held.cursor, &held.json()));
        }
    }

    /// The message of an event. Its body is put in as it is.
    fn event(&self, cursor: Cursor, body: &str) -> String {
        // Put together in one go: it is done for each piece of text and each watcher.
        let (session, cursor) = (self.key.as_str(), cursor.to_string());
        [r#"{"type":"event","session":"#, session, r#","cursor":""#, &cursor, r#"","event":"#, body, "}"]
            .concat()
    }
}

#[derive(Default)]
struct Out {
    messages: Vec<Utf8Bytes>,
    bytes: usize,
}

impl Out {
    fn push(&mut self, message: impl Into<Utf8Bytes>) {
        let message = message.into();
        self.bytes += message.len();
        self.messages.push(message);
    }
}

/// A message as JSON.
pub(crate) fn written(message: &SocketMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
