//! Streams of server-sent events.
//!
//! Each event has its cursor as `id:`, and so has each sign of life: a client that passes over most events still
//! comes back to where it was.

use std::convert::Infallible;
use std::fmt::Write as _;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt as _, stream};
use serde::Deserialize;
use tidings_protocol::api::{Notice, ResyncReason, Subscribed};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::Doors;
use super::extract::{Path, Query};
use super::reach::{self, Sight};
use super::tether::{End, Tether, retry_ms};
use super::wire::Translator;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::hub::{Cut, Delivery, Subscription, Watch};
use crate::journal::{Cursor, JournalError};
use crate::limits::{CHUNK_BYTES, HEARTBEAT};

#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    dialect: Option<String>,
    after: Option<String>,
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
        ("Last-Event-ID" = Option<String>, Header, description = "The same, and stronger than `after`"),
    ),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
)]
pub(crate) async fn session_events(
    State(doors): State<Doors>,
    caller: Caller,
    Path(id): Path<String>,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let mut tether = Tether::new(&doors);
    tether.hold(&caller);
    reach::admit(&doors.sessions, &caller, &id).await?;
    let dialect = wish.dialect.as_deref().map_or(Ok(super::wire::Dialect::default()), str::parse)?;
    // A browser that reconnects repeats the address with its old `after`, and adds the header.
    let after = last_event_id(&headers)?.or(wish.after).filter(|after| !after.is_empty());
    let after = after.map(|after| after.parse::<Cursor>()).transpose()?;
    let (subscribed, events) = doors.sessions.subscribe(&id, Watch::after(after)).await?;
    let feed = Feed {
        opening: Some(opening(&subscribed)?),
        translator: Translator::from(dialect),
        heartbeat: heartbeat(),
        retry_ms: retry_ms(&doors.sessions.config().ids),
        is_over: false,
        events,
        tether,
    };
    Ok(respond(stream::unfold(feed, async |mut feed| feed.chunk().await.map(|chunk| (Ok(chunk), feed)))))
}

/// What happens in any session: how they stand, and what waits for a person.
#[utoipa::path(
    get, path = "/v1/events", tag = "events",
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String)),
)]
pub(crate) async fn all_events(State(doors): State<Doors>, caller: Caller) -> Response {
    let mut tether = Tether::new(&doors);
    tether.hold(&caller);
    let notices = Notices {
        opening: Some(Bytes::from_static(b": notices\n\n")),
        heartbeat: heartbeat(),
        retry_ms: retry_ms(&doors.sessions.config().ids),
        receiver: doors.sessions.notices(),
        sight: Sight::new(caller),
        is_over: false,
        tether,
        doors,
    };
    respond(stream::unfold(notices, async |mut notices| {
        notices.chunk().await.map(|chunk| (Ok(chunk), notices))
    }))
}

fn respond(chunks: impl futures_core::Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Some proxies collect an answer before they pass it on, unless they are told.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let id = id.to_str().map_err(|_| {
        Error::new(Code::Invalid, "`Last-Event-ID` is no cursor", "give back what the server sent")
    })?;
    Ok(Some(id.to_owned()))
}

fn heartbeat() -> Interval {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat
}

fn opening(subscribed: &Subscribed) -> Result<Bytes, Error> {
    let json = serde_json::to_string(subscribed)
        .map_err(|error| Error::new(Code::Internal, format!("It could not be written: {error}"), ""))?;
    let mut out = String::new();
    block(&mut out, "subscribed", Some(&subscribed.from), &json);
    Ok(out.into())
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

/// One client's way through a session.
struct Feed {
    opening: Option<Bytes>,
    events: Subscription,
    translator: Translator,
    heartbeat: Interval,
    tether: Tether,
    retry_ms: u64,
    is_over: bool,
}

impl Feed {
    /// What is sent next; none when the stream is over. It is asked for only when the client has taken what was sent
    /// before, so a client that never reads holds one chunk.
    async fn chunk(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        if self.is_over {
            return None;
        }
        let mut out = String::new();
        while out.is_empty() {
            tokio::select! {
                biased;
                end = self.tether.cut() => {
                    self.is_over = true;
                    return Some(farewell(end, self.retry_ms));
                }
                next = self.events.next() => self.take(next, &mut out),
                _ = self.heartbeat.tick() => {
                    _ = write!(out, ": \nid: {}\n\n", self.events.place());
                }
            }
            while out.len() < CHUNK_BYTES && !self.is_over {
                let Some(next) = self.events.next().now_or_never() else { break };
                self.take(next, &mut out);
            }
            if self.is_over && out.is_empty() {
                return None;
            }
        }
        self.heartbeat.reset();
        Some(out.into())
    }

    fn take(&mut self, next: Result<Delivery, JournalError>, out: &mut String) {
        match next {
            Ok(Delivery::Event(event)) => {
                let cursor = event.cursor.to_string();
                let mut last = None;
                // Only the last thing that an event becomes has the cursor: a client that is cut off before it gets
                // the whole event again.
                self.translator.translate(&event, |said| {
                    if let Some((name, json)) = last.replace((said.name.into_owned(), said.json.into_owned()))
                    {
                        block(out, &name, None, &json);
                    }
                });
                if let Some((name, json)) = last {
                    block(out, &name, Some(&cursor), &json);
                }
            }
            Ok(Delivery::Cut(cut)) => {
                self.is_over = true;
                let reason = serde_json::to_string(&reason(cut)).unwrap_or_default();
                let place = self.events.place().to_string();
                let data = format!(r#"{{"reason":{reason},"cursor":"{place}"}}"#);
                block(out, "resync", Some(&place), &data);
            }
            Err(error) => {
                self.is_over = true;
                let problem = Error::from(error).problem("");
                let json = serde_json::to_string(&problem).unwrap_or_default();
                block(out, "problem", None, &json);
            }
        }
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

/// One client's view of all sessions.
struct Notices {
    opening: Option<Bytes>,
    receiver: tokio::sync::broadcast::Receiver<std::sync::Arc<Notice>>,
    heartbeat: Interval,
    tether: Tether,
    sight: Sight,
    doors: Doors,
    retry_ms: u64,
    is_over: bool,
}

impl Notices {
    async fn chunk(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        if self.is_over {
            return None;
        }
        let mut out = String::new();
        while out.is_empty() {
            tokio::select! {
                biased;
                end = self.tether.cut() => {
                    self.is_over = true;
                    return Some(farewell(end, self.retry_ms));
                }
                notice = self.receiver.recv() => match notice {
                    Ok(notice) if self.sight.of_notice(&self.doors.sessions, &notice).await => say(&notice, &mut out),
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => say(&Notice::Resync {}, &mut out),
                    Err(RecvError::Closed) => return None,
                },
                _ = self.heartbeat.tick() => out.push_str(": \n\n"),
            }
        }
        Some(out.into())
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
