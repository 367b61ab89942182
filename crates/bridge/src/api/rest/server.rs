//! The server itself: metadata, models and the API description.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_api::{Code, INPUT_BYTES_MAX, Meta, MetaCaller, MetaLimits, ModelList, Scope};
use tidings_journal::limits::LIST_MAX;
use tidings_protocol::mobile::MOBILE_WIRE_VERSION;
use tidings_protocol::ui::UI_WIRE_VERSION;
use tidings_sessions::{Caller, Error};

use crate::api::{Api, PROTOCOL, visibility};
use crate::http::{Answer, Path, Query, openapi};
use crate::limits::{BODY_REQUEST_BYTES_MAX, HEARTBEAT, MESSAGE_BYTES_MAX, SUBSCRIPTIONS_MAX};

/// Gets the versions, capabilities and limits of the server.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/meta", tag = "server",
    responses((status = 200, description = "The server", body = Meta)),
))]
pub(crate) async fn meta(State(api): State<Api>, caller: Caller) -> Json<Meta> {
    let config = api.sessions.config();
    // A journal that fails is reported by other routes.
    let storage_full = api.sessions.broadcast().journal().check_room().await.unwrap_or_default();
    // A loss names a session, and a limited caller may not see it.
    let losses =
        if caller.folders.is_empty() { api.sessions.broadcast().journal().losses() } else { Vec::new() };
    let damage = losses.iter().map(ToString::to_string).collect();
    let mut capabilities = vec!["rest", "sse", "websocket", "dialect:native", "dialect:ui", "dialect:mobile"];
    capabilities.push("dialect:frames");
    if config.allow_bypass {
        capabilities.push("bypass");
    }
    if api.archive.is_some() {
        capabilities.push("archive");
    }
    if api.fleet.is_some() {
        capabilities.push("fleet");
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
        agents: config.agents.iter().map(|agent| agent.name.clone()).collect(),
        storage_full,
        damage,
        you: MetaCaller {
            name: caller.name,
            scopes: scopes.map(|scope| scope.as_str().to_owned()).collect(),
        },
    })
}

#[derive(Debug, Deserialize)]
pub(crate) struct ModelsQuery {
    backend: Option<String>,
}

/// Lists the models that sessions can be switched to: those of Claude Code, or of another agent.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/models", tag = "server",
    params(("backend" = Option<String>, Query, description = "Another agent than Claude Code")),
    responses((status = 200, description = "The models", body = ModelList)),
))]
pub(crate) async fn list_models(
    State(api): State<Api>,
    Query(query): Query<ModelsQuery>,
) -> Answer<ModelList> {
    match query.backend {
        Some(backend) => api.sessions.choices_of_agent(&backend).await.map(Json),
        None => Ok(Json(api.sessions.choices())),
    }
}

/// Lists the models, modes and options that the agent of one session offers.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/models", tag = "sessions",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 200, description = "The models", body = ModelList)),
))]
pub(crate) async fn session_models(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<ModelList> {
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.choices_of(&id).await.map(Json)
}

/// Gets this description.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/openapi.json", tag = "server",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json")),
))]
pub(crate) async fn openapi_json(State(api): State<Api>) -> Answer<Value> {
    let mut all = openapi::document().map_err(|error| {
        tracing::error!(%error, "the embedded description of the API cannot be read");
        Error::new(Code::Internal, "The description of the API cannot be read", "")
    })?;
    all["servers"] = json!([{"url": format!("{}/", api.base_path)}]);
    Ok(Json(all))
}
