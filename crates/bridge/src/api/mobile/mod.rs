//! The WebSocket `/v1/mobile` of the phone protocol, for the same sessions as all other routes.
//!
//! Two families of apps use the protocol. One sends flat messages (`command`, `permission_response`,
//! `session_resume`, …), the other names a project in each (`execute`, `project_join`, …). Both are accepted
//! on one socket, and both get flat messages with an added `projectId`. `docs/phone-protocol.md` lists what
//! is left out, and why.

mod asks;
mod feed;
mod incoming;
mod long_texts;
mod outgoing;
mod parts;
mod position;
mod projects;
mod resume;
mod socket;
mod sync;
mod translator;
mod work;

use axum::extract::State;
use axum::http::{Extensions, HeaderMap, header};
use axum::response::Response;
use tidings_api::Scope;
use tidings_sessions::{Caller, Error};

pub(crate) use parts::PartTranslator;
pub(crate) use position::MessagePosition;
pub(crate) use translator::MobileTranslator;
#[cfg(test)]
pub(crate) use {
    feed::{PhoneFeed, PhoneUpdate},
    resume::resume,
};

use super::Api;
use super::stream_lifetime::StreamLifetime;
use super::ws::link;
use crate::auth::Peer;
use crate::http::UpgradeRequest;

/// Opens a WebSocket of the phone protocol: projects, prompts, answers and permissions.
///
/// A client that cannot set a header sends `{"type":"auth","token":…}` first. The close codes are those of
/// `/v1/ws`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/mobile", tag = "events",
    responses((status = 101, description = "Messages are `MobileMessage`")),
))]
pub(crate) async fn mobile(
    State(api): State<Api>,
    extensions: Extensions,
    headers: HeaderMap,
    upgrade: Result<UpgradeRequest, Error>,
) -> Result<Response, Error> {
    let caller = extensions.get::<Caller>().cloned();
    let peer = Peer::of(&extensions);
    caller.as_ref().map_or(Ok(()), |caller| caller.require(Scope::Read))?;
    let upgrade = upgrade?;
    let port = port(&headers);
    // Until the response, the auth layer ends the request when the credential is revoked; from here on, this
    // does.
    let lifetime = StreamLifetime::new(&api).with_connection(extensions.get());
    link::upgrade(upgrade, None, move |socket| socket::serve(api, (caller, peer), lifetime, port, socket))
}

/// The port that the phone connected to, from its `Host` header, because there may be a proxy in between.
fn port(headers: &HeaderMap) -> u16 {
    const HTTPS: u16 = 443;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(HTTPS)
}
