//! The server itself: metadata, models, the API description and the audit log.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tidings_protocol::api::{Meta, MetaCaller, MetaLimits, ModelList};
use tidings_protocol::mobile::MOBILE_WIRE_VERSION;
use tidings_protocol::ui::UI_WIRE_VERSION;
use utoipa::openapi::{OpenApi, Server};

use crate::api::visibility::Visibility;
use crate::api::{Api, PROTOCOL};
use crate::caller::{Caller, Scope};
use crate::error::Error;
use crate::http::Query;
use crate::limits::{
    BODY_REQUEST_BYTES_MAX, HEARTBEAT, INPUT_BYTES_MAX, LIST_MAX, MESSAGE_BYTES_MAX, SUBSCRIPTIONS_MAX,
};

/// Gets the versions, capabilities and limits of the server.
#[utoipa::path(
    get, path = "/v1/meta", tag = "server",
    responses((status = 200, description = "The server", body = Meta)),
)]
pub(crate) async fn meta(State(api): State<Api>, caller: Caller) -> Json<Meta> {
    let config = api.sessions.config();
    // A journal that fails is reported by other routes.
    let storage_full = api.sessions.broadcast().journal().check_room().await.unwrap_or_default();
    let mut capabilities = vec!["rest", "sse", "websocket", "dialect:native", "dialect:ui", "dialect:mobile"];
    capabilities.push("dialect:frames");
    if config.allow_bypass {
        capabilities.push("bypass");
    }
    let scopes = Scope::ALL.into_iter().filter(|scope| caller.scopes.has(*scope));
    Json(Meta {
        name: "tidings".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ui_wire_version: UI_WIRE_VERSION,
        mobile_wire_version: MOBILE_WIRE_VERSION,
        websocket_protocol: PROTOCOL.to_owned(),
        capabilities: capabilities.into_iter().map(str::to_owned).collect(),
        limits: MetaLimits {
            body_bytes: BODY_REQUEST_BYTES_MAX as u64,
            input_bytes: INPUT_BYTES_MAX as u64,
            message_bytes: MESSAGE_BYTES_MAX as u64,
            subscriptions: SUBSCRIPTIONS_MAX as u64,
            page: LIST_MAX as u64,
            heartbeat_ms: u64::try_from(HEARTBEAT.as_millis()).unwrap_or(u64::MAX),
        },
        demo: config.demo,
        claude: api.sessions.claude(),
        storage_full,
        you: MetaCaller {
            name: caller.name,
            scopes: scopes.map(|scope| scope.as_str().to_owned()).collect(),
        },
    })
}

/// Lists the models that sessions can be switched to.
#[utoipa::path(
    get, path = "/v1/models", tag = "server",
    responses((status = 200, description = "The models", body = ModelList)),
)]
pub(crate) async fn list_models(State(api): State<Api>) -> Json<ModelList> {
    Json(ModelList { items: api.sessions.models() })
}

/// Gets this description.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "server",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json")),
)]
pub(crate) async fn openapi_json(State(api): State<Api>) -> Json<OpenApi> {
    let mut all = crate::api::openapi();
    all.servers = Some(vec![Server::new(format!("{}/", api.base_path))]);
    Json(all)
}

#[derive(Debug, Deserialize)]
pub(crate) struct AuditQuery {
    #[serde(default)]
    after: u64,
}

/// Gets the audit log: one line of JSON for each decision, chained to the line before.
///
/// A credential that is limited to folders gets only the lines about its sessions, so their chain has gaps.
#[utoipa::path(
    get, path = "/v1/audit", tag = "server",
    params(("after" = Option<u64>, Query, description = "Only lines with a higher number")),
    responses((status = 200, description = "The lines, the oldest first", content_type = "application/x-ndjson")),
)]
pub(crate) async fn audit(
    State(api): State<Api>,
    caller: Caller,
    Query(AuditQuery { after }): Query<AuditQuery>,
) -> Result<Response, Error> {
    let journal = api.sessions.broadcast().journal();
    // The first page is read here, so that a journal error becomes an error response instead of an empty log.
    let first = journal.audit_log(after).await?;
    let start = (Some(first), after, Visibility::new(caller));
    let pages = stream::try_unfold(start, move |(read, after, mut visibility)| {
        let sessions = api.sessions.clone();
        async move {
            let page = match read {
                Some(page) => page,
                None => sessions.broadcast().journal().audit_log(after).await?,
            };
            let Some(last) = page.last().map(|entry| entry.number) else { return Ok(None) };
            let mut lines = Vec::new();
            for entry in &page {
                if visibility.sees_audit_entry(&sessions, entry).await {
                    serde_json::to_writer(&mut lines, entry).map_err(std::io::Error::from)?;
                    lines.push(b'\n');
                }
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some((lines, (None, last, visibility))))
        }
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pages)).into_response())
}
