//! `GET /v1/transcripts/search`

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_protocol::api::{TranscriptHit, TranscriptHits};
use tidings_transcript::search::{
    self, Case, Hit, Options, Role, SearchFlow, SearchQuery as Wanted, Sidechains, Syntax, ToolNames,
};

use super::when;
use crate::api::Api;
use crate::api::extract::{Answer, Query};
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::limits::{LIST_DEFAULT, LIST_MAX, PATTERN_BYTES_MAX};

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
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

/// Text in every session on disk.
#[utoipa::path(
    get, path = "/v1/transcripts/search", tag = "transcripts",
    params(
        ("q" = String, Query, description = "What to find"),
        ("regex" = Option<bool>, Query, description = "Whether it is a regular expression"),
        ("ignore_case" = Option<bool>, Query, description = "Whether upper and lower case are the same"),
        ("role" = Option<String>, Query,
            description = "Only what these said, with commas between: `user`, `assistant`, `system`, `tool`"),
        ("tool" = Option<String>, Query, description = "Only calls of this tool and what it gave back"),
        ("project" = Option<String>, Query, description = "Only sessions whose folder contains this"),
        ("since" = Option<String>, Query, description = "Only what was said from this day or moment on"),
        ("until" = Option<String>, Query, description = "Only what was said until then; a day is included"),
        ("sidechains" = Option<bool>, Query, description = "Whether sub-agents are searched too; they are"),
        ("limit" = Option<u64>, Query, description = "How many lines, at most 1000"),
    ),
    responses((status = 200, description = "The lines", body = TranscriptHits)),
)]
pub(crate) async fn search_transcripts(
    State(api): State<Api>,
    caller: Caller,
    Query(asked): Query<Asked>,
) -> Answer<TranscriptHits> {
    if asked.q.len() > PATTERN_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, "The pattern is too long", "search for a part of it"));
    }
    let hits = api.transcripts.run(move |shelf| {
        let zone = shelf.now_in(None)?.time_zone().clone();
        let query = Wanted::new(Options {
            pattern: asked.q,
            syntax: if asked.regex { Syntax::Regex } else { Syntax::Literal },
            case: if asked.ignore_case { Case::Ignore } else { Case::Sensitive },
            roles: roles(asked.role.as_deref())?,
            tool: asked.tool,
            project: asked.project,
            since: asked.since.as_deref().map(|since| when::since(since, &zone)).transpose()?,
            until: asked.until.as_deref().map(|until| when::until(until, &zone)).transpose()?,
            sidechains: match asked.sidechains {
                Some(false) => Sidechains::LeaveOut,
                _ => Sidechains::Include,
            },
            tools: ToolNames::LookUp,
        })?;
        let limit = asked.limit.unwrap_or(LIST_DEFAULT).clamp(1, LIST_MAX);
        let found = shelf.found(&caller)?;
        let mut hits = TranscriptHits { items: Vec::new(), more: false };
        let mut each = |hit: Hit<'_>| {
            hits.more = hits.items.len() == limit;
            if hits.more {
                return SearchFlow::Stop;
            }
            hits.items.push(view(&hit));
            SearchFlow::Continue
        };
        // An index fails before the first hit or not at all.
        let indexed = shelf.index().and_then(|index| index.search(&found.sessions, &query, &mut each).ok());
        if indexed.is_none() {
            search::run(&found.sessions, &query, &mut each);
        }
        Ok(hits)
    });
    hits.await.map(Json)
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
            Err(Error::new(Code::Invalid, format!("There is no role `{other}`"), hint))
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
        role: hit.role.map(|role| word(role).to_owned()),
        tool: hit.tool.clone(),
        at: hit.at.clone(),
        text: hit.excerpt.text.clone(),
        start,
        end: start + units(matched),
    }
}

fn word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}
