//! Names of projects, by which sessions of several servers belong together.
//!
//! A folder has the name of its remote repository, or one of its own that a shared disk shows to all servers.
//! The owner of a session finds it out once for each folder, and again at its next start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use tidings_api::{FleetPlace, FleetProject, Notice, SessionView};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{DocumentChange, JournalError};
use tidings_sessions::git::Git;
use tidings_sessions::limits::NAMED_PROJECTS_MAX;
use tidings_sessions::{Caller, Error, Sessions, project_folder};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Fleet;

/// The kind and the id of the document with the names that were found.
const DOCUMENT: &str = "fleet";
const PROJECTS: &str = "projects";

/// Takes the names that an earlier run has found, so that rows do not change at each start.
pub(super) async fn load(sessions: &Sessions) {
    let found = sessions.broadcast().journal().documents(DOCUMENT).await;
    let found = found.inspect_err(|error| tracing::warn!(%error, "failed to read the names of projects"));
    let found = found.unwrap_or_default().into_iter().find(|document| document.id == PROJECTS);
    let known: BTreeMap<String, String> =
        found.and_then(|document| serde_json::from_slice(&document.body).ok()).unwrap_or_default();
    for (folder, project) in known {
        sessions.projects().set(&folder, Some(project));
    }
}

/// Names the projects of this server's sessions until it is stopped.
pub(super) async fn name_all(sessions: &Sessions, stop: &CancellationToken) {
    tokio::select! {
        () = follow(sessions) => {}
        () = stop.cancelled() => {}
    }
}

async fn follow(sessions: &Sessions) {
    let mut notices = sessions.notices();
    let mut seen = BTreeSet::new();
    loop {
        if let Err(error) = name_new(sessions, &mut seen).await {
            tracing::warn!(%error, "failed to name the projects of sessions");
        }
        loop {
            match notices.recv().await {
                Ok(notice) => match &*notice {
                    Notice::Session { session } if is_new(session, &seen) => break,
                    _ => {}
                },
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
    }
}

fn is_new(session: &SessionView, seen: &BTreeSet<String>) -> bool {
    session.node.is_none() && seen.len() < NAMED_PROJECTS_MAX && !seen.contains(project_folder(session))
}

/// Names the folders of sessions that were not looked at yet, and tells clients and other servers.
async fn name_new(sessions: &Sessions, seen: &mut BTreeSet<String>) -> Result<(), Error> {
    let mut changed = BTreeSet::new();
    let own = own_sessions(sessions).await?;
    for session in &own {
        let folder = project_folder(session);
        if !is_new(session, seen) {
            continue;
        }
        seen.insert(folder.to_owned());
        if sessions.projects().set(folder, name(sessions, folder).await) {
            changed.insert(folder.to_owned());
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    for session in own.iter().filter(|session| changed.contains(project_folder(session))) {
        sessions.notify_of_session(&session.key).await;
    }
    Ok(save(sessions).await?)
}

async fn own_sessions(sessions: &Sessions) -> Result<Vec<SessionView>, Error> {
    let (mut own, mut after) = (Vec::new(), None);
    loop {
        let rows = sessions.broadcast().journal().sessions(after, LIST_MAX).await?;
        let Some(last) = rows.last() else { return Ok(own) };
        after = Some(last.handle);
        own.extend(rows.iter().filter(|row| row.node.is_none()).map(|row| sessions.view(row)));
    }
}

async fn save(sessions: &Sessions) -> Result<(), JournalError> {
    let body = serde_json::to_vec(&sessions.projects().all()).unwrap_or_default();
    let change = DocumentChange { kind: DOCUMENT, id: PROJECTS.to_owned(), body: Some(Arc::from(body)) };
    sessions.broadcast().journal().change_documents(vec![change]).await
}

/// The name of the project in a folder: the remote repository and the path in it, or the folder itself.
async fn name(sessions: &Sessions, folder: &str) -> Option<String> {
    let git = Git::open(&sessions.config().environment, folder).await.ok().flatten();
    if let Some(git) = git
        && let Ok(Some(repository)) = git.repository_name().await
    {
        let prefix = git.prefix().await.ok()?;
        return Some(if prefix.is_empty() { repository } else { format!("{repository}:{prefix}") });
    }
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || folder_name(Path::new(&folder))).await.ok().flatten()
}

/// The name of a folder without a remote repository. On a shared disk it is the same for all servers that
/// have the disk at the same path; the number and the birth of the folder keep other disks apart.
#[cfg(unix)]
fn folder_name(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::UNIX_EPOCH;
    let found = fs_err::metadata(folder).ok()?;
    let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let born = born.map_or(0, |born| born.as_millis());
    let hash = Sha256::digest(format!("{}\n{}\n{born}", folder.display(), found.ino()));
    let number = hash[..8].iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    Some(format!("folder:{number:016x}"))
}

#[cfg(not(unix))]
fn folder_name(_: &Path) -> Option<String> {
    None
}

impl Fleet {
    /// The projects of all sessions that a caller sees, each with the servers and folders that have it.
    pub(crate) async fn projects(
        &self,
        sessions: &Sessions,
        caller: &Caller,
    ) -> Result<Vec<FleetProject>, Error> {
        let mut found: BTreeMap<String, BTreeMap<(String, String), u64>> = BTreeMap::new();
        let mut after = None;
        loop {
            let rows = sessions.broadcast().journal().sessions(after, LIST_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.handle);
            for view in rows.iter().map(|row| sessions.view(row)) {
                let Some(project) = view.project.clone().filter(|_| caller.sees(&view.cwd)) else { continue };
                let node = view.node.clone().unwrap_or_else(|| self.node().to_string());
                let place = (node, project_folder(&view).to_owned());
                *found.entry(project).or_default().entry(place).or_default() += 1;
            }
        }
        let place = |((node, folder), sessions)| FleetPlace { node, folder, sessions };
        let project = |(project, places): (String, BTreeMap<_, _>)| FleetProject {
            project,
            places: places.into_iter().map(place).collect(),
        };
        Ok(found.into_iter().map(project).collect())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_name_and_another_one_at_its_path_has_another() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("shop");
        fs_err::create_dir(&folder).unwrap();
        let name = folder_name(&folder).unwrap();
        fs_err::write(folder.join("file"), "x").unwrap();
        assert_eq!(folder_name(&folder).unwrap(), name, "its content does not matter");
        // Both exist at the same time, so that they have different numbers.
        let other = root.path().join("other");
        fs_err::create_dir(&other).unwrap();
        fs_err::rename(&folder, root.path().join("gone")).unwrap();
        fs_err::rename(&other, &folder).unwrap();
        assert_ne!(folder_name(&folder).unwrap(), name);
        assert_eq!(folder_name(&root.path().join("none")), None);
    }
}
