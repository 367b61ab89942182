//! Requests that open a WebSocket, and the response that accepts one, as in RFC 6455.

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::upgrade::OnUpgrade;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use tidings_api::Code;
use tidings_sessions::Error;

/// Text that a server appends to the key of a request before it hashes both.
const ACCEPT_SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A valid request for a WebSocket.
#[derive(Debug)]
pub(crate) struct UpgradeRequest {
    key: HeaderValue,
    protocols: Vec<HeaderValue>,
    connection: OnUpgrade,
}

impl<S: Sync> FromRequestParts<S> for UpgradeRequest {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        let key = check(&parts.method, &parts.headers)?.clone();
        // It is missing if the request is HTTP/1.0.
        let Some(connection) = parts.extensions.remove::<OnUpgrade>() else {
            return Err(refused("WebSocket request couldn't be upgraded since no upgrade state was present"));
        };
        Ok(UpgradeRequest { key, protocols: protocols(&parts.headers), connection })
    }
}

impl UpgradeRequest {
    /// True if the client names subprotocols.
    pub(crate) fn has_protocols(&self) -> bool {
        !self.protocols.is_empty()
    }

    /// The subprotocol, if the client offers it.
    pub(crate) fn offered(&self, protocol: &str) -> Option<HeaderValue> {
        self.protocols.iter().find(|offered| offered.as_bytes() == protocol.as_bytes()).cloned()
    }

    /// The response that accepts the request, and the connection, which is upgraded once the response is
    /// sent.
    pub(crate) fn accept(self, protocol: Option<HeaderValue>) -> Result<(Response, OnUpgrade), Error> {
        let accept = HeaderValue::from_str(&accept(self.key.as_bytes()))
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        if let Some(protocol) = protocol {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        Ok((response, self.connection))
    }
}

/// Returns the key of a request that may become a WebSocket.
fn check<'a>(method: &Method, headers: &'a HeaderMap) -> Result<&'a HeaderValue, Error> {
    if method != Method::GET {
        return Err(refused("Request method must be `GET`"));
    }
    let connection = headers.get(header::CONNECTION).map(HeaderValue::as_bytes).unwrap_or_default();
    // Browsers and proxies send lists, such as `keep-alive, Upgrade`.
    if !std::str::from_utf8(connection).is_ok_and(|list| list.to_ascii_lowercase().contains("upgrade")) {
        return Err(refused("Connection header did not include 'upgrade'"));
    }
    if !is(headers, &header::UPGRADE, "websocket") {
        return Err(refused("`Upgrade` header did not include 'websocket'"));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let key = key.ok_or_else(|| refused("`Sec-WebSocket-Key` header missing"))?;
    if !is(headers, &header::SEC_WEBSOCKET_VERSION, "13") {
        return Err(refused("`Sec-WebSocket-Version` header did not include '13'"));
    }
    Ok(key)
}

fn refused(message: &str) -> Error {
    Error::new(Code::Invalid, message, "open it as a WebSocket")
}

fn is(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    headers.get(name).is_some_and(|found| found.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
}

/// The subprotocols that the client offers, in its order.
fn protocols(headers: &HeaderMap) -> Vec<HeaderValue> {
    let lists = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let names = lists.flat_map(|list| list.as_bytes().split(|byte| *byte == b','));
    names.filter_map(|name| HeaderValue::from_bytes(name.trim_ascii()).ok()).collect()
}

/// Proof for the client that the server has read its key and speaks the WebSocket protocol.
fn accept(key: &[u8]) -> String {
    let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    digest.update(key);
    digest.update(ACCEPT_SUFFIX);
    STANDARD.encode(digest.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &[(&str, &str)] = &[
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-version", "13"),
    ];

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    /// The valid request with another value of a header, or without it.
    fn with(name: &str, value: Option<&str>) -> HeaderMap {
        let mut headers = headers(VALID);
        headers.remove(name);
        if let Some(value) = value {
            headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn the_accepted_key_is_that_of_the_rfc() {
        let key = check(&Method::GET, &headers(VALID)).unwrap().clone();
        assert_eq!(accept(key.as_bytes()), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_request_that_is_no_upgrade_is_refused_with_the_reason() {
        let connection = "Connection header did not include 'upgrade'";
        let upgrade = "`Upgrade` header did not include 'websocket'";
        let version = "`Sec-WebSocket-Version` header did not include '13'";
        for (headers, reason) in [
            (with("connection", None), connection),
            (with("connection", Some("keep-alive")), connection),
            (with("upgrade", None), upgrade),
            (with("upgrade", Some("h2c")), upgrade),
            (with("upgrade", Some("h2c, websocket")), upgrade),
            (with("sec-websocket-key", None), "`Sec-WebSocket-Key` header missing"),
            (with("sec-websocket-version", None), version),
            (with("sec-websocket-version", Some("8")), version),
        ] {
            let error = check(&Method::GET, &headers).unwrap_err();
            assert_eq!((error.code(), error.message()), (Code::Invalid, reason), "{headers:?}");
        }
        for method in [Method::HEAD, Method::POST, Method::CONNECT] {
            let error = check(&method, &headers(VALID)).unwrap_err();
            assert_eq!((error.code(), error.message()), (Code::Invalid, "Request method must be `GET`"));
        }
    }

    #[test]
    fn subprotocols_are_split_and_trimmed() {
        let lists = [("sec-websocket-protocol", "soap,  wamp "), ("sec-websocket-protocol", "tidings.v1")];
        assert_eq!(protocols(&headers(&lists)), ["soap", "wamp", "tidings.v1"]);
        assert_eq!(protocols(&headers(VALID)).len(), 0);
    }
}
