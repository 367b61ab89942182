//! `GET /v1/transcripts`

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{Code, Scope, Transcript, TranscriptList};
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error};
use tidings_transcript::list::{self, First, ListFilter, ListedSession};

use super::times;
use super::unlisted::{self, ReportedCosts};
use crate::api::Api;
use crate::http::{Answer, Query};
use crate::limits::LIST_DEFAULT;

#[derive(Debug, Deserialize)]
pub(crate) struct TranscriptsQuery {
    limit: Option<usize>,
    before: Option<String>,
    after: Option<String>,
    project: Option<String>,
    since: Option<String>,
    sort: Option<Sort>,
    backend: Option<String>,
    cwd: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Newest,
    Oldest,
    Largest,
}

/// Lists sessions on disk, the newest first; or, with `backend`, the past sessions of another agent, as the
/// agent lists them itself. The agent is started for that, and ended again, which needs the scope `prompt`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts", tag = "transcripts",
    params(
        ("limit" = Option<u64>, Query, description = "How many, at most 1000"),
        ("before" = Option<String>, Query, description = "Only sessions before this id in the list"),
        ("after" = Option<String>, Query, description = "Only sessions after this id in the list"),
        ("project" = Option<String>, Query, description = "Only sessions whose folder contains this"),
        ("since" = Option<String>, Query, description = "Only sessions that changed since this day or time"),
        ("sort" = Option<String>, Query, description = "The first session: `newest`, `oldest` or `largest`"),
        ("backend" = Option<String>, Query, description = "Another agent, in its own order; with `limit`, `after`, `project` and `cwd` only"),
        ("cwd" = Option<String>, Query, description = "With `backend`: the folder to ask for if the agent lists no session otherwise"),
    ),
    responses(
        (status = 200, description = "The sessions", body = TranscriptList),
        (status = 409, description = "The agent does not list its sessions"),
    ),
))]
pub(crate) async fn list_transcripts(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<TranscriptsQuery>,
) -> Answer<TranscriptList> {
    if let Some(backend) = &query.backend {
        return of_agent(&api, &caller, backend, &query).await.map(Json);
    }
    let reported = ReportedCosts::read(&api, &caller).await?;
    let list = api.transcripts.run(move |store| {
        let zone = store.now_in(None)?.time_zone().clone();
        let since = query.since.as_deref().map(|since| times::since(since, &zone)).transpose()?;
        let first = match query.sort {
            None | Some(Sort::Newest) => First::Newest,
            Some(Sort::Oldest) => First::Oldest,
            Some(Sort::Largest) => First::Largest,
        };
        let wanted = ListFilter {
            project: query.project.clone(),
            since: since.map(Into::into),
            first,
            ..ListFilter::default()
        };
        let found = store.sessions(&caller)?;
        let mut rows = list::list(&found.sessions, &wanted);
        let (start, end) = range(&rows.iter().map(|(_, row)| row.id.as_str()).collect::<Vec<_>>(), &query)?;
        let (is_first, is_last) = (start == 0, end == rows.len());
        let mut rows: Vec<_> = rows.drain(start..end).collect();
        if let Some(cache) = store.cache_if_free() {
            cache.with(|cache| unlisted::fill_rows(&found, &mut rows, &reported, cache));
        }
        let items: Vec<Transcript> = rows.into_iter().map(|(_, row)| view(row)).collect();
        let id = |item: Option<&Transcript>| item.map(|item| item.id.clone());
        Ok(TranscriptList {
            prev: id(items.first()).filter(|_| !is_first),
            next: id(items.last()).filter(|_| !is_last),
            items,
        })
    });
    list.await.map(Json)
}

/// The newest sessions on disk.
pub(crate) async fn newest_transcripts(
    api: &Api,
    caller: &Caller,
    limit: usize,
) -> Result<Vec<Transcript>, Error> {
    let reported = ReportedCosts::read(api, caller).await?;
    let caller = caller.clone();
    let list = api.transcripts.run(move |store| {
        let found = store.sessions(&caller)?;
        let mut rows = list::list(&found.sessions, &ListFilter::default());
        rows.truncate(limit);
        if let Some(cache) = store.cache_if_free() {
            cache.with(|cache| unlisted::fill_rows(&found, &mut rows, &reported, cache));
        }
        Ok(rows.into_iter().map(|(_, row)| view(row)).collect())
    });
    list.await
}

/// The past sessions of another agent.
async fn of_agent(
    api: &Api,
    caller: &Caller,
    backend: &str,
    query: &TranscriptsQuery,
) -> Result<TranscriptList, Error> {
    caller.require(Scope::Prompt)?;
    if query.before.is_some() || query.since.is_some() || query.sort.is_some() {
        let message = "`before`, `since` and `sort` do not work with `backend`: the agent has its own order";
        return Err(Error::new(Code::Invalid, message, "leave them out"));
    }
    let limit = query.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
    let mut list = api
        .sessions
        .agent_sessions(caller, backend, limit, query.after.as_deref(), query.cwd.as_deref())
        .await?;
    if let Some(project) = &query.project {
        list.items.retain(|item| item.cwd.as_ref().is_some_and(|cwd| cwd.contains(project)));
    }
    Ok(list)
}

/// The start and end of the requested part of a list.
fn range(ids: &[&str], query: &TranscriptsQuery) -> Result<(usize, usize), Error> {
    let limit = query.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
    let index_of = |id: &str| {
        ids.iter().position(|known| *known == id).ok_or_else(|| {
            let message = format!("`{id}` is no longer in this list");
            Error::new(Code::Gone, message, "request the list from its beginning")
        })
    };
    match (&query.before, &query.after) {
        (Some(_), Some(_)) => {
            let message = "`before` and `after` cannot be combined";
            Err(Error::new(Code::Invalid, message, "send one of them"))
        }
        (Some(before), None) => {
            let end = index_of(before)?;
            Ok((end.saturating_sub(limit), end))
        }
        (None, after) => {
            let start = after.as_deref().map(index_of).transpose()?.map_or(0, |at| at + 1);
            Ok((start, ids.len().min(start + limit)))
        }
    }
}

/// The session as `tidings sessions list --json` prints it.
pub(super) fn view(row: ListedSession) -> Transcript {
    Transcript {
        id: row.id,
        project: row.project,
        cwd: row.cwd,
        title: row.title,
        created: row.created.map(|time| format!("{time:.3}")),
        modified: row.modified.map(|time| format!("{time:.3}")),
        turns: row.turns,
        messages: row.messages,
        subagents: row.subagents,
        branches: row.branches,
        bytes: row.bytes,
        cost_usd: row.cost_usd,
        model: row.model,
        tag: row.tag,
        archived: false,
        backend: None,
    }
}
