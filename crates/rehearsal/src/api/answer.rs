//! A response of the stand-in for the Messages API, with its pacing.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use tokio::time::sleep;

use super::body::{End, Paced, Step};
use super::connection::ConnectionCloser;
use super::ids::ApiIds;
use super::json::Object;
use super::message::{Message, error_body, failure};
use super::other_apis::{ApiKind, gemini_steps, responses_events};
use super::request::ApiCall;
use crate::script::{ApiFailure, Pace, Pairs, Turn};

/// A response to the client, with its pacing.
#[derive(Debug)]
pub(super) struct ApiResponse {
    /// HTTP status; `None` closes the connection without a response.
    pub(super) status: Option<StatusCode>,
    headers: Vec<(HeaderName, HeaderValue)>,
    steps: Vec<Step>,
    end: End,
    delay_ms: u64,
    cut_after: Option<usize>,
}

impl ApiResponse {
    /// A whole JSON document.
    pub(super) fn json(body: &Object) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let steps = vec![Step::now(body.to_string())];
        ApiResponse {
            status: Some(StatusCode::OK),
            headers,
            steps,
            end: End::Whole,
            delay_ms: 0,
            cut_after: None,
        }
    }

    /// A whole JSON document that is rendered already.
    fn document(steps: Vec<Step>) -> Self {
        ApiResponse { steps, ..ApiResponse::json(&Object::default()) }
    }

    /// An error in the API's format.
    pub(super) fn failure(failure: &ApiFailure, request_id: &str) -> Self {
        let mut answer = ApiResponse::json(&error_body(failure, request_id));
        answer.status =
            Some(StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
        let seconds = failure.retry_after.and_then(|seconds| HeaderValue::try_from(seconds.to_string()).ok());
        answer.headers.extend(seconds.map(|seconds| (RETRY_AFTER, seconds)));
        answer
    }

    /// An error that is not part of the script.
    pub(super) fn refusal(status: u16, message: &str, request_id: &str) -> Self {
        let message = Some(message.to_owned());
        ApiResponse::failure(&ApiFailure { status, kind: None, message, retry_after: None }, request_id)
    }

    /// The response to a call, from a turn.
    pub(super) fn turn(turn: &Turn, pace: Pace, call: &ApiCall, request_id: &str, ids: &mut ApiIds) -> Self {
        let pace = turn.pace.unwrap_or(pace);
        let mut answer = match (&turn.error, &turn.error_event) {
            (Some(error), _) => ApiResponse::failure(error, request_id),
            // Without a stream an error event cannot be sent.
            (None, Some(kind)) if !call.stream => ApiResponse::failure(&failure(kind), request_id),
            _ if call.kind == ApiKind::Responses => {
                ApiResponse::events(responses_events(turn, pace, call, ids))
            }
            _ if call.kind == ApiKind::Gemini => {
                let steps = gemini_steps(turn, pace, call);
                if call.stream { ApiResponse::events(steps) } else { ApiResponse::document(steps) }
            }
            _ => {
                let message = Message::new(turn, pace, call, ids);
                if call.stream {
                    let (steps, end) = message.events(request_id);
                    ApiResponse { end, ..ApiResponse::events(steps) }
                } else {
                    ApiResponse::json(&message.whole())
                }
            }
        };
        answer.delay_ms = pace.delay_ms;
        answer.cut_after = turn.cut_after;
        answer.set_headers(&turn.headers);
        if turn.drop {
            answer.status = None;
        }
        answer
    }

    /// Sends the response after its delay, or closes the connection.
    pub(super) async fn send(self, closer: &ConnectionCloser, request_id: &str) -> Response {
        if self.delay_ms > 0 {
            sleep(Duration::from_millis(self.delay_ms)).await;
        }
        let Some(status) = self.status else {
            closer.close();
            return Response::default();
        };
        let mut response = Response::new(match (&self.steps[..], self.end, self.cut_after) {
            ([all], End::Whole, None) => Body::from(all.bytes.clone()),
            _ => Body::from_stream(Paced::new(self.steps, self.end, self.cut_after)),
        });
        *response.status_mut() = status;
        if let Ok(id) = HeaderValue::try_from(request_id) {
            response.headers_mut().insert("request-id", id);
        }
        response.headers_mut().extend(self.headers);
        response
    }

    fn events(steps: Vec<Step>) -> Self {
        let headers = vec![
            (CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        ApiResponse {
            status: Some(StatusCode::OK),
            headers,
            steps,
            end: End::Whole,
            delay_ms: 0,
            cut_after: None,
        }
    }

    /// Sets the script's headers, which replace ours; the server has checked them at its start.
    fn set_headers(&mut self, pairs: &Pairs) {
        for (name, value) in pairs.iter().filter_map(|(name, value)| header(name, value)) {
            self.headers.retain(|(known, _)| *known != name);
            self.headers.push((name, value));
        }
    }
}

/// Response for a browser that opens the address.
pub(super) fn greeting() -> ApiResponse {
    let mut answer = ApiResponse::json(&Object::default());
    answer.headers = vec![(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
    answer.steps = vec![Step { wait_ms: 0, bytes: Bytes::from_static(b"A rehearsal of the Messages API\n") }];
    answer
}

/// A valid HTTP header, or `None`.
pub(super) fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
}
