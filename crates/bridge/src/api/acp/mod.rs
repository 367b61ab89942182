//! Sessions for editors, in the Agent Client Protocol: on the WebSocket `/v1/acp`, and in this process.
//!
//! Each message is one JSON-RPC message. Updates carry our cursor in `_meta.tidings.cursor`; a client that
//! reconnects sends it as `_meta.tidings.after` of `session/resume`, and misses nothing.

mod connection;
mod encoder;
mod local;
mod open;
mod session;
mod socket;

use axum::extract::State;
use axum::http::Extensions;
use axum::response::Response;
use tidings_acp::limits::SOCKET_MESSAGE_BYTES_MAX;
use tidings_acp::rpc::RpcError;
use tidings_api::Code;
use tidings_sessions::{Caller, Error};

pub use local::LocalEditor;

use super::Api;
use super::stream_lifetime::StreamLifetime;
use super::ws::link;
use crate::http::UpgradeRequest;

/// Opens a WebSocket that speaks the Agent Client Protocol, version 1.
///
/// Close codes are those of `/v1/ws`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/acp", tag = "events",
    responses((status = 101, description = "Messages are JSON-RPC messages of the Agent Client Protocol")),
))]
pub(crate) async fn acp_socket(
    State(api): State<Api>,
    caller: Caller,
    extensions: Extensions,
    upgrade: Result<UpgradeRequest, Error>,
) -> Result<Response, Error> {
    let upgrade = upgrade?;
    let mut lifetime = StreamLifetime::new(&api).with_connection(extensions.get());
    lifetime.bind(&caller);
    link::upgrade_with(upgrade, None, SOCKET_MESSAGE_BYTES_MAX, move |socket| {
        socket::serve(api, caller, lifetime, socket)
    })
}

/// An error of ours as one of the protocol.
fn rpc_error(error: &Error) -> RpcError {
    let code = match error.code() {
        Code::Invalid | Code::Unprocessable | Code::TooLarge | Code::MediaType => RpcError::INVALID_PARAMS,
        Code::NotFound | Code::Gone => RpcError::NOT_FOUND,
        Code::Unauthorized => RpcError::AUTH_REQUIRED,
        _ => RpcError::INTERNAL,
    };
    let mut rpc = RpcError::new(code, error.message(), error.hint());
    rpc.data.get_or_insert_with(|| serde_json::json!({}))["code"] = error.code().as_str().into();
    rpc
}
