//! Hides rows of terminal sessions that several servers of one machine observe, but for one.

use std::collections::HashMap;

use tidings_api::{Notice, SessionView};
use tidings_fleet::Name;
use tidings_journal::JournalError;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::Sessions;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Fleet;

/// Notes all rows and the folders of all servers until it is stopped. Clients list the sessions again when
/// other rows are hidden.
pub(super) async fn hide(fleet: &Fleet, sessions: &Sessions, stop: &CancellationToken) {
    let mut notices = sessions.notices();
    let mut roster = fleet.roster().changes();
    let duplicates = sessions.duplicates();
    duplicates.set_folders(folders(fleet, sessions));
    let mut has_changed = note_all(sessions).await;
    loop {
        if has_changed {
            sessions.notify(Notice::Resync {});
        }
        has_changed = tokio::select! {
            notice = notices.recv() => match notice {
                Ok(notice) => match &*notice {
                    Notice::Session { session } => duplicates.note(session),
                    Notice::Deleted { key, .. } => duplicates.remove(key),
                    _ => false,
                },
                Err(RecvError::Lagged(_)) => note_all(sessions).await,
                Err(RecvError::Closed) => return,
            },
            known = roster.changed() => match known {
                Ok(()) => duplicates.set_folders(folders(fleet, sessions)),
                Err(_) => return,
            },
            () = stop.cancelled() => break,
        };
    }
    // A server that leaves the fleet shows all that it has.
    if duplicates.set_folders(HashMap::new()) {
        sessions.notify(Notice::Resync {});
    }
}

/// Notes the rows of all sessions. Returns true if other rows are hidden than before.
async fn note_all(sessions: &Sessions) -> bool {
    match views(sessions).await {
        Ok(views) => sessions.duplicates().replace(&views),
        Err(error) => {
            tracing::warn!(%error, "failed to read the sessions: some may be listed more than once");
            false
        }
    }
}

async fn views(sessions: &Sessions) -> Result<Vec<SessionView>, JournalError> {
    let (mut views, mut after) = (Vec::new(), None);
    loop {
        let rows = sessions.broadcast().journal().sessions(after, LIST_MAX).await?;
        let Some(last) = rows.last() else { return Ok(views) };
        after = Some(last.handle);
        views.extend(rows.iter().map(|row| sessions.view(row)));
    }
}

/// The configuration folders of the servers that have named theirs; this server has no name here.
fn folders(fleet: &Fleet, sessions: &Sessions) -> HashMap<Option<String>, String> {
    let folder_of = |node: &Name| fleet.roster().liveness(node)?.beat.config_folder;
    let others = fleet.roster().members().into_iter().filter(|member| member.node != *fleet.node());
    let others = others.filter_map(|member| {
        let folder = folder_of(&member.node)?;
        Some((Some(member.node.to_string()), folder))
    });
    let own = sessions.config_folder_id().map(|folder| (None, folder));
    others.chain(own).collect()
}
