//! Forwards requests about sessions of other servers to their owners.
//!
//! Events, histories and lists are read here, from the replica. Everything that changes a session or reads
//! its folder goes to the owner, whatever the route.

use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tidings_api::{Code, INPUT_BYTES_MAX};
use tidings_sessions::remote::{ForwardedRequest, ForwardedResponse};
use tidings_sessions::{Caller, Error};

use super::Api;
use crate::fleet::Forwarded;

/// Routes below a session that read its folder or the memory of its server.
const AT_OWNER: [&str; 8] = ["diff", "file", "files", "models", "prompts", "queue", "tree", "worktree"];

/// Headers that a forwarded request keeps.
const KEPT: [&str; 5] = ["accept", "content-type", "idempotency-key", "if-none-match", "range"];

/// Middleware that forwards a request, if another server has to answer it.
pub(crate) async fn forward(State(api): State<Api>, request: Request, next: Next) -> Response {
    // A borrowed request could not be held while the journal is read.
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let forwarded = request.extensions().get::<Forwarded>().copied();
    match destination(&api, &method, &uri, forwarded).await {
        Ok(None) => next.run(request).await,
        Ok(Some((node, path))) => match send(&api, node, path, request).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        },
        Err(error) => error.into_response(),
    }
}

/// The server that has to answer a request, and the path there. None if it is this one.
async fn destination(
    api: &Api,
    method: &Method,
    uri: &Uri,
    forwarded: Option<Forwarded>,
) -> Result<Option<(String, String)>, Error> {
    let Some(rest) = uri.path().strip_prefix("/v1/sessions") else { return Ok(None) };
    let query = uri.query();
    let Some(rest) = rest.strip_prefix('/').filter(|rest| !rest.is_empty()) else {
        return chosen(api, method, uri);
    };
    let (id, below) = rest.split_once('/').map_or((rest, None), |(id, below)| (id, Some(below)));
    let first = below.and_then(|below| below.split('/').next());
    let reads_folder = first.is_some_and(|first| AT_OWNER.contains(&first));
    if method.is_safe() && !reads_folder {
        return Ok(None);
    }
    // A session that is unknown here is for the route to report.
    let Ok(Some((node, key))) = api.sessions.owner(id).await else { return Ok(None) };
    if forwarded.is_some() {
        let message = format!("The session belongs to `{node}`, and not to this server");
        return Err(Error::new(Code::Conflict, message, "list the sessions again"));
    }
    let below = below.map(|below| format!("/{below}")).unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Some((node, format!("/v1/sessions/{key}{below}{query}"))))
}

/// The query of a request for a new session.
#[derive(Default, Deserialize)]
struct Placement {
    /// The server: a name, labels such as `gpu=yes`, or `*` for any.
    node: Option<String>,
}

/// The server on which a new session is wanted. Refuses it if this server takes none.
fn chosen(api: &Api, method: &Method, uri: &Uri) -> Result<Option<(String, String)>, Error> {
    let (Some(fleet), &Method::POST) = (&api.fleet, method) else { return Ok(None) };
    let Placement { node } = Query::try_from_uri(uri).map(|query| query.0).unwrap_or_default();
    let node = node.filter(|node| !node.is_empty()).map(|node| fleet.choose(&node)).transpose()?;
    match node {
        Some(node) if node != *fleet.node() => Ok(Some((node.to_string(), "/v1/sessions".to_owned()))),
        _ if fleet.is_hub() => {
            let hint = "choose a server of the fleet with `?node=NAME`, or any with `?node=*`";
            Err(Error::new(Code::Conflict, "This server is a hub, and runs no agents", hint))
        }
        _ if fleet.is_draining() => {
            let hint = "start it on another server, or end draining with `tidings fleet drain --off`";
            Err(Error::new(Code::Unavailable, "This server takes no new sessions now", hint))
        }
        _ => Ok(None),
    }
}

async fn send(api: &Api, node: String, path: String, request: Request) -> Result<Response, Error> {
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(tidings_sessions::unauthorized)?;
    let (parts, body) = request.into_parts();
    let text = |name: &str| Some((name.to_owned(), parts.headers.get(name)?.to_str().ok()?.to_owned()));
    let body = to_bytes(body, INPUT_BYTES_MAX)
        .await
        .map_err(|_| Error::new(Code::TooLarge, "The body is too long", "send less at once; see /v1/meta"))?;
    let method = parts.method.to_string();
    let headers = KEPT.iter().filter_map(|name| text(name)).collect();
    let request = ForwardedRequest { caller, method, path, headers, body };
    let answer = api.sessions.forward(node.clone(), request).await?;
    Ok(response_of(with_own_number(api, &node, answer).await))
}

/// Gives the view of a session the number that the session has here: another server has other numbers.
async fn with_own_number(api: &Api, node: &str, answer: ForwardedResponse) -> ForwardedResponse {
    if !(200..300).contains(&answer.status) {
        return answer;
    }
    let Ok(mut view) = serde_json::from_slice::<serde_json::Value>(&answer.body) else { return answer };
    let (Some(key), true) = (view["key"].as_str(), view["handle"].is_u64()) else { return answer };
    let handle = api.sessions.replica_handle(key).await.unwrap_or_default();
    view["handle"] = handle.into();
    view["node"] = node.into();
    ForwardedResponse { body: view.to_string().into(), ..answer }
}

fn response_of(answer: ForwardedResponse) -> Response {
    let mut response = Body::from(answer.body).into_response();
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().remove(header::CONTENT_TYPE);
    for (name, value) in answer.headers {
        let header = (header::HeaderName::try_from(name), HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = header {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
