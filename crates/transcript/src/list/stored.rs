//! Lists of sessions of other agents.

use std::path::Path;

use jiff::Timestamp;

use super::{ListFilter, ListedSession, projects};
use crate::agents::{Conversation, StoredSession};

/// The selected sessions of another agent. Fields that need a whole pass stay empty; [`fill_stored`] adds
/// them.
pub fn list_stored<'s>(
    found: &'s [StoredSession],
    wanted: &ListFilter,
) -> Vec<(&'s StoredSession, ListedSession)> {
    let since = wanted.since.and_then(|since| Timestamp::try_from(since).ok());
    let rows = found.iter().map(|session| (session, listed(session)));
    let is_wanted = |(session, row): &(&StoredSession, ListedSession)| {
        let inside = |path: &Path| row.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).starts_with(path));
        since.is_none_or(|since| session.modified.is_some_and(|at| at >= since))
            && wanted.tag.is_none()
            && (wanted.branch.is_none() || wanted.branch == row.branch)
            && wanted.path.as_deref().is_none_or(inside)
            && wanted.project.as_deref().is_none_or(|part| projects::fits(row, part))
    };
    rows.filter(is_wanted).collect()
}

/// Adds what a whole pass over the session told. The cost is unknown if that of any response is.
pub fn fill_stored(row: &mut ListedSession, conversation: &Conversation) {
    row.turns = Some(conversation.prompts);
    row.messages = Some(conversation.messages);
    row.model.clone_from(&conversation.model);
    let costs: Option<Vec<f64>> =
        conversation.usage.iter().map(|usage| usage.cost.map(crate::cost::Money::dollars)).collect();
    row.cost_usd = costs.filter(|costs| !costs.is_empty()).map(|costs| costs.iter().sum());
}

fn listed(session: &StoredSession) -> ListedSession {
    let name = |cwd: &String| Path::new(cwd).file_name().map(|name| name.to_string_lossy().into_owned());
    ListedSession {
        id: session.files.id.clone(),
        path: session.files.files().next().map(|file| file.path.display().to_string()).unwrap_or_default(),
        project: session.cwd.as_ref().and_then(name).unwrap_or_default(),
        cwd: session.cwd.clone(),
        title: session.title().map(str::to_owned),
        created: session.created,
        modified: session.modified,
        turns: None,
        messages: None,
        subagents: 0,
        branches: None,
        bytes: session.bytes,
        cost_usd: None,
        model: None,
        branch: session.branch.clone(),
        tag: None,
        agent: Some(session.agent.as_str()),
        version: session.version.as_str().map(str::to_owned),
        parent: session.parent.clone(),
    }
}
