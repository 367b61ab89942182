//! Messages of hooks, from processes of the same user on the Unix socket.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::{Either, ready};
use futures_util::stream;
use tidings_api::Code;
use tidings_sessions::Error;
use tidings_sessions::observed::{HookMessage, HookSender};

use crate::api::Api;
use crate::http::{Connection, Path};
use crate::limits::HOOK_REPLY;

/// The event whose hook waits for an answer.
const PERMISSION_REQUEST: &str = "PermissionRequest";

/// Takes the message of a hook that Claude Code runs.
///
/// Only for the program `tidings hook run`, on the Unix socket. The head of the response comes at once; the
/// body of the response to `PermissionRequest` comes with the answer.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/hooks/{event}", tag = "hooks",
    params(("event" = String, Path, description = "The event of the hook")),
    request_body(content = serde_json::Value, description = "The input of the hook, and facts about its process"),
    responses((status = 200, description = "The output of the hook; empty if it has nothing to say")),
))]
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
    let sender = HookSender { process: connection.process.clone() };
    let (sessions, may_hold) = (api.sessions.clone(), event == PERMISSION_REQUEST);
    let mut taken = tokio::spawn(async move { sessions.hook(sender, &event, message).await });
    // A hook gives up if the head of the response does not come soon. A new session is stored first, which
    // takes longer on a slow disk.
    let taken = match tokio::time::timeout(HOOK_REPLY, &mut taken).await {
        Ok(taken) => {
            let Some(held) = taken.map_err(|error| lost(&error))?? else { return Ok(().into_response()) };
            Either::Left(ready(Some(held)))
        }
        Err(_) if !may_hold => return Ok(().into_response()),
        Err(_) => Either::Right(async move { taken.await.ok()?.ok()? }),
    };
    // The sender was checked, or will be; it may wait for long.
    connection.authenticate();
    let stopping = api.stopping.clone();
    let answer = async move {
        let answered = async { taken.await?.answer().await };
        let answer = tokio::select! {
            answer = answered => answer,
            () = stopping.cancelled() => None,
        };
        Ok::<_, std::convert::Infallible>(answer.map(|answer| answer.to_string()).unwrap_or_default())
    };
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(stream::once(answer))).into_response())
}

fn lost(error: &tokio::task::JoinError) -> Error {
    Error::new(Code::Internal, format!("The message was not handled: {error}"), "")
}
