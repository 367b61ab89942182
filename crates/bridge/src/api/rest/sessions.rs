//! Sessions: list, create, get, change, delete.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use tidings_api::{Budget, Code, CreateSession, PatchSession, SessionList, SessionView};
use tidings_journal::Handle;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error, Sessions, Transcript};

use super::archive;
use crate::api::{Api, visibility};
use crate::http::{Answer, Command, Path, Query};
use crate::limits::LIST_DEFAULT;

#[derive(Debug, Deserialize)]
pub(crate) struct SessionsQuery {
    limit: Option<usize>,
    before: Option<u64>,
    after: Option<u64>,
}

/// Lists sessions by number: the newest ones, or those before or after a number.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions", tag = "sessions",
    params(
        ("limit" = Option<u64>, Query, description = "How many, at most 1000"),
        ("before" = Option<u64>, Query, description = "Only sessions with a lower number"),
        ("after" = Option<u64>, Query, description = "Only sessions with a higher number"),
    ),
    responses((status = 200, description = "The sessions, the oldest first", body = SessionList)),
))]
pub(crate) async fn list_sessions(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<SessionsQuery>,
) -> Answer<SessionList> {
    let limit = query.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
    let (items, is_rest) = match (query.before, query.after) {
        (Some(_), Some(_)) => {
            let message = "`before` and `after` cannot be combined";
            return Err(Error::new(Code::Invalid, message, "send one of them"));
        }
        (before, None) => newest(&api.sessions, &caller, before, limit).await?,
        (None, Some(after)) => oldest(&api.sessions, &caller, after, limit).await?,
    };
    let name = |view: Option<&SessionView>| view.map(|view| view.handle.to_string());
    let more_before = if query.after.is_some() { true } else { !is_rest };
    let more_after = if query.after.is_some() { !is_rest } else { query.before.is_some() };
    Ok(Json(SessionList {
        prev: name(items.first()).filter(|_| more_before),
        next: name(items.last()).filter(|_| more_after),
        items,
    }))
}

/// The last sessions below a number; true if there are no earlier ones.
async fn newest(
    sessions: &Sessions,
    caller: &Caller,
    before: Option<u64>,
    limit: usize,
) -> Result<(Vec<SessionView>, bool), Error> {
    let is_below =
        |view: &SessionView| before.is_none_or(|before| u64::try_from(view.handle).is_ok_and(|n| n < before));
    let (mut kept, mut after) = (std::collections::VecDeque::new(), None);
    let mut is_rest = true;
    loop {
        let page = sessions.list(after, LIST_MAX).await?;
        let Some(last) = page.last().map(handle) else { break };
        after = Some(last);
        let is_last = page.len() < LIST_MAX || before.is_some_and(|before| last.number() >= before);
        for view in page.into_iter().filter(|view| is_below(view) && caller.sees(&view.cwd)) {
            if kept.len() == limit {
                kept.pop_front();
                is_rest = false;
            }
            kept.push_back(view);
        }
        if is_last {
            break;
        }
    }
    Ok((kept.into(), is_rest))
}

/// The first sessions above a number; true if there are no later ones.
async fn oldest(
    sessions: &Sessions,
    caller: &Caller,
    after: u64,
    limit: usize,
) -> Result<(Vec<SessionView>, bool), Error> {
    let (mut kept, mut after) = (Vec::new(), Handle::new(after));
    loop {
        let page = sessions.list(Some(after), LIST_MAX).await?;
        let Some(last) = page.last().map(handle) else { return Ok((kept, true)) };
        after = last;
        for view in page.into_iter().filter(|view| caller.sees(&view.cwd)) {
            if kept.len() == limit {
                return Ok((kept, false));
            }
            kept.push(view);
        }
    }
}

fn handle(view: &SessionView) -> Handle {
    Handle::new(u64::try_from(view.handle).unwrap_or_default())
}

/// Creates a session.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions", tag = "sessions",
    request_body = CreateSession,
    responses((status = 201, description = "The session; the same one for the same command", body = SessionView)),
))]
pub(crate) async fn create_session(
    State(api): State<Api>,
    caller: Caller,
    Command(new): Command<CreateSession>,
) -> Result<(StatusCode, Json<SessionView>), Error> {
    if !caller.sees(&new.cwd) {
        let message = format!("`{}` is outside the folders that this credential is limited to", new.cwd);
        return Err(Error::new(Code::OutsideRoots, message, "pair the device again for this folder"));
    }
    let CreateSession { max_turns, budget_usd, max_seconds, .. } = new;
    check_budget(&Budget { max_turns, budget_usd, max_seconds })?;
    let resumed = new.resume.clone().map(|id| (id, new.clone()));
    let created = match (api.sessions.create(&caller, new).await, resumed) {
        // The CLI may have deleted it, and the archive may have a copy.
        (Err(error), Some((id, again))) if error.code() == Code::NotFound => {
            archive::restore(&api, caller.clone(), id).await.map_err(|_| error)?;
            api.sessions.create(&caller, again).await
        }
        (created, _) => created,
    };
    Ok((StatusCode::CREATED, Json(created?.0)))
}

/// Gets one session, by key or number.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 200, description = "The session", body = SessionView)),
))]
pub(crate) async fn get_session(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<SessionView> {
    visibility::session(&api.sessions, &caller, &id).await.map(Json)
}

/// Changes the title, labels, budget or policy of a session.
#[cfg_attr(feature = "openapi", utoipa::path(
    patch, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The key or the number of the session")),
    request_body = PatchSession,
    responses((status = 200, description = "The session as it is now", body = SessionView)),
))]
pub(crate) async fn patch_session(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Command(patch): Command<PatchSession>,
) -> Answer<SessionView> {
    patch.budget.as_ref().map_or(Ok(()), check_budget)?;
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.patch(&caller, &id, patch).await.map(Json)
}

/// Refuses a budget that allows no turn at all.
fn check_budget(budget: &Budget) -> Result<(), Error> {
    let wrong = [
        ("max_turns", budget.max_turns == Some(0)),
        ("budget_usd", budget.budget_usd.is_some_and(|dollars| dollars.is_nan() || dollars <= 0.0)),
        ("max_seconds", budget.max_seconds == Some(0)),
    ];
    match wrong.into_iter().find(|(_, is_wrong)| *is_wrong) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!("`{key}` must be greater than zero");
            Err(Error::new(Code::Invalid, message, "leave it out for no limit; `stop` ends the agent"))
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct DeleteSessionQuery {
    #[serde(default)]
    transcript: bool,
}

/// Deletes a session and its events; the CLI's session file only if requested.
#[cfg_attr(feature = "openapi", utoipa::path(
    delete, path = "/v1/sessions/{id}", tag = "sessions",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("transcript" = Option<bool>, Query, description = "Deletes the CLI's session file too"),
    ),
    responses((status = 204, description = "The session is deleted")),
))]
pub(crate) async fn delete_session(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<DeleteSessionQuery>,
) -> Result<StatusCode, Error> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let transcript = if query.transcript { Transcript::Delete } else { Transcript::Keep };
    api.sessions.delete(&caller, &id, transcript).await?;
    Ok(StatusCode::NO_CONTENT)
}
