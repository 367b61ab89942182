//! The WebSocket `/v1/ws`: subscriptions to any number of sessions, prompts, answers and commands.

pub(crate) mod close;
mod feed;
pub(crate) mod heartbeat;
mod input_order;
pub(crate) mod link;
mod requests;
pub(crate) mod socket;
pub(crate) mod terminal;

use axum::extract::State;
use axum::http::Extensions;
use axum::response::Response;
use tidings_api::{Code, Scope};
use tidings_sessions::{Caller, Error};

use super::stream_lifetime::StreamLifetime;
use super::{Api, PROTOCOL};
use crate::auth::Peer;
use crate::http::UpgradeRequest;

/// Opens a WebSocket for requests, their replies, and events of subscribed sessions.
///
/// The subprotocol is `tidings.v1`. A client that cannot set a header sends `{"type":"auth","token":…}`
/// first. Close codes: 4401 (no valid credential), 4403 (missing scope), 4409 (the client read nothing for
/// too long), 4429 (too many) and 1012 (the server restarts; the reason contains the delay before a
/// reconnect).
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/ws", tag = "events",
    responses((status = 101, description = "Messages are `SocketRequest` and `SocketMessage`")),
))]
pub(crate) async fn websocket(
    State(api): State<Api>,
    extensions: Extensions,
    upgrade: Result<UpgradeRequest, Error>,
) -> Result<Response, Error> {
    let caller = extensions.get::<Caller>().cloned();
    let peer = Peer::of(&extensions);
    caller.as_ref().map_or(Ok(()), |caller| caller.require(Scope::Read))?;
    let upgrade = upgrade?;
    let protocol = upgrade.offered(PROTOCOL);
    if upgrade.has_protocols() && protocol.is_none() {
        let message = "None of the requested subprotocols is supported";
        return Err(Error::new(Code::Invalid, message, "request `tidings.v1`"));
    }
    // Until the response, the auth layer ends the request when the credential is revoked; from here on, this
    // does.
    let lifetime = StreamLifetime::new(&api).with_connection(extensions.get());
    link::upgrade(upgrade, protocol, move |socket| socket::serve(api, (caller, peer), lifetime, socket))
}
