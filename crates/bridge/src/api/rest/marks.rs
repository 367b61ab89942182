//! Marks of sessions.

use axum::Json;
use axum::extract::State;
use tidings_api::{Code, MarkList, Notice, PatchMarks, SessionMarks};
use tidings_sessions::Caller;

use crate::api::{Api, transcripts};
use crate::http::{Answer, Body, Path};

/// Lists the marks of sessions: pinned, archived, and what was shown.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/marks", tag = "sessions",
    responses((status = 200, description = "The marks", body = MarkList)),
))]
pub(crate) async fn list_marks(State(api): State<Api>, caller: Caller) -> Answer<MarkList> {
    api.marks.list(&caller, api.sessions.config().clock.now()).await.map(Json)
}

/// Changes the marks of a session of the server or on disk.
#[cfg_attr(feature = "openapi", utoipa::path(
    patch, path = "/v1/marks/{session}", tag = "sessions",
    params(("session" = String, Path, description = "The key of the session, or the id of one on disk")),
    request_body = PatchMarks,
    responses((status = 200, description = "The marks as they are now", body = SessionMarks)),
))]
pub(crate) async fn patch_marks(
    State(api): State<Api>,
    caller: Caller,
    Path(session): Path<String>,
    Body(patch): Body<PatchMarks>,
) -> Answer<SessionMarks> {
    let (id, cwd) = match api.sessions.find(&session).await {
        Ok(view) if caller.sees(&view.cwd) => (view.key, view.cwd),
        Err(error) if error.code() != Code::NotFound => return Err(error),
        _ => {
            let cwd = transcripts::folder_of(&api, &caller, &session).await?;
            (session, cwd)
        }
    };
    let marks = api.marks.change(&id, cwd, &patch, api.sessions.config().clock.now()).await?;
    api.sessions.notify(Notice::Marks { marks: marks.clone() });
    Ok(Json(marks))
}
