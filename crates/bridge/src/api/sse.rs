//! Streams of server-sent events.
//!
//! Each event has its cursor as `id:`, and so has each sign of life: a client that passes over most events still
//! comes back to where it was.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt as _, stream};
use serde::Deserialize;
use tidings_protocol::api::{Notice, ResyncReason, Subscribed, Verdict};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::Api;
use super::extract::{Path, Query};
use super::mobile::Place;
use super::reach::{self, Sight};
use super::recovery::Start;
use super::tether::{End, Tether, retry_ms};
use super::wire::{self, Dialect, Said, Translator};
use crate::broadcast::{Cut, Delivery, Subscription, Watch};
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::journal::{Cursor, Event, JournalError};
use crate::limits::{CHUNK_BYTES, HEARTBEAT, LONG_EVENT_BYTES};
use crate::sessions::Sessions;

#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    dialect: Option<String>,
    after: Option<String>,
    answers: Option<bool>,
}

/// What happens in a session: the verdict first, then what was missed, then what happens.
///
/// The first event is `subscribed`. The last one may be `resync`: what was to come next is not there any more, or the
/// client took nothing for too long; it comes back with the last id that it has.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/events", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("dialect" = Option<String>, Query, description = "`native`, `ui`, `mobile` or `frames`"),
        ("after" = Option<String>, Query, description = "The cursor of the last event that the client has"),
        ("answers" = Option<bool>, Query, description = "`false` if nobody answers here, so that a session that decides by itself while nobody watches goes on doing so"),
        ("Last-Event-ID" = Option<String>, Header, description = "The same, and stronger than `after`"),
    ),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
)]
pub(crate) async fn session_events(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let mut tether = Tether::new(&api);
    tether.hold(&caller);
    reach::admit(&api.sessions, &caller, &id).await?;
    let dialect = wish.dialect.as_deref().map_or(Ok(Dialect::default()), str::parse)?;
    if dialect == Dialect::Frames {
        api.sessions.check_frames(&id).await?;
    }
    // A browser that reconnects repeats the address with its old `after`, and adds the header.
    let after = last_event_id(&headers)?.or(wish.after).filter(|after| !after.is_empty());
    // An event can become several messages of the phone dialect, of which each has a position.
    let place = after.as_deref().filter(|_| dialect == Dialect::Mobile).and_then(|after| after.parse().ok());
    let after = match (place, after) {
        (Some(Place { cursor, .. }), _) => Some(cursor),
        (None, after) => after.map(|after| after.parse::<Cursor>()).transpose()?,
    };
    let may_answer = caller.scopes.has(Scope::Decide) && wish.answers != Some(false);
    let watch = Watch { may_answer, ..Watch::after(after) };
    let (subscribed, events) = api.sessions.subscribe(&id, watch).await?;
    let mut out = opening(&subscribed)?;
    let translator = match dialect {
        Dialect::Native => Translator::Native,
        Dialect::Ui => Translator::Ui,
        Dialect::Frames => Translator::Frames,
        Dialect::Mobile => {
            let start = phone_start(&api, &subscribed, place).await?;
            write_all(&mut out, &start.cursor.to_string(), |say| {
                start.rest.iter().for_each(|message| say(wire::phone(message)));
            });
            Translator::Mobile(Box::new(start.translator))
        }
    };
    let source = Source::Session { events, translator };
    Ok(respond(Feed::new(&api, tether, out.into(), source)))
}

/// The position of a subscriber of the phone dialect.
async fn phone_start(api: &Api, subscribed: &Subscribed, place: Option<Place>) -> Result<Start, Error> {
    let from = subscribed.from.parse::<Cursor>()?;
    let state = &subscribed.state;
    Ok(match place.filter(|_| subscribed.verdict == Verdict::Ok) {
        Some(place) => api.recovery.after_message(state, Place { cursor: from, ..place }).await?,
        None => api.recovery.after(state, from).await?,
    })
}

