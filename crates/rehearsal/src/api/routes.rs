//! The handler of all requests: numbers, answers and logs them.

use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use parking_lot::{Mutex, MutexGuard};
use serde_json::value::RawValue;
use tidings_protocol::json::Raw;

use super::answer::{ApiResponse, greeting};
use super::connection::ConnectionCloser;
use super::json::{Object, json, on_one_line};
use super::limits::REQUEST_BYTES_MAX;
use super::log::{AnsweredBy, Entry};
use super::models;
use super::other_apis::{ApiKind, read_gemini, read_responses};
use super::request::ApiCall;
use super::server::Bodies;
use super::state::PlayState;
use super::tokens::estimate;

/// State shared by all handlers.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) state: Arc<Mutex<PlayState>>,
    pub(super) bodies: Bodies,
}

impl Shared {
    /// Locks the state; a panic of another request cannot have corrupted it, since it changes in single
    /// steps.
    pub(super) fn state(&self) -> MutexGuard<'_, PlayState> {
        self.state.lock()
    }
}

/// Routes all requests to one handler, because all of them are numbered, named and logged.
pub(super) fn router(shared: Shared) -> Router {
    Router::new().fallback(handle).with_state(shared)
}

async fn handle(
    State(shared): State<Shared>,
    ConnectInfo(closer): ConnectInfo<ConnectionCloser>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, REQUEST_BYTES_MAX).await.ok();
    let (request_id, answer) = respond(&shared, &parts, body.as_ref());
    answer.send(&closer, &request_id).await
}

/// Finds the answer and logs the request under one lock, so that the log has the order of the answers.
fn respond(shared: &Shared, parts: &Parts, body: Option<&Bytes>) -> (String, ApiResponse) {
    let text = body.map_or_else(String::new, |body| String::from_utf8_lossy(body).into_owned());
    let parsed = Raw::parse(&text);
    let path = parts.uri.path();
    let asked = ApiKind::of(path);
    let mut call = match (&parsed, asked) {
        (Ok(body), Some((ApiKind::Responses, _))) => read_responses(*body),
        (Ok(body), Some((ApiKind::Gemini, stream))) => read_gemini(*body, path, stream),
        (Ok(body), _) => ApiCall::read(*body),
        (Err(_), _) => ApiCall::default(),
    };
    let mut state = shared.state();
    let id = state.request_id();
    let posts = parts.method == Method::POST;
    let gets = parts.method == Method::GET || parts.method == Method::HEAD;
    let (turn, answer) = match path {
        _ if body.is_none() => refuse(413, "the request is too long, or was cut off", &id),
        _ if posts && parsed.is_err() && (asked.is_some() || path == "/v1/messages/count_tokens") => {
            refuse(400, "the request body is not JSON", &id)
        }
        _ if posts && asked.is_some() => state.play(&mut call, &id),
        "/v1/messages/count_tokens" if posts => {
            plain(&Object::default().with("input_tokens", estimate(call.chars)))
        }
        "/v1/models" if gets => plain(&models::list()),
        "/" if gets => (AnsweredBy::None, greeting()),
        _ => match path.strip_prefix("/v1/models/") {
            Some(model) if gets && !model.is_empty() => plain(&models::one(model)),
            _ => refuse(404, &format!("rehearsal: no route for {} {path}", parts.method), &id),
        },
    };
    state.log(Entry {
        n: 0,
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        model: Some(call.request.model).filter(|model| !model.is_empty()),
        stream: call.stream,
        max_tokens: call.max_tokens,
        tools: call.request.tools,
        messages: call.messages,
        betas: betas(parts),
        turn,
        status: answer.status.map(|status| status.as_u16()),
        request_id: id.clone(),
        body: (shared.bodies == Bodies::Kept).then(|| kept(&text)).flatten(),
    });
    (id, answer)
}

fn plain(body: &Object) -> (AnsweredBy, ApiResponse) {
    (AnsweredBy::None, ApiResponse::json(body))
}

fn refuse(status: u16, message: &str, request_id: &str) -> (AnsweredBy, ApiResponse) {
    (AnsweredBy::None, ApiResponse::refusal(status, message, request_id))
}

fn betas(parts: &Parts) -> Vec<String> {
    let values = parts.headers.get_all("anthropic-beta").into_iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Body for the log: JSON unchanged, anything else as a string.
fn kept(body: &str) -> Option<Box<RawValue>> {
    if body.is_empty() {
        return None;
    }
    RawValue::from_string(on_one_line(body)).or_else(|_| RawValue::from_string(json(body))).ok()
}
