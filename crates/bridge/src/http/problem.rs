//! Errors of all layers as `application/problem+json` (RFC 9457).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tidings::Ids;
use tidings_api::Code;
use tidings_sessions::Error;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, in its response and in the log.
#[derive(Debug, Clone)]
pub(crate) struct RequestName(pub(crate) String);

/// Middleware that gives each request an id, and each error response the form of a problem.
pub(crate) async fn name_requests(State(ids): State<Ids>, mut request: Request, next: Next) -> Response {
    // The auth layer runs first and may have named the request already.
    let named = request.extensions().get::<RequestName>().map(|name| name.0.clone());
    let name = named.unwrap_or_else(|| ids.next());
    request.extensions_mut().insert(RequestName(name.clone()));
    let mut response = next.run(request).await;
    if let Some(error) = refusal(&response) {
        if error.code() == Code::Internal {
            tracing::error!(request_id = name, "{error}");
        }
        let mut problem = error.response(&name);
        copy_headers(response.headers(), problem.headers_mut());
        response = problem;
    }
    if let Ok(name) = HeaderValue::try_from(name) {
        response.headers_mut().insert(REQUEST_ID, name);
    }
    response
}

/// The error of a response: the original one, or one made from the status if a layer below sent it.
fn refusal(response: &Response) -> Option<Error> {
    if let Some(error) = response.extensions().get::<Error>() {
        return Some(error.clone());
    }
    let status = response.status();
    let is_problem = response.headers().get(header::CONTENT_TYPE) == Some(&PROBLEM);
    if is_problem || !(status.is_client_error() || status.is_server_error()) {
        return None;
    }
    let code = Code::ALL.iter().copied().find(|code| code.status() == status.as_u16());
    let fallback = if status.is_client_error() { Code::Invalid } else { Code::Internal };
    let (message, hint) = match status {
        StatusCode::NOT_FOUND => ("There is no such route", "see /v1/openapi.json"),
        StatusCode::METHOD_NOT_ALLOWED => {
            ("This route does not support the method", "see /v1/openapi.json for its methods")
        }
        StatusCode::PAYLOAD_TOO_LARGE => ("The request is too long", "send less at once"),
        status => (status.canonical_reason().unwrap_or("The request was refused"), ""),
    };
    Some(Error::new(code.unwrap_or(fallback), message, hint))
}

/// Copies the headers of an error response that a problem does not contain.
fn copy_headers(from: &HeaderMap, to: &mut HeaderMap) {
    for name in [header::ALLOW, header::SET_COOKIE, header::SEC_WEBSOCKET_VERSION, header::UPGRADE] {
        if let Some(value) = from.get(&name) {
            to.insert(name, value.clone());
        }
    }
}