/// What happens in any session: how they stand, and what waits for a person.
#[utoipa::path(
    get, path = "/v1/events", tag = "events",
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
)]
pub(crate) async fn all_events(State(api): State<Api>, caller: Caller) -> Response {
    let mut tether = Tether::new(&api);
    tether.hold(&caller);
    let source = Source::Notices {
        receiver: api.sessions.notices(),
        sight: Sight::new(caller),
        sessions: api.sessions.clone(),
        held: None,
    };
    respond(Feed::new(&api, tether, Bytes::from_static(b": notices\n\n"), source))
}

fn respond(feed: Feed) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Some proxies collect an answer before they pass it on, unless they are told.
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
        Error::new(Code::Invalid, "`Last-Event-ID` is no cursor", "give back what the server sent")
    })?;
    Ok(Some(id.to_owned()))
}

fn opening(subscribed: &Subscribed) -> Result<String, Error> {
    let json = serde_json::to_string(subscribed)
        .map_err(|error| Error::new(Code::Internal, format!("It could not be written: {error}"), ""))?;
    let mut out = String::new();
    block(&mut out, "subscribed", Some(&subscribed.from), &json);
    Ok(out)
}

/// One event. A line end would end the field, so each line of the data has a field of its own.
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

fn farewell(end: End, retry_ms: u64) -> Bytes {
    match end {
        End::Revoked => Bytes::from_static(b"event: revoked\ndata: {}\n\n"),
        End::Stopping => format!("retry: {retry_ms}\n\n").into(),
    }
}

/// One client's stream.
struct Feed {
    /// Written and not sent yet.
    ready: VecDeque<Bytes>,
    source: Source,
    heartbeat: Interval,
    tether: Tether,
    retry_ms: u64,
    is_over: bool,
}

/// What a stream tells of.
enum Source {
    /// One session.
    Session { events: Subscription, translator: Translator },
    /// All of them.
    Notices {
        sessions: Sessions,
        receiver: broadcast::Receiver<Arc<Notice>>,
        sight: Sight,
        /// Received, and not yet known to be for this client.
        held: Option<Arc<Notice>>,
    },
}

/// What is written at once: short blocks together, and long events in parts.
#[derive(Default)]
struct Out {
    text: String,
    parts: VecDeque<Bytes>,
    /// Bytes in `parts`.
    bytes: usize,
}

impl Out {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.parts.is_empty()
    }

    fn len(&self) -> usize {
        self.text.len() + self.bytes
    }

    /// Writes an event as it is stored, without a copy of it. Gives false if it has to be changed to be written.
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

/// Whether more will follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Follows,
    Ends,
}

impl Feed {
    fn new(api: &Api, tether: Tether, opening: Bytes, source: Source) -> Self {
        let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let retry_ms = retry_ms(&api.sessions.config().ids);
        Feed { ready: VecDeque::from([opening]), source, heartbeat, tether, retry_ms, is_over: false }
    }

    /// What is sent next; none when the stream is over. It is asked for only when the client has taken what was sent
    /// before, so a client that never reads holds one chunk.
    async fn chunk(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        let mut out = Out::default();
        while out.is_empty() && !self.is_over {
            tokio::select! {
                biased;
                end = self.tether.cut() => {
                    self.is_over = true;
                    return Some(farewell(end, self.retry_ms));
                }
                more = self.source.next(&mut out) => self.is_over = more == More::Ends,
                _ = self.heartbeat.tick() => self.source.beat(&mut out.text),
            }
        }
        self.heartbeat.reset();
        self.ready = out.finish();
        self.ready.pop_front()
    }
}

