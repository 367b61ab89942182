//! Security headers of every response.

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::Auth;
use super::request_check::is_files;

/// The content security policy: only files of this server, no inline scripts, no frames around the page (T7).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'none'";

const ALWAYS: [(HeaderName, HeaderValue); 7] = [
    (HeaderName::from_static("content-security-policy"), HeaderValue::from_static(POLICY)),
    (HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("x-frame-options"), HeaderValue::from_static("DENY")),
    (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ),
];

/// Adds the headers. Those that a route has set stay, except that browsers must not store API responses.
pub(crate) async fn add_security_headers(State(auth): State<Auth>, request: Request, next: Next) -> Response {
    let files = is_files(auth.without_base_path(request.uri().path()));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(value);
    }
    if !files {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
