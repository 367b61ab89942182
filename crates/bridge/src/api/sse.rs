//! Streams of server-sent events.
//!
//! Each event carries its cursor as `id:`, and so does each heartbeat: a client that skips most events still
//! resumes at the right cursor.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tidings_api::{Code, Notice, Scope, Subscribed, Verdict};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::limits::LONG_EVENT_BYTES;
use tidings_journal::{Cursor, Event};
use tidings_sessions::{Caller, Error, Sessions};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::Api;
use super::feed::{Encoder, EventBatch, Feed, FeedEnd, reason};
use super::mobile::{MessagePosition, PartTranslator};
use super::recovery::Start;
use super::stream_lifetime::{StreamEnd, StreamLifetime, retry_ms};
use super::visibility::{self, Visibility};
use super::wire::{self, Dialect, DialectTranslator, EncodedMessage};
use crate::http::{Path, Query};
use crate::limits::{CHUNK_BYTES, HEARTBEAT};

#[derive(Debug, Deserialize)]
pub(crate) struct SessionEventsQuery {
    dialect: Option<String>,
    after: Option<String>,
    answers: Option<bool>,
}

/// Streams the events of a session: the verdict, then missed events, then new ones.
///
/// The first event is `subscribed`. The last one may be `resync`: the next event is no longer stored, or the
/// client has read nothing for too long. The client then reconnects with the last id that it received.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("dialect" = Option<String>, Query, description = "`native`, `ui`, `mobile` or `frames`"),
        ("after" = Option<String>, Query, description = "The cursor of the last event that the client has"),
        ("answers" = Option<bool>, Query, description = "`false` if no user answers requests on this stream, so that it does not count as attended for the policy `unattended`"),
        ("Last-Event-ID" = Option<String>, Header, description = "The same, and stronger than `after`"),
    ),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
))]
pub(crate) async fn session_events(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<SessionEventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let mut lifetime = StreamLifetime::new(&api);
    lifetime.bind(&caller);
    visibility::check(&api.sessions, &caller, &id).await?;
    let dialect = query.dialect.as_deref().map_or(Ok(Dialect::default()), str::parse)?;
    if dialect == Dialect::Frames {
        api.sessions.check_frames(&id).await?;
    }
    // A browser that reconnects repeats the address with its old `after`, and adds the header.
    let after = last_event_id(&headers)?.or(query.after).filter(|after| !after.is_empty());
    // An event can become several messages of the phone dialect, and each message has a position.
    let position =
        after.as_deref().filter(|_| dialect == Dialect::Mobile).and_then(|after| after.parse().ok());
    let after = match (position, after) {
        (Some(MessagePosition { cursor, .. }), _) => Some(cursor),
        (None, after) => after.map(|after| after.parse::<Cursor>()).transpose()?,
    };
    let may_answer = caller.scopes.has(Scope::Decide) && query.answers != Some(false);
    let watch = SubscribeOptions { may_answer, ..SubscribeOptions::after(after) };
    let (subscribed, events) = api.sessions.subscribe(&id, watch).await?;
    let mut out = encode_subscribed(&subscribed)?;
    let translator = match dialect {
        Dialect::Native => DialectTranslator::Native,
        Dialect::Ui => DialectTranslator::Ui,
        Dialect::Frames => DialectTranslator::Frames,
        Dialect::Mobile => {
            let start = phone_start(&api, &subscribed, position).await?;
            write_phone_rest(&mut out, &start);
            DialectTranslator::Mobile(Box::new(PartTranslator::new(start.translator)))
        }
    };
    let source = SseSource::Session(Box::new(Feed::new(events, SseEncoder::new(translator))));
    Ok(respond(SseFeed::new(&api, lifetime, out.into(), source)))
}

