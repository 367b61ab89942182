//! The authentication middleware: the checks of every request, in order.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, LOCATION, ORIGIN, UPGRADE};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tidings_api::Code;
use tidings_sessions::{Caller, Error};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tracing::{Instrument as _, info_span};

use super::hosts::{Host, Origin, authority};
use super::peer::Peer;
use super::{Auth, cookie};
use crate::http::RequestName;

/// The credential that a path needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// None: files of the page, and the liveness check.
    Public,
    /// A pairing code in the body.
    Pairing,
    /// A token in the path, which the handler checks. Attempts count like pairing.
    Button,
    /// A process of the same user, which the handler checks.
    Hook,
    /// A credential in the request, or in the first WebSocket message.
    Socket,
    /// A credential in the request.
    Credential,
}

/// Checks a request, and passes it on without the base path.
pub(crate) async fn check_request(State(auth): State<Auth>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let peer = Peer::of(&parts.extensions);
    let id = parts.extensions.get::<RequestName>().map_or("", |name| name.0.as_str());
    let span = info_span!("request", id, %peer, method = %parts.method, path = parts.uri.path());
    // Subscribed before the credential is checked, so that no revocation is missed.
    let revoked = auth.revoked().subscribe();
    let admission = span.in_scope(|| auth.admit(&mut parts, peer));
    match admission {
        Ok(Admission::Proceed) => {
            let device = parts.extensions.get::<Caller>().and_then(|caller| caller.device.clone());
            // A device that revokes itself still gets the response.
            let device = device.filter(|device| parts.uri.path() != format!("/v1/devices/{device}"));
            let answered = next.run(Request::from_parts(parts, body)).instrument(span);
            match device {
                Some(device) => unless_revoked(&device, revoked, answered).await,
                None => answered.await,
            }
        }
        Ok(Admission::Redirect(to)) => redirect(&to),
        Err(error) => {
            let _entered = span.enter();
            tracing::warn!(code = error.code().as_str(), reason = error.message(), "refused");
            error.into_response()
        }
    }
}

