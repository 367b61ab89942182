//! The search in sessions of other agents.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use tidings_transcript::Error;
use tidings_transcript::agents::{AgentKind, ReadReport, StoredSession};
use tidings_transcript::search::{Hit, SearchFlow, SearchQuery, search_entries};

use super::backend::{self, OtherAgents};

/// Remarks after a search.
#[derive(Default)]
pub(super) struct OthersSummary {
    pub(super) unreadable: Vec<Error>,
    pub(super) reports: Vec<(AgentKind, ReadReport)>,
}

/// Title and working folder of a session.
pub(super) type SessionNames = HashMap<String, (Option<String>, Option<String>)>;

/// Searches the sessions of all agents, the newest of each first.
pub(super) fn search_others<'o>(
    others: &'o OtherAgents,
    query: &SearchQuery,
    mut each: impl FnMut(Hit<'o>) -> SearchFlow,
) -> OthersSummary {
    let mut summary = OthersSummary::default();
    for (store, sessions) in others.iter() {
        let mut report = ReadReport::default();
        for session in sessions.iter().filter(|session| !is_too_old(session, query)) {
            let conversation = match store.read(session) {
                Ok(conversation) => conversation,
                Err(error) => {
                    summary.unreadable.push(error);
                    continue;
                }
            };
            backend::add_report(&mut report, &conversation.report);
            let flow = search_entries(&session.files, &conversation.lines, query, &mut each);
            if flow == SearchFlow::Stop {
                summary.reports.push((store.kind(), report));
                return summary;
            }
        }
        summary.reports.push((store.kind(), report));
    }
    summary
}

/// Skips sessions that did not change since the searched time; an extra day allows for clocks that differ.
fn is_too_old(session: &StoredSession, query: &SearchQuery) -> bool {
    const SLACK: SignedDuration = SignedDuration::from_hours(24);
    let is_older = |since: Timestamp, modified: Timestamp| {
        modified.saturating_add(SLACK).is_ok_and(|modified| modified < since)
    };
    query.options().since.zip(session.modified).is_some_and(|(since, modified)| is_older(since, modified))
}

/// Titles and folders of all sessions.
pub(super) fn names(others: &OtherAgents) -> SessionNames {
    let sessions = others.iter().flat_map(|(_, sessions)| sessions);
    sessions
        .map(|session| (session.files.id.clone(), (session.title().map(str::to_owned), session.cwd.clone())))
        .collect()
}
