//! Prompts: send one, list the queue, cancel one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::{Accepted, Input, QueueList};
use tidings_sessions::{Caller, Error};

use crate::api::{Api, visibility};
use crate::http::{Answer, Command, Path};

/// Sends a prompt to a session.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/input", tag = "input",
    params(("id" = String, Path, description = "The key or the number of the session")),
    request_body = Input,
    responses((status = 202, description = "The prompt is stored and has a turn", body = Accepted)),
))]
pub(crate) async fn post_input(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Command(input): Command<Input>,
) -> Result<(StatusCode, Json<Accepted>), Error> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let accepted = api.sessions.input(&caller, &id, input).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

/// Lists the prompts that wait for their turn.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/queue", tag = "input",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 200, description = "The prompts, the next one first", body = QueueList)),
))]
pub(crate) async fn get_queue(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<QueueList> {
    visibility::check(&api.sessions, &caller, &id).await?;
    Ok(Json(QueueList { items: api.sessions.queue(&id).await? }))
}

/// Cancels a prompt that waits for its turn.
#[cfg_attr(feature = "openapi", utoipa::path(
    delete, path = "/v1/sessions/{id}/queue/{item}", tag = "input",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("item" = String, Path, description = "The prompt"),
    ),
    responses((status = 200, description = "The prompt is cancelled", body = Accepted)),
))]
pub(crate) async fn cancel_input(
    State(api): State<Api>,
    caller: Caller,
    Path((id, item)): Path<(String, String)>,
) -> Answer<Accepted> {
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.cancel(&caller, &id, &item).await.map(Json)
}