/// The start position of a subscriber to the phone dialect.
async fn phone_start(
    api: &Api,
    subscribed: &Subscribed,
    position: Option<MessagePosition>,
) -> Result<Start, Error> {
    let from = subscribed.from.parse::<Cursor>()?;
    let state = &subscribed.state;
    Ok(match position.filter(|_| subscribed.verdict == Verdict::Ok) {
        Some(position) => {
            api.recovery.after_message(state, MessagePosition { cursor: from, ..position }).await?
        }
        None => api.recovery.after(state, from).await?,
    })
}

/// Streams notices about all sessions: state changes and pending requests.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/events", tag = "events",
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
))]
pub(crate) async fn all_events(State(api): State<Api>, caller: Caller) -> Response {
    let mut lifetime = StreamLifetime::new(&api);
    lifetime.bind(&caller);
    let source = SseSource::Notices {
        receiver: api.sessions.notices(),
        visibility: Visibility::new(caller),
        sessions: api.sessions.clone(),
        held: None,
    };
    respond(SseFeed::new(&api, lifetime, Bytes::from_static(b": notices\n\n"), source))
}

fn respond(feed: SseFeed) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Some proxies buffer a response before they pass it on, unless this header is set.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let chunks = stream::unfold(feed, async |mut feed| {
        feed.chunk().await.map(|chunk| (Ok::<_, Infallible>(chunk), feed))
    });
    (headers, Body::from_stream(chunks)).into_response()
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let id = id.to_str().map_err(|_| {
        Error::new(Code::Invalid, "`Last-Event-ID` is not a cursor", "send back the id that the server sent")
    })?;
    Ok(Some(id.to_owned()))
}

fn encode_subscribed(subscribed: &Subscribed) -> Result<String, Error> {
    let json = serde_json::to_string(subscribed).map_err(|error| {
        Error::new(Code::Internal, format!("Failed to encode the subscription: {error}"), "")
    })?;
    let mut out = String::new();
    block(&mut out, "subscribed", Some(&subscribed.from), &json);
    Ok(out)
}

/// Writes one event. A line end would end the field, so each line of the data gets a `data:` field of its
/// own.
fn block(out: &mut String, name: &str, id: Option<&str>, data: &str) {
    if let Some(id) = id {
        _ = writeln!(out, "id: {id}");
    }
    _ = writeln!(out, "event: {name}");
    for line in data.split(['\n', '\r']) {
        _ = writeln!(out, "data: {line}");
    }
    out.push('\n');
}

fn last_event(end: StreamEnd, retry_ms: u64) -> Bytes {
    match end {
        StreamEnd::Revoked => Bytes::from_static(b"event: revoked\ndata: {}\n\n"),
        StreamEnd::Stopping => format!("retry: {retry_ms}\n\n").into(),
    }
}

/// The stream of one client.
struct SseFeed {
    /// Written and not sent yet.
    ready: VecDeque<Bytes>,
    source: SseSource,
    heartbeat: Interval,
    lifetime: StreamLifetime,
    retry_ms: u64,
    is_over: bool,
}

/// The source of the events of a stream.
enum SseSource {
    /// The events of one session.
    Session(Box<Feed<SseEncoder>>),
    /// Notices about all sessions.
    Notices {
        sessions: Sessions,
        receiver: broadcast::Receiver<Arc<Notice>>,
        visibility: Visibility,
        /// A received notice that is not yet checked for visibility to this client.
        held: Option<Arc<Notice>>,
    },
}

/// Output that is written at once: short events together, long events in parts.
#[derive(Default)]
struct SseBuffer {
    text: String,
    parts: VecDeque<Bytes>,
    /// The number of bytes in `parts`.
    bytes: usize,
}

impl SseBuffer {
    /// Writes an event as it is stored, without a copy. Returns false if the event must be re-encoded.
    fn block_in_parts(&mut self, name: &str, event: &Event) -> bool {
        let is_line = !event.body.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        if !is_line || std::str::from_utf8(&event.body).is_err() {
            return false;
        }
        _ = write!(self.text, "id: {}\nevent: {name}\ndata: ", event.cursor);
        self.flush();
        let body = Bytes::from_owner(Arc::clone(&event.body));
        self.bytes += body.len();
        let starts = (0..body.len()).step_by(CHUNK_BYTES);
        self.parts.extend(starts.map(|at| body.slice(at..body.len().min(at + CHUNK_BYTES))));
        self.text.push_str("\n\n");
        true
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.bytes += self.text.len();
            self.parts.push_back(std::mem::take(&mut self.text).into());
        }
    }

    fn finish(mut self) -> VecDeque<Bytes> {
        self.flush();
        self.parts
    }
}

