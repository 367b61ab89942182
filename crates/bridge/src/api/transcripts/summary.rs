//! `GET /v1/transcripts/summary`

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use tidings_api::{Code, TranscriptSummary};
use tidings_sessions::{Caller, Error};
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::SessionFiles;

use super::unlisted::{self, ReportedCosts};
use crate::api::Api;
use crate::http::Answer;

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Gets a summary of all sessions on disk.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/summary", tag = "transcripts",
    responses((status = 200, description = "Number, size and cost of the sessions", body = TranscriptSummary)),
))]
pub(crate) async fn transcript_summary(State(api): State<Api>, caller: Caller) -> Answer<TranscriptSummary> {
    let reported = ReportedCosts::read(&api, &caller).await?;
    let summary = api.transcripts.run(move |store| {
        let found = store.sessions(&caller)?;
        let rows = list::list(&found.sessions, &ListFilter::default());
        let projects: HashSet<&str> = rows.iter().filter_map(|(_, row)| row.cwd.as_deref()).collect();
        let now = store.now_in(None)?;
        let month = now.first_of_month().and_then(|day| day.start_of_day());
        let month = month.map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        let mut query = Query::new(CostBy::Month, now.time_zone().clone(), now.timestamp());
        query.since = Some(month.timestamp());
        let cost = store.cache_if_free().and_then(|cache| {
            cache.with(|cache| {
                unlisted::is_quick(&found, cache).then(|| {
                    let mut ledger = Ledger::read(&found, cache, &|_| {});
                    unlisted::add_to_ledger(&mut ledger, &reported.unlisted(&found, cache));
                    ledger.report(&Prices::built_in(), &query).total.cost.dollars()
                })
            })
        });
        if cost.is_none() {
            store.count_in_background();
        }
        let retention = store.settings().map_or(CleanupPeriod::DEFAULT, |folder| CleanupPeriod::of(&folder));
        let next_week = SystemTime::from(now.timestamp()).checked_add(WEEK);
        let goes = |session: &&SessionFiles| {
            let until = session.modified().and_then(|modified| retention.until(modified));
            until.zip(next_week).is_some_and(|(until, next_week)| until <= next_week)
        };
        let sessions = || rows.iter().map(|(session, _)| *session);
        Ok(TranscriptSummary {
            sessions: rows.len() as u64,
            projects: projects.len() as u64,
            bytes: sessions().map(SessionFiles::bytes).sum(),
            modified: rows.iter().filter_map(|(_, row)| row.modified).max().map(time),
            month: month.strftime("%Y-%m").to_string(),
            month_cost_usd: cost,
            cleanup_days: retention.days,
            cleanup_sessions: sessions().filter(goes).count() as u64,
            cleanup_bytes: sessions().filter(goes).map(SessionFiles::bytes).sum(),
        })
    });
    summary.await.map(Json)
}

fn time(time: Timestamp) -> String {
    format!("{time:.3}")
}