/// The response, unless the credential is revoked first. A slow client can make a request last arbitrarily
/// long.
async fn unless_revoked(
    device: &str,
    mut revoked: broadcast::Receiver<String>,
    answered: impl Future<Output = Response>,
) -> Response {
    let ended = async {
        loop {
            match revoked.recv().await {
                Ok(revoked) if revoked != device => {}
                // A missed revocation may have been this one.
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    };
    tokio::select! {
        biased;
        () = ended => {
            let hint = "pair the device again with `tidings pair`";
            Error::new(Code::Unauthorized, "The credential was revoked", hint).into_response()
        }
        answer = answered => answer,
    }
}

enum Admission {
    Proceed,
    /// A redirect to the base path with a trailing slash, which the relative links of the page need.
    Redirect(String),
}

impl Auth {
    fn admit(&self, parts: &mut Parts, peer: Peer) -> Result<Admission, Error> {
        let (host, port) = self.check_host(parts, peer)?;
        self.check_origin(parts, (&host, port))?;
        self.0.limiter.request(&peer)?;
        if let Some(to) = self.strip_base_path(parts)? {
            return Ok(Admission::Redirect(to));
        }
        match access(&parts.method, parts.uri.path()) {
            Access::Public => {}
            Access::Hook if peer == Peer::Unix => {}
            Access::Pairing | Access::Button => self.0.limiter.pairing(&peer)?,
            Access::Socket if !self.carries_credential(&parts.headers) => {}
            Access::Hook | Access::Socket | Access::Credential => {
                if !self.carries_credential(&parts.headers) {
                    self.0.limiter.failure(&peer)?;
                    return Err(missing_credential());
                }
                let caller =
                    self.authenticate(parts, peer).or_else(|error| self.count_failure(error, peer))?;
                parts.extensions.insert(caller);
            }
        }
        parts
            .extensions
            .insert(RequestScheme { scheme: self.settings().names.scheme_of(&host, self.settings().scheme) });
        Ok(Admission::Proceed)
    }

    /// Checks that the request has exactly one `Host`, and that it is in the list of names.
    fn check_host(&self, parts: &Parts, peer: Peer) -> Result<(Host, Option<u16>), Error> {
        let mut named = parts.headers.get_all(HOST).iter();
        let header = named.next().and_then(|value| value.to_str().ok()).and_then(authority);
        let in_uri = parts.uri.authority().map(|named| authority(named.as_str()));
        let agreed = match (header, in_uri) {
            (Some(header), None) => Some(header),
            (Some(header), Some(Some(uri))) if header == uri => Some(header),
            _ => None,
        };
        let allowed = agreed.filter(|(host, _)| self.settings().names.allows_host(host, peer.local()));
        if let (Some(allowed), None) = (allowed, named.next()) {
            return Ok(allowed);
        }
        let hint = "use one of its own names, or start it with --public-url";
        Err(Error::new(Code::Forbidden, "The host of the request is not a name of this server", hint))
    }

    /// Checks the origin that browsers send. Pages of other sites are refused, even with a credential.
    fn check_origin(&self, parts: &Parts, called: (&Host, Option<u16>)) -> Result<(), Error> {
        let refused = || {
            let hint = "open the page that the server itself serves, or name yours with --public-url";
            Error::new(Code::Forbidden, "Requests from pages of other origins are refused", hint)
        };
        let settings = self.settings();
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        if let Some(origin) = origins.next() {
            let origin = origin.to_str().ok().and_then(Origin::parse).ok_or_else(refused)?;
            if origins.next().is_some() || !settings.names.allows_origin(&origin, settings.scheme, called) {
                return Err(refused());
            }
        }
        let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        match text("sec-fetch-site") {
            None | Some("same-origin") => Ok(()),
            // The user typed the URL or used a bookmark: only safe methods are allowed.
            Some("none") if parts.method.is_safe() => Ok(()),
            // A link on another page. Only browsers set the mode `navigate`.
            Some(_) => {
                let looks = parts.method == Method::GET && text("sec-fetch-mode") == Some("navigate");
                // A service worker that passes a navigation on has no destination. Frames have one.
                let page = matches!(text("sec-fetch-dest"), Some("document" | "empty"));
                if looks && page && is_files(self.without_base_path(parts.uri.path())) {
                    Ok(())
                } else {
                    Err(refused())
                }
            }
        }
    }

    /// The path without the base path; paths outside of it are treated as `/v1`, which needs a credential.
    pub(super) fn without_base_path<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.settings().base_path.as_str()).unwrap_or("/v1")
    }

    /// Removes the base path from the URI. Returns the target of a redirect if the trailing slash is missing.
    fn strip_base_path(&self, parts: &mut Parts) -> Result<Option<String>, Error> {
        let base = &self.settings().base_path;
        if base.is_empty() {
            return Ok(None);
        }
        let not_here = || {
            Error::new(
                Code::NotFound,
                "The path is outside of the base path",
                format!("look under `{base}/`"),
            )
        };
        let whole = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        // Health checks of a supervisor do not pass through the proxy that adds the base path.
        if matches!(parts.uri.path(), "/healthz" | "/readyz") {
            return Ok(None);
        }
        let rest = whole.strip_prefix(base.as_str()).ok_or_else(not_here)?;
        if rest.is_empty() || rest.starts_with('?') {
            return Ok(Some(format!("{base}/{rest}")));
        }
        if !rest.starts_with('/') {
            return Err(not_here());
        }
        parts.uri = rest.parse::<Uri>().map_err(|_| not_here())?;
        Ok(None)
    }

    /// Counts a wrong credential, and writes it to the audit log. Peers with too many failures get a rate
    /// limit error instead.
    pub(super) fn count_failure(&self, error: Error, peer: Peer) -> Result<Caller, Error> {
        if error.code() == Code::Unauthorized {
            self.audit_failure("sign-in failed", &peer);
        }
        self.0.limiter.failure(&peer)?;
        Err(error)
    }

    fn carries_credential(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(AUTHORIZATION) || cookie::get(headers, &self.0.cookie).next().is_some()
    }

    fn authenticate(&self, parts: &Parts, peer: Peer) -> Result<Caller, Error> {
        let headers = &parts.headers;
        if let Some(value) = headers.get(AUTHORIZATION) {
            let (scheme, token) =
                value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(missing_credential)?;
            if !scheme.eq_ignore_ascii_case("bearer") || headers.get_all(AUTHORIZATION).iter().count() > 1 {
                return Err(missing_credential());
            }
            return self.caller(token.trim(), peer);
        }
        let caller = cookie::get(headers, &self.0.cookie)
            .map(|token| self.caller(token, peer))
            .reduce(Result::or)
            .ok_or_else(missing_credential)??;
        // A browser adds cookies by itself, so requests that change something must also carry the origin of
        // their page.
        let changes = !parts.method.is_safe() || headers.contains_key(UPGRADE);
        if changes && !headers.contains_key(ORIGIN) {
            let hint = "programs send `Authorization: Bearer TOKEN` instead of a cookie";
            return Err(Error::new(
                Code::Forbidden,
                "A cookie is only accepted together with the `Origin` of its page",
                hint,
            ));
        }
        Ok(caller)
    }
}

/// The scheme by which the page of a request was loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestScheme {
    pub(crate) scheme: super::Scheme,
}

fn missing_credential() -> Error {
    let hint = "send `Authorization: Bearer TOKEN`, or open the page with a link from `tidings pair`";
    Error::new(Code::Unauthorized, "This needs a credential", hint)
}

fn access(method: &Method, path: &str) -> Access {
    match path {
        "/v1/pair" if method == Method::POST => Access::Pairing,
        path if path.starts_with("/v1/notify/act/") && method == Method::POST => Access::Button,
        path if path.starts_with("/v1/hooks/") && method == Method::POST => Access::Hook,
        "/v1/ws" | "/v1/mobile" if method == Method::GET => Access::Socket,
        path if is_files(path) && method.is_safe() => Access::Public,
        _ => Access::Credential,
    }
}

/// True for files of the page and for the liveness check. All routes under `/v1` check the caller again, so
/// that a path that is parsed in two ways bypasses nothing.
pub(super) fn is_files(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    !matches!(first, "v1" | "readyz" | "metrics")
}

fn redirect(to: &str) -> Response {
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}