impl EventBatch for SseBuffer {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.parts.is_empty()
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.bytes
    }
}

/// Encodes events as server-sent events in a dialect.
struct SseEncoder {
    translator: DialectTranslator,
    /// The cursor of the last event.
    cursor: String,
}

impl SseEncoder {
    fn new(translator: DialectTranslator) -> Self {
        SseEncoder { translator, cursor: String::new() }
    }

    /// Adds messages of the last event. Only the last message of an event has its cursor.
    fn write(&self, batch: &mut SseBuffer, messages: &[OwnedMessage]) {
        for (number, (name, json, position)) in messages.iter().enumerate() {
            let is_last = number + 1 == messages.len() && !self.translator.has_rest();
            let position = position.filter(|_| !is_last).map(|position| position.to_string());
            let id = if is_last { Some(self.cursor.as_str()) } else { position.as_deref() };
            block(&mut batch.text, name, id, json);
        }
    }
}

/// Name, JSON and position of a message.
type OwnedMessage = (String, String, Option<MessagePosition>);

impl Encoder for SseEncoder {
    type Batch = SseBuffer;

    fn encode(&mut self, event: &Event, batch: &mut SseBuffer) {
        if event.body.len() >= LONG_EVENT_BYTES
            && let Some(name) = self.translator.as_stored(event)
            && batch.block_in_parts(name, event)
        {
            return;
        }
        self.cursor = event.cursor.to_string();
        let mut messages = Vec::new();
        self.translator.translate(event, |message| messages.push(owned(message)));
        self.write(batch, &messages);
    }

    fn encode_rest(&mut self, batch: &mut SseBuffer) -> bool {
        let mut messages = Vec::new();
        let is_some = self.translator.translate_rest(|message| messages.push(owned(message)));
        self.write(batch, &messages);
        is_some
    }

    fn shows_frames(&self) -> bool {
        matches!(self.translator, DialectTranslator::Frames)
    }
}

/// The state of a stream after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Open,
    Ended,
}

impl SseFeed {
    fn new(api: &Api, lifetime: StreamLifetime, opening: Bytes, source: SseSource) -> Self {
        let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let retry_ms = retry_ms(&api.sessions.config().ids);
        SseFeed { ready: VecDeque::from([opening]), source, heartbeat, lifetime, retry_ms, is_over: false }
    }

    /// The next chunk to send; `None` when the stream is over. It is called only after the client has read
    /// the chunk before, so a client that never reads costs one chunk of memory.
    async fn chunk(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        let mut out = SseBuffer::default();
        while out.is_empty() && !self.is_over {
            tokio::select! {
                biased;
                end = self.lifetime.ended() => {
                    self.is_over = true;
                    return Some(last_event(end, self.retry_ms));
                }
                state = self.source.next(&mut out) => self.is_over = state == StreamState::Ended,
                _ = self.heartbeat.tick() => self.source.write_heartbeat(&mut out.text),
            }
        }
        self.heartbeat.reset();
        self.ready = out.finish();
        self.ready.pop_front()
    }
}

