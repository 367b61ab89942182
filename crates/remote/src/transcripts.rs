//! Sessions on disk: list, read, search, cost.

use tidings_api::{
    CostReport, Transcript, TranscriptBranches, TranscriptEvents, TranscriptHits, TranscriptList,
    TranscriptStats, TranscriptSummary, WholeCall,
};

use crate::error::Error;
use crate::route::{Route, segment};
use crate::server::RemoteServer;

/// Selection of sessions on disk. Days and times are texts such as `2026-11-19` or RFC 3339.
#[derive(Debug, Clone, Default)]
pub struct TranscriptQuery {
    /// Part of the name of their folder.
    pub project: Option<String>,
    /// Day or time since which they changed.
    pub since: Option<String>,
    /// First session: `newest`, `oldest` or `largest`.
    pub sort: Option<String>,
    /// Another agent than Claude Code.
    pub backend: Option<String>,
    /// With `backend`: folder to ask for.
    pub cwd: Option<String>,
    /// Id in the list after which the page begins: `next` of the page before.
    pub after: Option<String>,
    /// Number of sessions on the page, at most 1,000.
    pub limit: Option<u64>,
}

/// Search in sessions on disk.
#[derive(Debug, Clone, Default)]
pub struct TranscriptSearch {
    /// Text to find.
    pub text: String,
    /// True if it is a regular expression.
    pub regex: bool,
    /// True to ignore case.
    pub ignore_case: bool,
    /// Roles, separated by commas: `user`, `assistant`, `system`, `tool`.
    pub roles: Option<String>,
    /// Tool of the calls and their results.
    pub tool: Option<String>,
    /// Part of the name of the folder.
    pub project: Option<String>,
    /// First day or time.
    pub since: Option<String>,
    /// Last day or time.
    pub until: Option<String>,
    /// Number of lines, at most 1,000.
    pub limit: Option<u64>,
}

/// Selection and grouping of costs.
#[derive(Debug, Clone, Default)]
pub struct CostQuery {
    /// `day`, `week`, `month`, `session`, `project`, `model`, `branch`, `tag` or `block`.
    pub by: Option<String>,
    /// Time zone of days, such as `Europe/Berlin`.
    pub zone: Option<String>,
    /// First day or time.
    pub since: Option<String>,
    /// Last day or time.
    pub until: Option<String>,
    /// Part of the name of the folder.
    pub project: Option<String>,
    /// Part of the name of the model.
    pub model: Option<String>,
    /// Id of the only session.
    pub session: Option<String>,
    /// Number of rows.
    pub limit: Option<u64>,
}

/// Part of a session on disk, from its end.
#[derive(Debug, Clone, Default)]
pub struct TranscriptPart {
    /// Number before which it ends: `from` of the part after it.
    pub before: Option<u64>,
    /// Number of events, at most 2,000.
    pub limit: Option<u64>,
    /// Last entry of the branch; the active branch without one.
    pub leaf: Option<String>,
    /// True for tool inputs and results in full.
    pub whole_results: bool,
}

impl RemoteServer {
    /// A page of sessions on disk.
    pub async fn transcripts(&self, query: &TranscriptQuery) -> Result<TranscriptList, Error> {
        let route = Route::new("/v1/transcripts")
            .with("project", query.project.as_deref())
            .with("since", query.since.as_deref())
            .with("sort", query.sort.as_deref())
            .with("backend", query.backend.as_deref())
            .with("cwd", query.cwd.as_deref())
            .with("after", query.after.as_deref())
            .with("limit", query.limit);
        self.get(route.as_str()).await
    }

    /// One session on disk.
    pub async fn transcript(&self, id: &str) -> Result<Transcript, Error> {
        self.get(&path(id, "")).await
    }

    /// Events of a session on disk.
    pub async fn read_transcript(&self, id: &str, part: &TranscriptPart) -> Result<TranscriptEvents, Error> {
        let route = Route::new(&path(id, "/events"))
            .with("limit", part.limit)
            .with("before", part.before)
            .with("leaf", part.leaf.as_deref())
            .with("results", part.whole_results.then_some("whole"));
        self.get(route.as_str()).await
    }

    /// One tool call of a session on disk in full.
    pub async fn transcript_call(&self, id: &str, tool_use_id: &str) -> Result<WholeCall, Error> {
        self.get(&path(id, &format!("/calls/{}", segment(tool_use_id)))).await
    }

    /// Branches of a session on disk.
    pub async fn transcript_branches(&self, id: &str) -> Result<TranscriptBranches, Error> {
        self.get(&path(id, "/branches")).await
    }

    /// Searches sessions on disk, the newest first.
    pub async fn search_transcripts(&self, search: &TranscriptSearch) -> Result<TranscriptHits, Error> {
        let route = Route::new("/v1/transcripts/search")
            .with("q", Some(&search.text))
            .with("regex", search.regex.then_some(true))
            .with("ignore_case", search.ignore_case.then_some(true))
            .with("role", search.roles.as_deref())
            .with("tool", search.tool.as_deref())
            .with("project", search.project.as_deref())
            .with("since", search.since.as_deref())
            .with("until", search.until.as_deref())
            .with("limit", search.limit);
        self.get(route.as_str()).await
    }

    /// Tokens and dollars of sessions on disk.
    pub async fn cost(&self, query: &CostQuery) -> Result<CostReport, Error> {
        let route = Route::new("/v1/transcripts/cost")
            .with("by", query.by.as_deref())
            .with("tz", query.zone.as_deref())
            .with("since", query.since.as_deref())
            .with("until", query.until.as_deref())
            .with("project", query.project.as_deref())
            .with("model", query.model.as_deref())
            .with("session", query.session.as_deref())
            .with("limit", query.limit);
        self.get(route.as_str()).await
    }

    /// Statistics of sessions on disk, of a project and since a day or time.
    pub async fn transcript_stats(
        &self,
        project: Option<&str>,
        since: Option<&str>,
    ) -> Result<TranscriptStats, Error> {
        let route = Route::new("/v1/transcripts/stats").with("project", project).with("since", since);
        self.get(route.as_str()).await
    }

    /// Summary of all sessions on disk.
    pub async fn transcript_summary(&self) -> Result<TranscriptSummary, Error> {
        self.get("/v1/transcripts/summary").await
    }
}

fn path(id: &str, rest: &str) -> String {
    format!("/v1/transcripts/{}{rest}", segment(id))
}
