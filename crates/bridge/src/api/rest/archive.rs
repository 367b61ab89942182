//! Archived sessions: copies of sessions on disk that Claude Code has deleted, or will delete.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::{ArchiveList, ArchiveRequest, ArchiveRestored, ArchiveRound, Code};
use tidings_sessions::archive::Archive;
use tidings_sessions::{Caller, Error};

use crate::api::Api;
use crate::http::{Answer, Body, Path};

/// Lists the archived sessions.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/archive", tag = "transcripts",
    responses((status = 200, description = "The sessions, the newest first", body = ArchiveList))))]
pub(crate) async fn list_archive(State(api): State<Api>, caller: Caller) -> Answer<ArchiveList> {
    let now = api.sessions.config().clock.now();
    run(&api, move |archive| archive.list(&caller, now)).await.map(Json)
}

/// Archives sessions now: those that the CLI may delete soon, or all of them.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/archive", tag = "transcripts", request_body = ArchiveRequest,
    responses((status = 200, description = "What was copied", body = ArchiveRound))))]
pub(crate) async fn archive_now(
    State(api): State<Api>,
    caller: Caller,
    Body(request): Body<ArchiveRequest>,
) -> Answer<ArchiveRound> {
    if !caller.folders.is_empty() {
        let message = "Archiving copies sessions of all folders, and this credential is limited to folders";
        return Err(Error::new(Code::Forbidden, message, "pair the device again without a limit"));
    }
    let now = api.sessions.config().clock.now();
    run(&api, move |archive| archive.round(now, request.which)).await.map(Json)
}

/// Restores an archived session, so that it is listed, searched and resumed like any other.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/archive/{session}/restore", tag = "transcripts",
    params(("session" = String, Path, description = "The id of the session")),
    responses((status = 200, description = "The restored session", body = ArchiveRestored))))]
pub(crate) async fn restore_archived(
    State(api): State<Api>,
    caller: Caller,
    Path(session): Path<String>,
) -> Answer<ArchiveRestored> {
    restore(&api, caller, session).await.map(Json)
}

/// Removes the copy of an archived session. The session itself stays, if it is still on disk.
#[cfg_attr(feature = "openapi", utoipa::path(delete, path = "/v1/archive/{session}", tag = "transcripts",
    params(("session" = String, Path, description = "The id of the session")),
    responses((status = 204, description = "The copy is removed"))))]
pub(crate) async fn remove_archived(
    State(api): State<Api>,
    caller: Caller,
    Path(session): Path<String>,
) -> Result<StatusCode, Error> {
    tracing::info!(session, who = caller.name, "removing the archived copy of a session");
    run(&api, move |archive| archive.remove(&caller, &session)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Restores a session from the archive of the server.
pub(super) async fn restore(api: &Api, caller: Caller, session: String) -> Result<ArchiveRestored, Error> {
    run(api, move |archive| archive.restore(&caller, &session)).await
}

async fn run<T: Send + 'static>(
    api: &Api,
    work: impl FnOnce(Archive) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let archive = api.archive.clone();
    let archive = archive
        .ok_or_else(|| Error::new(Code::NotFound, "This server has no archive", "set --archive-mib"))?;
    let done = tokio::task::spawn_blocking(move || work(archive)).await;
    done.map_err(|_| Error::new(Code::Internal, "Failed to read the archive", ""))?
}
