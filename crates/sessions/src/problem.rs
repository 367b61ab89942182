//! Errors as `application/problem+json` (RFC 9457).

use axum_core::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use tidings_api::{Code, Problem};

use crate::Error;

/// The content type of a problem.
pub const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

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

    /// The response that is sent to clients.
    pub fn response(&self, request_id: &str) -> Response {
        let body = serde_json::to_vec(&self.problem(request_id)).unwrap_or_default();
        let status = StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(ms) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000)));
        }
        if self.code() == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for Error {
    /// The response without the id of the request, which `name_requests` adds.
    fn into_response(self) -> Response {
        let mut response = self.response("");
        response.extensions_mut().insert(self);
        response
    }
}