impl SseSource {
    /// Waits for an event, and writes it together with the events that are already available. Cancel safe.
    async fn next(&mut self, out: &mut SseBuffer) -> StreamState {
        match self {
            SseSource::Session(feed) => match feed.next().await {
                Ok(batch) => {
                    *out = batch;
                    StreamState::Open
                }
                Err(end) => {
                    write_end(end, &mut out.text);
                    StreamState::Ended
                }
            },
            SseSource::Notices { sessions, receiver, visibility, held } => loop {
                if let Some(notice) = held {
                    let seen = visibility.sees_notice(sessions, notice).await;
                    let notice = held.take().filter(|_| seen);
                    let Some(notice) = notice else { continue };
                    write_notice(&notice, &mut out.text);
                    return StreamState::Open;
                }
                match receiver.recv().await {
                    Ok(notice) => *held = Some(notice),
                    Err(RecvError::Lagged(_)) => {
                        write_notice(&Notice::Resync {}, &mut out.text);
                        return StreamState::Open;
                    }
                    Err(RecvError::Closed) => return StreamState::Ended,
                }
            },
        }
    }

    /// Writes a heartbeat.
    fn write_heartbeat(&self, out: &mut String) {
        // Writing into a String cannot fail.
        _ = match self {
            SseSource::Session(feed) => write!(out, ": \nid: {}\n\n", feed.events.cursor()),
            SseSource::Notices { .. } => write!(out, ": \n\n"),
        };
    }
}

/// Writes the last event of a subscription.
fn write_end(end: FeedEnd, out: &mut String) {
    match end {
        FeedEnd::Cut(cut, cursor) => {
            let cursor = cursor.to_string();
            let reason = serde_json::to_string(&reason(cut)).unwrap_or_default();
            let data = format!(r#"{{"reason":{reason},"cursor":"{cursor}"}}"#);
            block(out, "resync", Some(&cursor), &data);
        }
        FeedEnd::Failed(error) => {
            let problem = Error::from(error).problem("");
            block(out, "problem", None, &serde_json::to_string(&problem).unwrap_or_default());
        }
    }
}

fn owned(message: EncodedMessage<'_>) -> OwnedMessage {
    (message.name.into_owned(), message.json.into_owned(), message.position)
}

/// Writes the remaining messages of an event of which the phone has the first ones. The last message has the
/// cursor of the event as its id; the messages before it have their positions as ids, so that a client that
/// is disconnected between them gets the rest.
fn write_phone_rest(out: &mut String, start: &Start) {
    for (number, message) in start.rest.iter().enumerate() {
        let is_last = number + 1 == start.rest.len();
        let id = if is_last { start.cursor.to_string() } else { message.0.to_string() };
        let encoded = wire::phone(message);
        block(out, &encoded.name, Some(&id), &encoded.json);
    }
}

fn write_notice(notice: &Notice, out: &mut String) {
    let name = match notice {
        Notice::Session { .. } => "session",
        Notice::Deleted { .. } => "deleted",
        Notice::Permission { .. } => "permission",
        Notice::Question { .. } => "question",
        Notice::Settled { .. } => "settled",
        Notice::TurnEnded { .. } => "turn_ended",
        Notice::Inbox { .. } => "inbox",
        Notice::Marks { .. } => "marks",
        Notice::Resync {} => "resync",
    };
    block(out, name, None, &serde_json::to_string(notice).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use tidings_journal::{Class, Epoch, EventDraft, Kind};

    #[test]
    fn k6_a_long_event_is_written_in_parts_of_the_stored_bytes() {
        let body = serde_json::to_vec(&"x".repeat(1 << 20)).unwrap();
        let draft = EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), body);
        let event = Event::of(&draft, Cursor::new(Epoch::from_random(1), 7));
        let mut out = SseBuffer::default();
        assert!(out.block_in_parts("Display", &event));
        let parts = out.finish();
        let stored = event.body.as_ptr_range();
        let copied: usize =
            parts.iter().filter(|part| !stored.contains(&part.as_ptr())).map(Bytes::len).sum();
        assert!(copied < 200, "{copied} bytes were copied");
        assert!(parts.iter().all(|part| part.len() <= CHUNK_BYTES));
        let mut whole = String::new();
        block(&mut whole, "Display", Some(&event.cursor.to_string()), &wire::body_text(&event));
        assert_eq!(parts.iter().flat_map(|part| part.iter().copied()).collect::<Vec<u8>>(), whole.as_bytes());
    }
}
