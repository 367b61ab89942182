//! Subscriptions of a WebSocket: to one session, or to notices about all sessions.

use std::sync::Arc;

use axum::body::Bytes;
use tidings_api::{Notice, SocketMessage};
use tidings_journal::Event;
use tidings_journal::limits::LONG_EVENT_BYTES;
use tidings_sessions::{Error, Sessions};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_util::sync::CancellationToken;

use super::link::{Message, Utf8Bytes, WebSocket};
use crate::api::feed::{Encoder, EventBatch, Feed, FeedEnd, reason};
use crate::api::visibility::Visibility;
use crate::api::wire::body_text;

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
    Some(Vec<SocketText>),
    /// The last messages.
    Last(Vec<SocketText>),
    /// The client has unsubscribed.
    Stopped,
}

/// A message of a subscription.
#[derive(Debug)]
pub(crate) enum SocketText {
    /// A message in one piece.
    Whole(Utf8Bytes),
    /// The message of a long event, whose body is the one that all subscribers share.
    Long { head: String, body: Bytes, end: &'static str },
}

impl SocketText {
    pub(crate) fn len(&self) -> usize {
        match self {
            SocketText::Whole(text) => text.len(),
            SocketText::Long { head, body, end } => head.len() + body.len() + end.len(),
        }
    }

    /// Writes the message. It is sent with the next flush at the latest.
    pub(crate) async fn write(self, socket: &mut WebSocket) -> Result<(), SocketError> {
        match self {
            SocketText::Whole(text) => socket.feed(Message::Text(text)).await,
            SocketText::Long { head, body, end } => {
                socket.send_parts([head.into(), body, Bytes::from_static(end.as_bytes())]).await
            }
        }
    }
}

impl From<String> for SocketText {
    fn from(text: String) -> Self {
        SocketText::Whole(text.into())
    }
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

/// The text around the key, the cursor and the body of an event.
const EVENT_HEAD: [&str; 3] = [r#"{"type":"event","session":"#, r#","cursor":""#, r#"","event":"#];
const EVENT_END: &str = "}";

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
        [EVENT_HEAD[0], session, EVENT_HEAD[1], &cursor, EVENT_HEAD[2], &body, EVENT_END].concat()
    }

    /// The message of a long event, whose body is not copied: each subscriber whose client does not read
    /// would hold a copy, and late ones a copy of their own. `None` if the body is not text.
    fn long_event(&self, event: &Event) -> Option<SocketText> {
        if event.body.len() < LONG_EVENT_BYTES || std::str::from_utf8(&event.body).is_err() {
            return None;
        }
        let (session, cursor) = (self.key.as_str(), event.cursor.to_string());
        let head = [EVENT_HEAD[0], session, EVENT_HEAD[1], &cursor, EVENT_HEAD[2]].concat();
        Some(SocketText::Long { head, body: Bytes::from_owner(Arc::clone(&event.body)), end: EVENT_END })
    }
}

impl Encoder for SocketEncoder {
    type Batch = SocketBatch;

    fn encode(&mut self, event: &Event, batch: &mut SocketBatch) {
        if let Some(message) = self.long_event(event) {
            return batch.push(message);
        }
        // It is encoded once for all subscribers; checking its bytes again is cheaper than encoding them.
        let bytes = event.forms.socket(|| self.event(event).into());
        let text = Utf8Bytes::try_from(bytes).unwrap_or_else(|_| self.event(event).into());
        batch.push(SocketText::Whole(text));
    }
}

/// Messages that are sent together.
#[derive(Debug, Default)]
pub(crate) struct SocketBatch {
    messages: Vec<SocketText>,
    bytes: usize,
}

impl SocketBatch {
    fn push(&mut self, message: SocketText) {
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use jiff::Timestamp;
    use tidings_journal::broadcast::{Broadcast, SubscribeOptions};
    use tidings_journal::{
        Class, Epoch, EventDraft, EventForms, Journal as _, Key, Kind, MemoryJournal, NewSession, Opening,
    };
    use tidings_protocol::ui::{TurnId, UiMessage};

    use super::*;
    use crate::api::deltas::merging;

    /// Subscribers of one interval send the same bytes in memory: those were encoded once.
    #[tokio::test(start_paused = true)]
    async fn a_batch_of_deltas_is_encoded_once_for_all_subscribers_of_an_interval() {
        const EACH: usize = 50;
        let opening = Opening { boot_id: String::new(), fresh_epoch: Epoch::from_random(1) };
        let journal = Arc::new(MemoryJournal::new(&opening));
        let (key, at) = (Key::new("session").unwrap(), Timestamp::UNIX_EPOCH);
        journal.create(NewSession::new(key.clone(), "/", at)).await.unwrap();
        let fence = journal.claim(&key).await.unwrap();
        let broadcast = Broadcast::new(journal.clone());
        let (sender, mut sent) = tokio::sync::mpsc::channel(10_000);
        for (number, deltas) in
            ["all", "coalesced:40", "coalesced:100", "none"].repeat(EACH).into_iter().enumerate()
        {
            let options =
                SubscribeOptions { merging: merging(deltas).unwrap(), ..SubscribeOptions::default() };
            let events = broadcast.subscribe(&key, options).await.unwrap().events;
            let (mut feed, sender) = (Feed::new(events, SocketEncoder::new("session")), sender.clone());
            tokio::spawn(async move {
                // Some come a moment later than others.
                tokio::time::sleep(std::time::Duration::from_millis(number as u64 % 7)).await;
                while let Ok(batch) = feed.next().await {
                    for message in batch.messages {
                        let SocketText::Whole(text) = message else { panic!("it is short") };
                        sender.send((deltas, text)).await.unwrap();
                    }
                }
            });
        }
        drop(sender);
        for number in 0..40 {
            let (text, turn_id) = (format!("{number} "), TurnId::new_user_turn(1));
            let message = UiMessage::TextChunk { text, session_id: 1, turn_id };
            let body = serde_json::to_vec(&message).unwrap();
            let forms = EventForms::of(message);
            let draft =
                EventDraft { forms, ..EventDraft::new(Class::Delta, at, Kind::fixed("TextChunk"), body) };
            journal.append(&key, fence, vec![draft]).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let end = EventDraft::new(Class::Durable, at, Kind::fixed("Display"), *b"{}");
        journal.append(&key, fence, vec![end]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        journal.delete(&key).await.unwrap();
        let mut all = Vec::new();
        while let Some(message) = sent.recv().await {
            all.push(message);
        }
        for (deltas, messages) in [("all", 41), ("coalesced:40", 11), ("coalesced:100", 5), ("none", 2)] {
            let of = || all.iter().filter(|(by, _)| *by == deltas).map(|(_, text)| text);
            let encodings: HashSet<_> = of().map(|text| text.as_ptr()).collect();
            let texts: HashSet<_> = of().map(Utf8Bytes::as_str).collect();
            assert_eq!(encodings.len(), texts.len(), "{deltas}: something was encoded twice");
            assert_eq!(of().count(), texts.len() * EACH, "{deltas}: all have the same messages");
            assert!(texts.len().abs_diff(messages) <= 2, "{deltas}: {} messages", texts.len());
        }
    }
}
