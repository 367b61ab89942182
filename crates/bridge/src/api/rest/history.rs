//! What happened in a session, for those who were not there.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tidings_protocol::api::{HistoryPage, Snapshot, WholeCall, WholePrompt};

use crate::api::Api;
use crate::api::extract::{Answer, Path, Query};
use crate::api::reach;
use crate::api::wire::{FRAME, body_text};
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::journal::{Cursor, Event, Key, Max, Page, Verdict};
use crate::limits::{LIST_DEFAULT, LIST_MAX, SNAPSHOT_BYTES_MAX, SNAPSHOT_EVENTS_MAX};
use crate::sessions::attachments::AttachmentSource;

#[derive(Debug, Deserialize)]
pub(crate) struct Size {
    limit: Option<usize>,
    bytes: Option<usize>,
}

/// The conversation in few events, and where to go on from.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/snapshot", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("limit" = Option<u64>, Query, description = "How many events, at most 2000; the newest ones"),
        ("bytes" = Option<u64>, Query, description = "How large they may be together, at most 2 MiB"),
    ),
    responses((status = 200, description = "The conversation", body = Snapshot)),
)]
pub(crate) async fn get_snapshot(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(size): Query<Size>,
) -> Answer<Snapshot> {
    reach::admit(&api.sessions, &caller, &id).await?;
    let events_max = size.limit.unwrap_or(SNAPSHOT_EVENTS_MAX).clamp(1, SNAPSHOT_EVENTS_MAX);
    let bytes_max = size.bytes.unwrap_or(SNAPSHOT_BYTES_MAX).min(SNAPSHOT_BYTES_MAX);
    api.sessions.snapshot(&id, events_max, bytes_max).await.map(Json)
}

#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    limit: Option<usize>,
    before: Option<String>,
    after: Option<String>,
}

/// Events as pages: the newest ones, or those before or after one of them.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/history", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("limit" = Option<u64>, Query, description = "How many, at most 1000"),
        ("before" = Option<String>, Query, description = "A cursor or a number: only events before it"),
        ("after" = Option<String>, Query, description = "A cursor: only events after it"),
    ),
    responses((status = 200, description = "The events, the oldest first", body = HistoryPage)),
)]
pub(crate) async fn get_history(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(part): Query<Part>,
) -> Result<Response, Error> {
    let view = reach::session(&api.sessions, &caller, &id).await?;
    let key = Key::new(&view.key)?;
    let max = Max::events(part.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX));
    let journal = api.sessions.broadcast().journal();
    let page = match (part.before, part.after) {
        (Some(_), Some(_)) => {
            let message = "`before` and `after` cannot go together";
            return Err(Error::new(Code::Invalid, message, "send one of them"));
        }
        (None, Some(after)) => {
            let page = journal.read(&key, Some(after.parse()?), max).await?;
            if page.verdict != Verdict::Ok {
                let hint = "ask without `after` for the newest events";
                return Err(Error::new(Code::Gone, "What came after this place is gone", hint));
            }
            page
        }
        (Some(before), None) => journal.history(&key, Some(number(&before)?), max).await?,
        (None, None) => journal.history(&key, None, max).await?,
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], written(&page)).into_response())
}

#[derive(Debug, Deserialize)]
pub(crate) struct Place {
    before: Option<String>,
}

/// What one call of a tool took and gave, in full, where a snapshot has cut it.
///
/// It is looked for in the newest hundred thousand events; one that is further back needs a place to look before.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/calls/{tool_use_id}", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("tool_use_id" = String, Path, description = "The call"),
        ("before" = Option<String>, Query, description = "A cursor or a number: it is looked for in events before it"),
    ),
    responses((status = 200, description = "The call", body = WholeCall)),
)]
pub(crate) async fn get_call(
    State(api): State<Api>,
    caller: Caller,
    Path((id, tool_use_id)): Path<(String, String)>,
    Query(Place { before }): Query<Place>,
) -> Answer<WholeCall> {
    reach::admit(&api.sessions, &caller, &id).await?;
    let before = before.as_deref().map(number).transpose()?;
    api.sessions.call(&id, &tool_use_id, before).await.map(Json)
}

/// The pictures and files that came with one prompt: events only say that there were some.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/prompts/{prompt}", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("prompt" = String, Path, description = "The `uuid` of the prompt"),
    ),
    responses((status = 200, description = "What came with it", body = WholePrompt)),
)]
pub(crate) async fn get_prompt(
    State(api): State<Api>,
    caller: Caller,
    Path((id, prompt)): Path<(String, String)>,
) -> Answer<WholePrompt> {
    reach::admit(&api.sessions, &caller, &id).await?;
    let (uuid, kept) = (prompt.clone(), api.sessions.attachments(&id, &prompt).await?);
    let attachments = match kept {
        AttachmentSource::Queue(attachments) => attachments,
        AttachmentSource::OnDisk(files) => {
            api.transcripts.run(move |_| files.attachments(&caller, &prompt)).await?
        }
    };
    Ok(Json(WholePrompt { uuid, attachments }))
}

/// A place as a cursor or as a bare number, which is how a snapshot gives it.
fn number(text: &str) -> Result<u64, Error> {
    match text.parse::<u64>() {
        Ok(number) => Ok(number),
        Err(_) => Ok(text.parse::<Cursor>()?.seq),
    }
}

/// The page as JSON. Bodies are put in as they are: they were JSON when they were stored.
fn written(page: &Page) -> String {
    let bytes: usize = page.events.iter().map(|event| event.body.len() + 128).sum();
    let mut out = String::with_capacity(bytes + 128);
    out.push_str(r#"{"items":["#);
    let shown = page.events.iter().filter(|event| event.kind.as_str() != FRAME);
    for (at, event) in shown.enumerate() {
        if at > 0 {
            out.push(',');
        }
        item(event, &mut out);
    }
    out.push(']');
    let first = page.events.first().filter(|first| first.cursor.seq > page.floor);
    let last = page.events.last().filter(|last| last.cursor.seq < page.head.seq);
    for (name, event) in [("prev", first), ("next", last)] {
        if let Some(event) = event {
            _ = write!(out, r#","{name}":"{}""#, event.cursor);
        }
    }
    out.push('}');
    out
}

fn item(event: &Event, out: &mut String) {
    let Event { cursor, at, .. } = event;
    let body = body_text(event);
    _ = write!(out, r#"{{"cursor":"{cursor}","seq":{},"at":"{at}","event":{body}}}"#, cursor.seq);
}
