//! `GET /v1/transcripts/stats` and `GET /v1/transcripts/cost`

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{Code, CostReport, CostRow, CostTotal, CostUnpriced, TranscriptStats};
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error};
use tidings_transcript::cost::{self, CostBy, Ledger, Prices, Report};
use tidings_transcript::counts::{self, Counts};
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::SessionFiles;

use super::times;
use super::unlisted::{self, ReportedCosts};
use crate::api::Api;
use crate::http::{Answer, Query};

#[derive(Debug, Deserialize)]
pub(crate) struct StatsQuery {
    project: Option<String>,
    since: Option<String>,
}

/// Gets statistics about sessions on disk: messages, tools, errors.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/stats", tag = "transcripts",
    params(
        ("project" = Option<String>, Query, description = "Only sessions whose folder contains this"),
        ("since" = Option<String>, Query, description = "Only sessions that changed since this day or time"),
    ),
    responses((status = 200, description = "The statistics", body = TranscriptStats)),
))]
pub(crate) async fn transcript_stats(
    State(api): State<Api>,
    caller: Caller,
    Query(params): Query<StatsQuery>,
) -> Answer<TranscriptStats> {
    let stats = api.transcripts.run(move |store| {
        let zone = store.now_in(None)?.time_zone().clone();
        let since = params.since.as_deref().map(|since| times::since(since, &zone)).transpose()?;
        let wanted =
            ListFilter { project: params.project, since: since.map(Into::into), ..ListFilter::default() };
        let found = store.sessions(&caller)?;
        let rows = list::list(&found.sessions, &wanted);
        let sessions: Vec<&SessionFiles> = rows.iter().map(|(session, _)| *session).collect();
        let counted = store.cache().with(|cache| counts::count(&sessions, cache, &|_| {}));
        let mut sum = Counts::default();
        counted.sessions.iter().for_each(|counts| sum.add(counts));
        Ok(counts::stats(rows.iter().map(|(_, row)| row.subagents), &sum))
    });
    stats.await.map(Json)
}

#[derive(Debug, Deserialize)]
pub(crate) struct CostQuery {
    #[serde(default)]
    by: CostBy,
    tz: Option<String>,
    since: Option<String>,
    until: Option<String>,
    project: Option<String>,
    model: Option<String>,
    session: Option<String>,
    limit: Option<usize>,
}

/// The groupings, as the description of a parameter lists them.
#[cfg(feature = "openapi")]
fn names_of_groupings() -> String {
    let names = CostBy::ALL.map(|by| format!("`{}`", by.as_str()));
    let [first @ .., last] = &names;
    format!("{} or {last}", first.join(", "))
}

/// Gets tokens and dollars of sessions on disk, each response counted once.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/cost", tag = "transcripts",
    params(
        ("by" = Option<String>, Query,
            description = names_of_groupings()),
        ("tz" = Option<String>, Query, description = "The time zone of days, such as Europe/Berlin"),
        ("since" = Option<String>, Query, description = "Only responses from this day or time on"),
        ("until" = Option<String>, Query, description = "Only responses until this day or time; the day is included"),
        ("project" = Option<String>, Query, description = "Only projects whose folder contains this"),
        ("model" = Option<String>, Query, description = "Only models whose name contains this"),
        ("session" = Option<String>, Query, description = "Only the session with this id"),
        ("limit" = Option<u64>, Query, description = "The number of rows: the latest, or the most expensive"),
    ),
    responses((status = 200, description = "The sums", body = CostReport)),
))]
pub(crate) async fn transcript_cost(
    State(api): State<Api>,
    caller: Caller,
    Query(params): Query<CostQuery>,
) -> Answer<CostReport> {
    let reported = ReportedCosts::read(&api, &caller).await?;
    let report = api.transcripts.run(move |store| {
        let now = store.now_in(params.tz.as_deref())?;
        let zone = now.time_zone().clone();
        let mut query = cost::Query::new(params.by, zone.clone(), now.timestamp());
        query.since = params.since.as_deref().map(|since| times::since(since, &zone)).transpose()?;
        query.until = params.until.as_deref().map(|until| times::until(until, &zone)).transpose()?;
        if query.since.zip(query.until).is_some_and(|(since, until)| since >= until) {
            let message = "`until` must be after `since`";
            return Err(Error::new(Code::Invalid, message, "swap them, or leave one out"));
        }
        query.project = params.project;
        query.model = params.model;
        query.session = params.session;
        let found = store.sessions(&caller)?;
        query.labels = cost::labels(query.by, &found);
        let ledger = store.cache().with(|cache| {
            let mut ledger = Ledger::read(&found, cache, &|_| {});
            unlisted::add_to_ledger(&mut ledger, &reported.unlisted(&found, cache));
            ledger
        });
        let mut report = ledger.report(&Prices::built_in(), &query);
        let limit = params.limit.unwrap_or(LIST_MAX).min(LIST_MAX);
        if let Some(hidden) = report.rows.len().checked_sub(limit) {
            if report.by.is_time() {
                report.rows.drain(..hidden);
            } else {
                report.rows.truncate(limit);
            }
        }
        Ok(view(report))
    });
    report.await.map(Json)
}

/// The report as `tidings sessions cost --json` prints it.
fn view(report: Report) -> CostReport {
    let unpriced = report.unpriced.into_iter();
    CostReport {
        by: report.by.as_str().to_owned(),
        zone: report.zone,
        total: CostTotal::from(&report.total),
        rows: report.rows.iter().map(CostRow::from).collect(),
        unpriced: unpriced.map(|it| CostUnpriced { model: it.model, responses: it.responses }).collect(),
    }
}
