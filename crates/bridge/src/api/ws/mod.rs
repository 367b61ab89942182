//! One WebSocket for everything: any number of sessions, prompts, answers and commands.

pub(crate) mod close;
mod deltas;
mod feed;
pub(crate) mod link;
mod order;
mod requests;
pub(crate) mod socket;

use axum::extract::State;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::http::{Extensions, HeaderMap};
use axum::response::Response;

use super::tether::Tether;
use super::{Api, PROTOCOL};
use crate::auth::Peer;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};

/// Sessions on a WebSocket: requests and answers, and events of whatever is subscribed to.
///
/// The subprotocol is `tidings.v1`. A client that cannot set a header sends `{"type":"auth","token":…}` first.
/// It is closed with 4401 (no credential), 4403 (it does not reach that far), 4409 (the client took nothing for too
/// long), 4429 (too many) or 1012 (the server restarts; the reason says when to come back).
#[utoipa::path(
    get, path = "/v1/ws", tag = "events",
    responses((status = 101, description = "From here on messages are those of `SocketRequest` and `SocketMessage`")),
)]
pub(crate) async fn websocket(
    State(api): State<Api>,
    extensions: Extensions,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Error> {
    let caller = extensions.get::<Caller>().cloned();
    let peer = Peer::of(&extensions);
    caller.as_ref().map_or(Ok(()), |caller| caller.require(Scope::Read))?;
    let upgrade = upgrade
        .map_err(|rejection| Error::new(Code::Invalid, rejection.body_text(), "open it as a WebSocket"))?;
    let offers_others = upgrade.requested_protocols().next().is_some();
    let upgrade = upgrade.protocols([PROTOCOL]);
    if offers_others && upgrade.selected_protocol().is_none() {
        let message = "None of these subprotocols is spoken here";
        return Err(Error::new(Code::Invalid, message, "ask for `tidings.v1`"));
    }
    // The guard watches over the credential until there is an answer, and this from here on.
    let tether = Tether::new(&api).on(extensions.get());
    let protocol = upgrade.selected_protocol().cloned();
    link::upgrade(&extensions, &headers, protocol, move |socket| {
        socket::serve(api, (caller, peer), tether, socket)
    })
}
