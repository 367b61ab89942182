//! Costs that agents have reported and that no line of a session file contains, such as that of a compaction.
//! With them the history, the sums and a session of this server show one cost.

use jiff::Timestamp;
use tidings_api::SessionView;
use tidings_journal::Handle;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error};
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{Ledger, Money, Prices, ResponseUsage};
use tidings_transcript::limits::LIST_UNREAD_BYTES_MAX;
use tidings_transcript::list::{self, Effort, ListedSession};
use tidings_transcript::roots::{SessionFiles, SessionScan};

use crate::api::Api;
use crate::limits::UNLISTED_USD_MIN;

/// The costs of this server's own sessions, as their agents have reported them.
#[derive(Debug, Default)]
pub(super) struct ReportedCosts(Vec<SessionView>);

/// The part of a session's cost that is not in its files.
#[derive(Debug)]
pub(super) struct UnlistedCost<'a> {
    session: &'a str,
    view: &'a SessionView,
    usd: f64,
}

impl ReportedCosts {
    /// Reads the costs of the sessions that the caller may see.
    pub(super) async fn read(api: &Api, caller: &Caller) -> Result<Self, Error> {
        let (mut after, mut costs) = (None, Vec::new());
        loop {
            let page = api.sessions.list(after, LIST_MAX).await?;
            let Some(last) = page.last() else { return Ok(ReportedCosts(costs)) };
            after = Some(Handle::new(u64::try_from(last.handle).unwrap_or_default()));
            let is_own = |view: &SessionView| {
                view.node.is_none() && view.totals.cost_usd > 0.0 && caller.sees(&view.cwd)
            };
            costs.extend(page.into_iter().filter(is_own));
        }
    }

    /// Compares the costs with the lines of the files. A session counts all lines of its files, also those
    /// that are copies, so that no response counts twice.
    pub(super) fn unlisted(&self, found: &SessionScan, cache: &mut Cache) -> Vec<UnlistedCost<'_>> {
        let prices = Prices::built_in();
        let listed = |files: &SessionFiles, cache: &mut Cache| {
            let alone = SessionScan::of(files.clone());
            let ledger = Ledger::read(&alone, cache, &|_| {});
            ledger.responses().filter_map(|response| prices.cost(&response)).sum::<Money>().dollars()
        };
        let mut unlisted = Vec::new();
        for view in &self.0 {
            let Some(session) = view.cli_session_ids.last() else { continue };
            let files: Vec<&SessionFiles> =
                found.sessions.iter().filter(|files| view.cli_session_ids.contains(&files.id)).collect();
            // A part of the session may be gone, and its cost with it.
            if files.len() < view.cli_session_ids.len() {
                continue;
            }
            let usd = view.totals.cost_usd - files.iter().map(|files| listed(files, cache)).sum::<f64>();
            if usd > UNLISTED_USD_MIN {
                unlisted.push(UnlistedCost { session, view, usd });
            }
        }
        unlisted
    }
}

/// Adds costs to a ledger, at the time of the last activity of their sessions.
pub(super) fn add_to_ledger(ledger: &mut Ledger, costs: &[UnlistedCost<'_>]) {
    for UnlistedCost { session, view, usd } in costs {
        let usage = ResponseUsage {
            id: "unlisted".to_owned(),
            time: view.active.parse::<Timestamp>().ok(),
            model: view.model.clone().unwrap_or_default(),
            cost: Money::from_dollars(*usd),
            ..ResponseUsage::default()
        };
        ledger.add_recorded(session, &view.cwd, &[usage]);
    }
}

/// Fills in the rows of a list, as far as that is quick.
pub(super) fn fill_rows(
    found: &SessionScan,
    rows: &mut [(&SessionFiles, ListedSession)],
    reported: &ReportedCosts,
    cache: &mut Cache,
) {
    list::fill(found, rows, cache, Effort::Little, &|_| {});
    if !is_quick(found, cache) {
        return;
    }
    let costs = reported.unlisted(found, cache);
    for (_, row) in rows {
        let of_row = costs.iter().filter(|cost| cost.session == row.id).map(|cost| cost.usd).sum::<f64>();
        row.cost_usd = row.cost_usd.map(|usd| usd + of_row);
    }
}

/// True if the files can be read at once.
pub(super) fn is_quick(found: &SessionScan, cache: &Cache) -> bool {
    Ledger::unread_bytes(found, cache) <= LIST_UNREAD_BYTES_MAX
}
