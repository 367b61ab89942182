//! Errors of all layers as `application/problem+json` (RFC 9457).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tidings::Ids;
use tidings_api::Problem;

use crate::error::{Code, Error};

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, in its response and in the log.
#[derive(Debug, Clone)]
pub(crate) struct RequestName(pub(crate) String);

impl Error {
    /// The error as it is sent to clients.
    pub fn problem(&self, request_id: &str) -> Problem {
        let code = self.code();
        Problem {
            kind: format!("urn:tidings:problem:{}", code.as_str()),
            title: code.as_str().replace('_', " "),
            status: code.status(),
            code: code.as_str().to_owned(),
            detail: self.message().to_owned(),
            hint: self.hint().to_owned(),
            retryable: code.is_retryable(),
            retry_after_ms: self.retry_after(),
            request_id: request_id.to_owned(),
            winner: self.winner().cloned(),
            session: self.session().map(str::to_owned),
        }
    }
}

impl IntoResponse for Error {
    /// The response without the id of the request, which `name_requests` adds.
    fn into_response(self) -> Response {
        let mut response = render(&self, "");
        response.extensions_mut().insert(self);
        response
    }
}

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
        let mut problem = render(&error, &name);
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

fn render(error: &Error, request_id: &str) -> Response {
    let body = serde_json::to_vec(&error.problem(request_id)).unwrap_or_default();
    let status = StatusCode::from_u16(error.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(ms) = error.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000)));
    }
    if error.code() == Code::Unauthorized {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
