//! The audit log.

use std::collections::{HashMap, VecDeque};

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderName};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tidings_api::Code;
use tidings_journal::AuditEntry;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::audited_request::AuditedRequest;
use tidings_sessions::{Caller, Error, Sessions};

use crate::api::Api;
use crate::api::visibility::Visibility;
use crate::http::Query;

const HEADERS: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];

#[derive(Debug, Deserialize)]
pub(crate) struct AuditQuery {
    #[serde(default)]
    after: u64,
    before: Option<u64>,
    limit: Option<usize>,
    #[serde(default)]
    q: String,
    decision: Option<String>,
    session: Option<String>,
    #[serde(default)]
    requests: bool,
}

/// The requests that lines are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Requests {
    Shown,
    Left,
}

/// A line, with the request that it is about. The log itself has only the digest of a request, so the hash
/// of the line does not cover it.
#[derive(Debug, Serialize)]
struct ShownLine<'a> {
    #[serde(flatten)]
    entry: &'a AuditEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<AuditedRequest>,
}

/// Gets the audit log: one line of JSON for each decision, chained to the line before.
///
/// A credential that is limited to folders gets only the lines about its sessions, so their chain has gaps.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/audit", tag = "server",
    params(
        ("after" = Option<u64>, Query, description = "Only lines with a higher number"),
        ("before" = Option<u64>, Query, description = "Only lines with a lower number"),
        ("limit" = Option<u64>, Query, description = "The newest ones, at most this many and 1000; by default all"),
        ("q" = Option<String>, Query, description = "Only lines that contain all of these words, ignoring case"),
        ("decision" = Option<String>, Query, description = "Only lines with this decision"),
        ("session" = Option<String>, Query, description = "Only lines about the session with this key"),
        ("requests" = Option<bool>, Query, description = "With `limit`: adds `request`, the tool and the target of the request, where the session has it still"),
    ),
    responses((status = 200, description = "The lines, the oldest first", content_type = "application/x-ndjson")),
))]
pub(crate) async fn audit(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Error> {
    let filter = AuditFilter::new(&query);
    let requests = if query.requests { Requests::Shown } else { Requests::Left };
    if let Some(limit) = query.limit {
        return newest(&api, caller, filter, limit.clamp(1, LIST_MAX), requests).await;
    }
    let after = query.after;
    let journal = api.sessions.broadcast().journal();
    // The first page is read here, so that a journal error becomes an error response instead of an empty log.
    let first = journal.audit_log(after).await?;
    let start = (Some(first), after, Visibility::new(caller), filter);
    let pages = stream::try_unfold(start, move |(read, after, mut visibility, mut filter)| {
        let sessions = api.sessions.clone();
        async move {
            let page = match read {
                Some(page) => page,
                None => sessions.broadcast().journal().audit_log(after).await?,
            };
            let Some(last) = page.last().map(|entry| entry.number) else { return Ok(None) };
            let mut lines = Vec::new();
            for entry in &page {
                if visibility.sees_audit_entry(&sessions, entry).await && filter.fits(&sessions, entry).await
                {
                    serde_json::to_writer(&mut lines, entry).map_err(std::io::Error::from)?;
                    lines.push(b'\n');
                }
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some((lines, (None, last, visibility, filter))))
        }
    });
    Ok((HEADERS, Body::from_stream(pages)).into_response())
}

/// The newest lines that fit, the oldest of them first.
async fn newest(
    api: &Api,
    caller: Caller,
    mut filter: AuditFilter,
    limit: usize,
    requests: Requests,
) -> Result<Response, Error> {
    let (sessions, mut visibility) = (&api.sessions, Visibility::new(caller));
    let (mut kept, mut after) = (VecDeque::new(), filter.after);
    'pages: loop {
        let page = sessions.broadcast().journal().audit_log(after).await?;
        let Some(last) = page.last().map(|entry| entry.number) else { break };
        after = last;
        for entry in page {
            if filter.before.is_some_and(|before| entry.number >= before) {
                break 'pages;
            }
            if visibility.sees_audit_entry(sessions, &entry).await && filter.fits(sessions, &entry).await {
                kept.push_back(entry);
                if kept.len() > limit {
                    kept.pop_front();
                }
            }
        }
    }
    let mut lines = Vec::new();
    for entry in &kept {
        let request = match requests {
            Requests::Shown => sessions.audited_request(entry).await,
            Requests::Left => None,
        };
        serde_json::to_writer(&mut lines, &ShownLine { entry, request })
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        lines.push(b'\n');
    }
    Ok((HEADERS, lines).into_response())
}

/// Selection of lines.
struct AuditFilter {
    after: u64,
    before: Option<u64>,
    words: Vec<String>,
    decision: Option<String>,
    session: Option<String>,
    /// Names of sessions, which `words` are compared with, too; empty for deleted ones.
    names: HashMap<String, String>,
}

impl AuditFilter {
    fn new(query: &AuditQuery) -> Self {
        AuditFilter {
            after: query.after,
            before: query.before,
            words: query.q.to_lowercase().split_whitespace().map(str::to_owned).collect(),
            decision: query.decision.clone(),
            session: query.session.clone(),
            names: HashMap::new(),
        }
    }

    async fn fits(&mut self, sessions: &Sessions, entry: &AuditEntry) -> bool {
        if self.before.is_some_and(|before| entry.number >= before)
            || self.decision.as_ref().is_some_and(|wanted| *wanted != entry.decision)
            || self.session.is_some() && self.session != entry.session
        {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let session = entry.session.as_deref().unwrap_or_default();
        let name = if session.is_empty() { String::new() } else { self.name_of(sessions, session).await };
        let text = [&entry.device, &entry.rule, &entry.scope].into_iter().flatten();
        let text = text.map(String::as_str).chain([&*entry.who, &*entry.decision, session, &name]);
        let text = text.collect::<Vec<_>>().join(" ").to_lowercase();
        self.words.iter().all(|word| text.contains(word))
    }

    async fn name_of(&mut self, sessions: &Sessions, key: &str) -> String {
        if let Some(known) = self.names.get(key) {
            return known.clone();
        }
        let view = sessions.find(key).await.ok();
        let name = view.and_then(|view| view.name().map(str::to_owned)).unwrap_or_default();
        if self.names.len() >= LIST_MAX {
            self.names.clear();
        }
        self.names.insert(key.to_owned(), name.clone());
        name
    }
}