impl Source {
    /// Waits for something, and writes it with whatever else is there already. It may be dropped while it waits, and
    /// nothing is lost.
    async fn next(&mut self, out: &mut Out) -> More {
        match self {
            Source::Session { events, translator } => {
                let mut next = events.next().await;
                loop {
                    let more = take(next, events.cursor(), translator, out);
                    if more == More::Ends || out.len() >= CHUNK_BYTES {
                        return more;
                    }
                    let Some(ready) = events.next().now_or_never() else { return more };
                    next = ready;
                }
            }
            Source::Notices { sessions, receiver, sight, held } => loop {
                if let Some(notice) = held {
                    let seen = sight.of_notice(sessions, notice).await;
                    let notice = held.take().filter(|_| seen);
                    let Some(notice) = notice else { continue };
                    say(&notice, &mut out.text);
                    return More::Follows;
                }
                match receiver.recv().await {
                    Ok(notice) => *held = Some(notice),
                    Err(RecvError::Lagged(_)) => {
                        say(&Notice::Resync {}, &mut out.text);
                        return More::Follows;
                    }
                    Err(RecvError::Closed) => return More::Ends,
                }
            },
        }
    }

    /// A sign of life.
    fn beat(&self, out: &mut String) {
        // Writing into a String cannot fail.
        _ = match self {
            Source::Session { events, .. } => write!(out, ": \nid: {}\n\n", events.cursor()),
            Source::Notices { .. } => write!(out, ": \n\n"),
        };
    }
}

/// Writes what came next in a session.
fn take(
    next: Result<Delivery, JournalError>,
    place: Cursor,
    translator: &mut Translator,
    out: &mut Out,
) -> More {
    match next {
        Ok(Delivery::Event(event)) => {
            if event.body.len() >= LONG_EVENT_BYTES
                && let Some(name) = translator.as_stored(&event)
                && out.block_in_parts(name, &event)
            {
                return More::Follows;
            }
            let out = &mut out.text;
            write_all(out, &event.cursor.to_string(), |say| translator.translate(&event, say));
            More::Follows
        }
        Ok(Delivery::Cut(cut)) => {
            let place = place.to_string();
            let reason = serde_json::to_string(&reason(cut)).unwrap_or_default();
            let data = format!(r#"{{"reason":{reason},"cursor":"{place}"}}"#);
            block(&mut out.text, "resync", Some(&place), &data);
            More::Ends
        }
        Err(error) => {
            let problem = Error::from(error).problem("");
            block(&mut out.text, "problem", None, &serde_json::to_string(&problem).unwrap_or_default());
            More::Ends
        }
    }
}

/// Writes everything that an event becomes. The last part has the cursor of the event as its id; the parts before it have their
/// position, so that a client that is cut off between them gets the rest.
fn write_all(out: &mut String, cursor: &str, say_all: impl FnOnce(&mut dyn FnMut(Said<'_>))) {
    let mut last: Option<(String, String, Option<Place>)> = None;
    say_all(&mut |said| {
        let next = (said.name.into_owned(), said.json.into_owned(), said.place);
        if let Some((name, json, place)) = last.replace(next) {
            block(out, &name, place.map(|place| place.to_string()).as_deref(), &json);
        }
    });
    if let Some((name, json, _)) = last {
        block(out, &name, Some(cursor), &json);
    }
}

/// Why a watcher was cut off, as clients are told.
pub(crate) fn reason(cut: Cut) -> ResyncReason {
    match cut {
        Cut::Resync(_) => ResyncReason::Behind,
        Cut::Gap(_) => ResyncReason::Gap,
        Cut::Deleted => ResyncReason::Deleted,
    }
}

fn say(notice: &Notice, out: &mut String) {
    let name = match notice {
        Notice::Session { .. } => "session",
        Notice::Deleted { .. } => "deleted",
        Notice::Permission { .. } => "permission",
        Notice::Question { .. } => "question",
        Notice::Settled { .. } => "settled",
        Notice::TurnEnded { .. } => "turn_ended",
        Notice::Resync {} => "resync",
    };
    block(out, name, None, &serde_json::to_string(notice).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::journal::{Class, Draft, Epoch, Kind};

    #[test]
    fn k6_a_long_event_is_written_in_parts_of_the_stored_bytes() {
        let body = serde_json::to_vec(&"x".repeat(1 << 20)).unwrap();
        let draft = Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), body);
        let event = Event::of(&draft, Cursor::new(Epoch::from_random(1), 7));
        let mut out = Out::default();
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
