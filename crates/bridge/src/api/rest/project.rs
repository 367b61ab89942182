//! The files of a session's folder, commits, and its git worktree.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{
    Code, CommitMade, CommitRequest, FileList, FileText, RemoveWorktree, Scope, SessionView,
    SessionWorktreeState, StageRequest,
};
use tidings_sessions::git::{Git, Secrets};
use tidings_sessions::worktree::Uncommitted;
use tidings_sessions::{Caller, Error, project_files};

use super::workspace::check_folder;
use crate::api::{Api, visibility};
use crate::http::{Answer, Body, Path, Query};

#[derive(Debug, Deserialize)]
pub(crate) struct ProjectPathQuery {
    #[serde(default)]
    path: String,
}

/// Lists a folder in the folder of a session. Links are not followed.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/tree", tag = "workspace",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("path" = Option<String>, Query, description = "A path below the folder of the session"),
    ),
    responses((status = 200, description = "The entries, at most 2000", body = FileList)),
))]
pub(crate) async fn list_tree(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(ProjectPathQuery { path }): Query<ProjectPathQuery>,
) -> Answer<FileList> {
    let folder = folder(&api, &caller, &id).await?;
    check_not_own(&api, &folder, &path)?;
    blocking(move || project_files::list(&caller, &folder, &path)).await.map(Json)
}

/// Gets a file in the folder of a session. Files with the names of credentials need the scope `admin`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/file", tag = "workspace",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("path" = String, Query, description = "A path below the folder of the session"),
    ),
    responses((status = 200, description = "The file, or its first 512 KiB", body = FileText)),
))]
pub(crate) async fn get_file(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(ProjectPathQuery { path }): Query<ProjectPathQuery>,
) -> Answer<FileText> {
    let folder = folder(&api, &caller, &id).await?;
    check_not_own(&api, &folder, &path)?;
    blocking(move || project_files::read(&caller, &folder, &path)).await.map(Json)
}

/// Stages changes for the next commit, or takes them back. Filters of the repository do not run.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/stage", tag = "workspace",
    params(("id" = String, Path, description = "The key or the number of the session")),
    request_body = StageRequest,
    responses((status = 200, description = "The differences to the last commit", body = tidings_api::WorkingTree)),
))]
pub(crate) async fn stage_changes(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Body(StageRequest { paths, staged }): Body<StageRequest>,
) -> Answer<tidings_api::WorkingTree> {
    let git = repository(&api, &caller, &id).await?;
    git.stage(&paths, staged).await?;
    let secrets = if caller.scopes.has(Scope::Admin) { Secrets::Show } else { Secrets::Hide };
    git.working_tree(secrets).await.map(Json)
}

/// Commits the staged changes. Hooks of the repository do not run.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/commit", tag = "workspace",
    params(("id" = String, Path, description = "The key or the number of the session")),
    request_body = CommitRequest,
    responses((status = 201, description = "The commit", body = CommitMade)),
))]
pub(crate) async fn commit_changes(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Body(CommitRequest { message }): Body<CommitRequest>,
) -> Result<(axum::http::StatusCode, Json<CommitMade>), Error> {
    let git = repository(&api, &caller, &id).await?;
    let author = git.author(&api.sessions.config().environment).await?;
    let made = git.make_commit(&message, &author).await?;
    api.sessions.audit_action(&caller, Some(&id), "committed", &made.commit).await;
    Ok((axum::http::StatusCode::CREATED, Json(made)))
}

/// Gets the git worktree of a session, and what is not committed or merged in it.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/worktree", tag = "workspace",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 200, description = "The worktree", body = SessionWorktreeState)),
))]
pub(crate) async fn get_worktree(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<SessionWorktreeState> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    api.sessions.worktree(&view.key).await.map(Json)
}

/// Stops the agent and removes the git worktree of a session. Its branch stays.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/worktree/remove", tag = "workspace",
    params(("id" = String, Path, description = "The key or the number of the session")),
    request_body = RemoveWorktree,
    responses((status = 200, description = "The session", body = SessionView),
        (status = 409, description = "The worktree has uncommitted changes, or the agent is at work")),
))]
pub(crate) async fn remove_worktree(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Body(RemoveWorktree { discard }): Body<RemoveWorktree>,
) -> Answer<SessionView> {
    let view = visibility::session(&api.sessions, &caller, &id).await?;
    let uncommitted = if discard { Uncommitted::Discard } else { Uncommitted::Keep };
    api.sessions.remove_worktree(&caller, &view.key, uncommitted).await.map(Json)
}

/// The folder of a session that the caller may see.
async fn folder(api: &Api, caller: &Caller, id: &str) -> Result<PathBuf, Error> {
    let view = visibility::session(&api.sessions, caller, id).await?;
    check_folder(api, &view.cwd)?;
    Ok(PathBuf::from(view.cwd))
}

/// Refuses a path in the data folder of the server, whose files are credentials and keys. No link is followed
/// on the way to a file, so the names tell.
fn check_not_own(api: &Api, folder: &std::path::Path, path: &str) -> Result<(), Error> {
    let is_own = api.data.as_deref().is_some_and(|data| folder.join(path).starts_with(data));
    if is_own {
        let message = format!("`{path}` is in the data folder of the server");
        return Err(Error::new(Code::Forbidden, message, "look at it on the server's machine"));
    }
    Ok(())
}

/// The repository of a session's folder, to write to: it must be inside of the allowed folders itself.
async fn repository(api: &Api, caller: &Caller, id: &str) -> Result<Git, Error> {
    let folder = folder(api, caller, id).await?;
    let git = Git::open(&api.sessions.config().environment, &folder.to_string_lossy()).await?;
    let git = git.ok_or_else(|| {
        let message = format!("`{}` is not under version control", folder.display());
        Error::new(Code::Conflict, message, "run `git init` in the folder yourself")
    })?;
    api.sessions.folder(caller, &git.repository_folder().await?)?;
    Ok(git)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let lost = |_| Error::new(Code::Internal, "Failed to read files", "try again");
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}
