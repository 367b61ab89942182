//! Past events of a session: snapshot, history pages, whole tool calls and prompts.

use std::fmt::Write as _;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tidings_api::{Attachment, Code, Snapshot, WholeCall, WholePrompt};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Cursor, CursorVerdict, Event, Key, Max, Page};
use tidings_sessions::reading::attachments::AttachmentSource;
use tidings_sessions::running::frames::FRAME;
use tidings_sessions::{Caller, Error};

use crate::api::wire::body_text;
use crate::api::{Api, visibility};
use crate::http::{Answer, Path, Query};
use crate::limits::{
    LIST_DEFAULT, PROMPT_FILE_POLL, PROMPT_FILE_WAIT, SNAPSHOT_BYTES_MAX, SNAPSHOT_EVENTS_MAX,
};

#[derive(Debug, Deserialize)]
pub(crate) struct SnapshotQuery {
    limit: Option<usize>,
    bytes: Option<usize>,
}

/// Gets the conversation in few events, and the cursor to continue from.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/snapshot", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("limit" = Option<u64>, Query, description = "How many events, at most 2000; the newest ones"),
        ("bytes" = Option<u64>, Query, description = "Their total size, at most 2 MiB"),
    ),
    responses((status = 200, description = "The conversation", body = Snapshot)),
))]
pub(crate) async fn get_snapshot(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<SnapshotQuery>,
) -> Answer<Snapshot> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let events_max = query.limit.unwrap_or(SNAPSHOT_EVENTS_MAX).clamp(1, SNAPSHOT_EVENTS_MAX);
    let bytes_max = query.bytes.unwrap_or(SNAPSHOT_BYTES_MAX).min(SNAPSHOT_BYTES_MAX);
    api.sessions.snapshot(&id, events_max, bytes_max).await.map(Json)
}

#[derive(Debug, Deserialize)]
pub(crate) struct HistoryQuery {
    limit: Option<usize>,
    before: Option<String>,
    after: Option<String>,
}

/// Gets a page of events: the newest ones, or those before or after a cursor.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/history", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("limit" = Option<u64>, Query, description = "How many, at most 1000"),
        ("before" = Option<String>, Query, description = "A cursor or a number: only events before it"),
        ("after" = Option<String>, Query, description = "A cursor: only events after it"),
    ),
    responses((status = 200, description = "The events, the oldest first", body = tidings_api::HistoryPage)),
))]
pub(crate) async fn get_history(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<HistoryQuery>,
) -> Result<Response, Error> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    let key = Key::new(&view.key)?;
    let max = Max::events(query.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX));
    let journal = api.sessions.broadcast().journal();
    let page = match (query.before, query.after) {
        (Some(_), Some(_)) => {
            let message = "`before` and `after` cannot be combined";
            return Err(Error::new(Code::Invalid, message, "send one of them"));
        }
        (None, Some(after)) => {
            let page = journal.read(&key, Some(after.parse()?), max).await?;
            if page.verdict != CursorVerdict::Ok {
                let hint = "leave `after` out to get the newest events";
                return Err(Error::new(
                    Code::Gone,
                    "The events after this cursor are no longer stored",
                    hint,
                ));
            }
            page
        }
        (Some(before), None) => journal.history(&key, Some(number(&before)?), max).await?,
        (None, None) => journal.history(&key, None, max).await?,
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], encode_page(&page)).into_response())
}

#[derive(Debug, Deserialize)]
pub(crate) struct CallQuery {
    before: Option<String>,
}

/// Gets the whole input and output of one tool call, which a snapshot may have cut.
///
/// The newest 100,000 events are searched; for an earlier call, pass `before`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/calls/{tool_use_id}", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("tool_use_id" = String, Path, description = "The call"),
        ("before" = Option<String>, Query, description = "A cursor or a number: only events before it are searched"),
    ),
    responses((status = 200, description = "The call", body = WholeCall)),
))]
pub(crate) async fn get_call(
    State(api): State<Api>,
    caller: Caller,
    Path((id, tool_use_id)): Path<(String, String)>,
    Query(CallQuery { before }): Query<CallQuery>,
) -> Answer<WholeCall> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let before = before.as_deref().map(number).transpose()?;
    api.sessions.call(&caller, &id, &tool_use_id, before).await.map(Json)
}

/// Gets the images and files that came with one prompt. Events only mention them, without their content.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/prompts/{prompt}", tag = "events",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("prompt" = String, Path, description = "The `uuid` of the prompt"),
    ),
    responses((status = 200, description = "The attachments", body = WholePrompt)),
))]
pub(crate) async fn get_prompt(
    State(api): State<Api>,
    caller: Caller,
    Path((id, prompt)): Path<(String, String)>,
) -> Answer<WholePrompt> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let attachments = prompt_attachments(&api, &caller, &id, &prompt).await?;
    Ok(Json(WholePrompt { uuid: prompt, attachments }))
}

/// The images and files of a prompt, from the queue of the session or from its file.
pub(crate) async fn prompt_attachments(
    api: &Api,
    caller: &Caller,
    session: &str,
    prompt: &str,
) -> Result<Vec<Attachment>, Error> {
    let files = match api.sessions.attachments(session, prompt).await? {
        AttachmentSource::Queue(attachments) => return Ok(attachments),
        AttachmentSource::OnDisk(files) => files,
    };
    let begun = Instant::now();
    loop {
        let may_come = files.is_agent_alive && begun.elapsed() < PROMPT_FILE_WAIT;
        let (files, caller, prompt) = (files.clone(), caller.clone(), prompt.to_owned());
        match api.transcripts.run(move |_| files.attachments(&caller, &prompt)).await {
            // The CLI writes its file a moment after it has taken the prompt.
            Err(error) if error.code() == Code::NotFound && may_come => {
                tokio::time::sleep(PROMPT_FILE_POLL).await;
            }
            read => return read,
        }
    }
}

/// Parses a position: a cursor, or a bare sequence number as in a snapshot.
fn number(text: &str) -> Result<u64, Error> {
    match text.parse::<u64>() {
        Ok(number) => Ok(number),
        Err(_) => Ok(text.parse::<Cursor>()?.seq),
    }
}

/// The page as JSON. Bodies are inserted unchanged, since they are stored as JSON.
fn encode_page(page: &Page) -> String {
    let bytes: usize = page.events.iter().map(|event| event.body.len() + 128).sum();
    let mut out = String::with_capacity(bytes + 128);
    out.push_str(r#"{"items":["#);
    let shown = page.events.iter().filter(|event| event.kind.as_str() != FRAME);
    for (at, event) in shown.enumerate() {
        if at > 0 {
            out.push(',');
        }
        encode_event(event, &mut out);
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

fn encode_event(event: &Event, out: &mut String) {
    let Event { cursor, at, .. } = event;
    let body = body_text(event);
    _ = write!(out, r#"{{"cursor":"{cursor}","seq":{},"at":"{at}","event":{body}}}"#, cursor.seq);
}
