//! The fleet of this server: its state, invitations, and servers that leave.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::{
    Code, FleetContinue, FleetDrain, FleetInvite, FleetInviteRequest, FleetStatus, FleetStorage,
    FleetStorageMax, Scope, SessionView,
};
use tidings_sessions::{Caller, Error};

use crate::api::Api;
use crate::fleet::{Fleet, MemberKind};
use crate::http::{Answer, Body, Path};

/// Gets the state of the fleet.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/fleet", tag = "fleet",
    responses((status = 200, description = "The fleet", body = FleetStatus))))]
pub(crate) async fn get_fleet(State(api): State<Api>, caller: Caller) -> Answer<FleetStatus> {
    Ok(Json(status(&api, &caller).await?))
}

/// Invites one server to the fleet.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/fleet/invites", tag = "fleet", request_body = FleetInviteRequest,
    responses((status = 200, description = "The invitation", body = FleetInvite))))]
pub(crate) async fn invite_server(
    State(api): State<Api>,
    caller: Caller,
    Body(request): Body<FleetInviteRequest>,
) -> Answer<FleetInvite> {
    let kind = if request.hub { MemberKind::Hub } else { MemberKind::Node };
    let usual = || {
        let all = Scope::ALL.into_iter().filter(|scope| *scope != Scope::Admin);
        all.map(|scope| scope.as_str().to_owned()).collect()
    };
    let scopes: Vec<String> = request.scopes.unwrap_or_else(usual);
    scopes.iter().try_for_each(|scope| scope.parse::<Scope>().map(drop))?;
    let code = fleet(&api)?.invite(kind, scopes)?;
    api.sessions.audit_action(&caller, None, "invited a server to the fleet", "").await;
    Ok(Json(FleetInvite { code }))
}

/// Removes a server from the fleet: its key is refused from now on.
#[cfg_attr(feature = "openapi", utoipa::path(delete, path = "/v1/fleet/nodes/{node}", tag = "fleet",
    params(("node" = String, Path, description = "The name of the server")),
    responses((status = 204, description = "The server is removed"))))]
pub(crate) async fn remove_server(
    State(api): State<Api>,
    caller: Caller,
    Path(node): Path<String>,
) -> Result<StatusCode, Error> {
    fleet(&api)?.remove(&node).await?;
    api.sessions.audit_action(&caller, None, "removed a server from the fleet", &node).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes no new sessions on this server, or takes them again. Running ones go on.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/fleet/drain", tag = "fleet", request_body = FleetDrain,
    responses((status = 200, description = "The fleet", body = FleetStatus))))]
pub(crate) async fn drain_server(
    State(api): State<Api>,
    caller: Caller,
    Body(request): Body<FleetDrain>,
) -> Answer<FleetStatus> {
    let fleet = fleet(&api)?;
    fleet.drain(request.draining);
    let what = if request.draining { "drained the server" } else { "ended draining the server" };
    api.sessions.audit_action(&caller, None, what, fleet.node().as_str()).await;
    Ok(Json(status(&api, &caller).await?))
}

/// Gets the storage of the fleet.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/fleet/storage", tag = "fleet",
    responses((status = 200, description = "The storage", body = FleetStorage))))]
pub(crate) async fn get_storage(State(api): State<Api>) -> Answer<FleetStorage> {
    Ok(Json(fleet(&api)?.storage().await?))
}

/// Sets the bytes that the fleet may store.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/fleet/storage", tag = "fleet", request_body = FleetStorageMax,
    responses((status = 200, description = "The storage", body = FleetStorage))))]
pub(crate) async fn set_storage(
    State(api): State<Api>,
    caller: Caller,
    Body(request): Body<FleetStorageMax>,
) -> Answer<FleetStorage> {
    let storage = fleet(&api)?.set_storage(request.bytes_max).await?;
    let bytes = request.bytes_max.to_string();
    api.sessions.audit_action(&caller, None, "changed the storage of the fleet", &bytes).await;
    Ok(Json(storage))
}

/// Continues a session of a lost server on this one. No other server can continue it afterwards.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/fleet/sessions/{id}/continue", tag = "fleet", request_body = FleetContinue,
    params(("id" = String, Path, description = "The session of the lost server")),
    responses((status = 200, description = "The session that continues it", body = SessionView))))]
pub(crate) async fn continue_session(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Body(request): Body<FleetContinue>,
) -> Answer<SessionView> {
    Ok(Json(fleet(&api)?.continue_here(&api.sessions, &caller, &id, request).await?))
}

async fn status(api: &Api, caller: &Caller) -> Result<FleetStatus, Error> {
    let fleet = fleet(api)?;
    Ok(FleetStatus { projects: fleet.projects(&api.sessions, caller).await?, ..fleet.status() })
}

fn fleet(api: &Api) -> Result<&Fleet, Error> {
    api.fleet.as_ref().ok_or_else(|| {
        let hint = "`tidings fleet init` creates one, and `tidings fleet join` joins one";
        Error::new(Code::NotFound, "This server is in no fleet", hint)
    })
}
