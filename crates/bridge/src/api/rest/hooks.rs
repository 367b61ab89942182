//! Messages of hooks, from processes of the same user on the Unix socket.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;

use crate::api::Api;
use crate::error::{Code, Error};
use crate::http::{Connection, Path};
use crate::sessions::observed::{HookMessage, HookSender};

/// Takes the message of a hook that Claude Code runs.
///
/// Only for the program `tidings hook run`, on the Unix socket. The head of the response comes at once; the
/// body of the response to `PermissionRequest` comes with the answer.
#[utoipa::path(
    post, path = "/v1/hooks/{event}", tag = "hooks",
    params(("event" = String, Path, description = "The event of the hook")),
    request_body(content = serde_json::Value, description = "The input of the hook, and facts about its process"),
    responses((status = 200, description = "The output of the hook; empty if it has nothing to say")),
)]
pub(crate) async fn post_hook(
    State(api): State<Api>,
    Path(event): Path<String>,
    connection: Option<Extension<Connection>>,
    body: Bytes,
) -> Result<Response, Error> {
    let Some(Extension(connection)) = connection else {
        return Err(Error::new(Code::Forbidden, "Hooks use the server's socket", ""));
    };
    let message: HookMessage = serde_json::from_slice(&body)
        .map_err(|error| Error::new(Code::Invalid, format!("The message cannot be read: {error}"), ""))?;
    let sender = HookSender { pid: connection.process };
    let held = api.sessions.hook(sender, &event, message).await?;
    // The sender was checked, and may wait for long.
    connection.authenticate();
    let Some(held) = held else { return Ok(().into_response()) };
    let stopping = api.stopping.clone();
    let answer = async move {
        let answer = tokio::select! {
            answer = held.answer() => answer,
            () = stopping.cancelled() => None,
        };
        Ok::<_, std::convert::Infallible>(answer.map(|answer| answer.to_string()).unwrap_or_default())
    };
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(stream::once(answer))).into_response())
}
