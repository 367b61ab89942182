//! `GET /v1/transcripts/search`

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{Code, TranscriptHit, TranscriptHits};
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::archive::SearchExtent;
use tidings_sessions::{Caller, Error};
use tidings_transcript::search::{
    self, Case, Hit, Options, Role, SearchFlow, SearchQuery as ListFilter, Sidechains, Syntax, ToolNames,
};

use super::times;
use crate::api::Api;
use crate::http::{Answer, Query};
use crate::limits::{LIST_DEFAULT, PATTERN_BYTES_MAX};

#[derive(Debug, Deserialize)]
pub(crate) struct SearchQuery {
    q: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
    role: Option<String>,
    tool: Option<String>,
    project: Option<String>,
    since: Option<String>,
    until: Option<String>,
    sidechains: Option<bool>,
    limit: Option<usize>,
}

/// Searches text in all sessions on disk, with the inputs that ran in place of those that the model asked
/// for, and in those of which the archive has the only copy.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/search", tag = "transcripts",
    params(
        ("q" = String, Query, description = "The text to find"),
        ("regex" = Option<bool>, Query, description = "`true` if `q` is a regular expression"),
        ("ignore_case" = Option<bool>, Query, description = "`true` to ignore case"),
        ("role" = Option<String>, Query,
            description = "Only text of these roles, separated by commas: `user`, `assistant`, `system`, `tool`"),
        ("tool" = Option<String>, Query, description = "Only calls of this tool and their results"),
        ("project" = Option<String>, Query, description = "Only sessions whose folder contains this"),
        ("since" = Option<String>, Query, description = "Only lines from this day or time on"),
        ("until" = Option<String>, Query, description = "Only lines until this day or time; the day is included"),
        ("sidechains" = Option<bool>, Query, description = "`false` to leave out sub-agents"),
        ("limit" = Option<u64>, Query, description = "How many lines, at most 1000"),
    ),
    responses((status = 200, description = "The lines", body = TranscriptHits)),
))]
pub(crate) async fn search_transcripts(
    State(api): State<Api>,
    caller: Caller,
    Query(params): Query<SearchQuery>,
) -> Answer<TranscriptHits> {
    if params.q.len() > PATTERN_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, "The pattern is too long", "search for a part of it"));
    }
    let archive = api.archive.clone();
    let answers = api.sessions.broadcast().journal().changed_inputs(None).await?;
    let changed_inputs = answers.into_iter().collect();
    let hits = api.transcripts.run(move |store| {
        let zone = store.now_in(None)?.time_zone().clone();
        let query = ListFilter::new(Options {
            pattern: params.q,
            syntax: if params.regex { Syntax::Regex } else { Syntax::Literal },
            case: if params.ignore_case { Case::Ignore } else { Case::Sensitive },
            roles: roles(params.role.as_deref())?,
            tool: params.tool,
            project: params.project,
            since: params.since.as_deref().map(|since| times::since(since, &zone)).transpose()?,
            until: params.until.as_deref().map(|until| times::until(until, &zone)).transpose()?,
            sidechains: match params.sidechains {
                Some(false) => Sidechains::LeaveOut,
                _ => Sidechains::Include,
            },
            tools: ToolNames::LookUp,
            changed_inputs,
        })?;
        let limit = params.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
        let found = store.sessions(&caller)?;
        let mut hits = TranscriptHits { items: Vec::new(), more: false };
        let mut each = |hit: Hit<'_>| add(&mut hits, limit, view(&hit));
        // If the index fails, it fails before the first hit.
        let indexed = store.index().and_then(|index| index.search(&found.sessions, &query, &mut each).ok());
        if indexed.is_none() {
            search::run(&found.sessions, &query, &mut each);
        }
        if let Some(archive) = archive.filter(|_| !hits.more) {
            let on_disk = found.sessions.iter().map(|session| session.id.as_str()).collect();
            let archived =
                |hit: &Hit<'_>| add(&mut hits, limit, TranscriptHit { archived: true, ..view(hit) });
            if archive.search(&caller, &on_disk, &query, archived)? == SearchExtent::Cut {
                hits.more = true;
            }
        }
        Ok(hits)
    });
    hits.await.map(Json)
}

/// Adds a line, unless there are enough.
fn add(hits: &mut TranscriptHits, limit: usize, hit: TranscriptHit) -> SearchFlow {
    hits.more = hits.items.len() == limit;
    if hits.more {
        return SearchFlow::Stop;
    }
    hits.items.push(hit);
    SearchFlow::Continue
}

fn roles(text: Option<&str>) -> Result<Vec<Role>, Error> {
    let names = text.into_iter().flat_map(|text| text.split(',')).filter(|name| !name.is_empty());
    let role = |name: &str| match name {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        "tool" => Ok(Role::Tool),
        other => {
            let hint = "use user, assistant, system or tool";
            Err(Error::new(Code::Invalid, format!("Unknown role `{other}`"), hint))
        }
    };
    names.map(role).collect()
}

fn view(hit: &Hit<'_>) -> TranscriptHit {
    let agent = (hit.session.main.as_ref() != Some(hit.file))
        .then(|| hit.file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let (before, matched, _) = hit.excerpt.parts();
    let units = |text: &str| text.encode_utf16().count() as u64;
    let start = units(before);
    TranscriptHit {
        session: hit.session.id.clone(),
        agent,
        line: hit.line,
        uuid: hit.uuid.clone(),
        role: hit.role.map(|role| role_name(role).to_owned()),
        tool: hit.tool.clone(),
        at: hit.at.clone(),
        text: hit.excerpt.text.clone(),
        start,
        end: start + units(matched),
        archived: false,
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}
