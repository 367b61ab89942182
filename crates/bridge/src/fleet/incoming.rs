//! Requests of other servers: they run through this server's own routes, with the rights of their device.
//!
//! The sender's word is not enough: the device is looked up here, among those that the fleet's admin signed.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderName, HeaderValue, Request};
use axum::{Extension, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_core::future::BoxFuture;
use tidings_api::{Code, Scope, Scopes};
use tidings_fleet::limits::REPLY_BYTES_MAX;
use tidings_fleet::{FleetMember, Handler, IncomingRequest};
use tidings_sessions::{Caller, Error, Sessions};
use tower::ServiceExt as _;

use super::server_requests::{ServerRequest, ServerResponse};
use super::{Fleet, audit, devices, targets};
use crate::auth::Auth;

/// Marks a request that another server has forwarded: it is not forwarded again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forwarded;

#[derive(Clone)]
pub(super) struct IncomingRequests {
    fleet: Fleet,
    sessions: Sessions,
    auth: Auth,
    router: Router,
}

impl IncomingRequests {
    pub(super) fn new(fleet: Fleet, (sessions, auth): (Sessions, Auth), router: Router) -> Self {
        IncomingRequests { fleet, sessions, auth, router: router.layer(Extension(Forwarded)) }
    }

    async fn answer(&self, incoming: IncomingRequest) -> Result<ServerResponse, Error> {
        let request: ServerRequest = serde_json::from_slice(&incoming.body).map_err(|error| {
            Error::new(
                Code::Invalid,
                format!("The request cannot be read: {error}"),
                "the versions may differ",
            )
        })?;
        match request {
            ServerRequest::Http { device, name, method, path, headers, body } => {
                let caller = self.caller(&incoming.from, device, &name)?;
                if !path.starts_with("/v1/sessions") {
                    let message = "Only requests about sessions reach other servers";
                    return Err(Error::new(Code::Forbidden, message, "do this on that server"));
                }
                let invalid = |_| Error::new(Code::Invalid, "The request cannot be read", "");
                let body =
                    STANDARD.decode(body).map_err(|_| Error::new(Code::Invalid, "Invalid body", ""))?;
                let request = Request::builder().method(method.as_str()).uri(path);
                let mut request = request.body(Body::from(body)).map_err(invalid)?;
                for (name, value) in headers {
                    let header = (HeaderName::try_from(name), HeaderValue::try_from(value));
                    if let (Ok(name), Ok(value)) = header {
                        request.headers_mut().insert(name, value);
                    }
                }
                request.extensions_mut().insert(caller);
                Ok(self.run(request).await)
            }
            ServerRequest::AddDevice { device } => {
                devices::add_for(&self.fleet, &incoming.from, device).await?;
                Ok(ServerResponse::done())
            }
            ServerRequest::RevokeDevice { id } => {
                devices::revoke_for(&self.fleet, &id).await?;
                Ok(ServerResponse::done())
            }
            ServerRequest::AuditHash { number } => audit::hash_for(&self.sessions, number).await,
            ServerRequest::AddTarget { id, target } => {
                targets::add_for(&self.fleet, &incoming.from, &id, target).await?;
                Ok(ServerResponse::done())
            }
            ServerRequest::PublishAgain { sessions } => {
                self.fleet.publish_again(sessions);
                Ok(ServerResponse::done())
            }
            ServerRequest::RemoveTarget { id } => {
                targets::remove_for(&self.fleet, &incoming.from, &id).await?;
                Ok(ServerResponse::done())
            }
        }
    }

    /// The caller of a request: a device of the fleet, or the admin of the sender. Neither has more rights
    /// than the membership of the sender: a server could name a device that never spoke to it.
    fn caller(&self, from: &FleetMember, device: Option<String>, name: &str) -> Result<Caller, Error> {
        let scopes: Scopes = from.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
        if let Some(id) = device {
            let caller = self.auth.shared_device(&id).ok_or_else(|| {
                let hint = "pair it again, or wait until the fleet knows it";
                Error::new(Code::Unauthorized, "The device is not known to the fleet, or was revoked", hint)
            })?;
            return Ok(Caller { scopes: caller.scopes.and(scopes), ..caller });
        }
        Ok(Caller { name: format!("{name} on {}", from.node), device: None, scopes, folders: Vec::new() })
    }

    async fn run(&self, request: Request<Body>) -> ServerResponse {
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (parts, body) = response.into_parts();
        let kept = ["content-type", "retry-after", "etag", "content-disposition", "location"];
        let text = |name: &str| Some((name.to_owned(), parts.headers.get(name)?.to_str().ok()?.to_owned()));
        let headers = kept.iter().filter_map(|name| text(name)).collect();
        match to_bytes(body, REPLY_BYTES_MAX / 2).await {
            Ok(body) => {
                ServerResponse { status: parts.status.as_u16(), headers, body: STANDARD.encode(&body) }
            }
            Err(_) => refusal(&Error::new(Code::TooLarge, "The response is too long for the fleet", "")),
        }
    }
}

impl Handler for IncomingRequests {
    fn handle(&self, request: IncomingRequest) -> BoxFuture<'static, Vec<u8>> {
        let handler = self.clone();
        Box::pin(async move {
            let response = handler.answer(request).await.unwrap_or_else(|error| refusal(&error));
            serde_json::to_vec(&response).unwrap_or_default()
        })
    }
}

fn refusal(error: &Error) -> ServerResponse {
    let body = serde_json::to_vec(&error.problem("")).unwrap_or_default();
    ServerResponse {
        status: error.code().status(),
        headers: vec![("content-type".to_owned(), "application/problem+json".to_owned())],
        body: STANDARD.encode(body),
    }
}
