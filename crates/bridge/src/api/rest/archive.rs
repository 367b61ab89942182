//! Archived sessions: copies of sessions on disk that Claude Code has deleted, or will delete.

use axum::Json;
use axum::extract::State;
use tidings_protocol::api::{ArchiveList, ArchiveRestored};

use crate::api::Api;
use crate::archive::Archive;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::http::{Answer, Path};

/// Lists the archived sessions.
#[utoipa::path(get, path = "/v1/archive", tag = "transcripts",
    responses((status = 200, description = "The sessions, the newest first", body = ArchiveList)))]
pub(crate) async fn list_archive(State(api): State<Api>, caller: Caller) -> Answer<ArchiveList> {
    let archive = archive(&api, &caller)?;
    blocking(move || archive.list()).await.map(Json)
}

/// Restores an archived session, so that it is listed, searched and resumed like any other.
#[utoipa::path(post, path = "/v1/archive/{session}/restore", tag = "transcripts",
    params(("session" = String, Path, description = "The id of the session")),
    responses((status = 200, description = "The restored session", body = ArchiveRestored)))]
pub(crate) async fn restore_archived(
    State(api): State<Api>,
    caller: Caller,
    Path(session): Path<String>,
) -> Answer<ArchiveRestored> {
    let archive = archive(&api, &caller)?;
    blocking(move || archive.restore(&session)).await.map(Json)
}

/// The archive, for callers that may see all folders: a manifest does not name the folder of its session.
fn archive(api: &Api, caller: &Caller) -> Result<Archive, Error> {
    if !caller.folders.is_empty() {
        let message =
            "The archive has the sessions of all folders, and this credential is limited to folders";
        return Err(Error::new(Code::Forbidden, message, "pair the device again without a limit"));
    }
    let archive = api.archive.clone();
    archive.ok_or_else(|| Error::new(Code::NotFound, "This server has no archive", "set --archive-mib"))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Error::new(Code::Internal, "Failed to read the archive", ""))?
}
