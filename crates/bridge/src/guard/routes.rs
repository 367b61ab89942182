//! Devices, codes and trust over HTTP.

use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use tidings_protocol::api::{
    CredentialKind, DeviceList, FolderTrust, NewCredential, NewDevice, PairRequest, PairingCode, TrustRequest,
};

use super::gate::Called;
use super::pairing::CODE_LIFETIME;
use super::{Guard, cookie};
use crate::caller::{Caller, Scope};
use crate::doors::route::{Route, route};
use crate::doors::scope::needs_later;
use crate::doors::{Path, Query, idempotency_key};
use crate::error::{Code, Error};
use crate::limits::BODY_REQUEST_BYTES_MAX;

/// What belongs to the guard itself.
pub(crate) fn routes() -> Vec<Route<Guard>> {
    let own = [
        route!(pair),
        needs_later(Scope::Admin, route!(make_code)),
        needs_later(Scope::Admin, route!(list)),
        needs_later(Scope::Admin, route!(add)),
        needs_later(Scope::Admin, route!(revoke)),
        needs_later(Scope::Admin, route!(show_trust)),
        needs_later(Scope::Admin, route!(set_trust)),
    ];
    own.map(|route| route.bounded(DefaultBodyLimit::max(BODY_REQUEST_BYTES_MAX))).into()
}

type Answer = Result<Response, Error>;

/// A device that has a one-time code gets its credential.
#[utoipa::path(post, path = "/v1/pair", tag = "devices", request_body = PairRequest,
    responses((status = 201, description = "The device, and its credential where it is no cookie", body = NewCredential),
        (status = 401, description = "The code is not good")))]
async fn pair(
    State(guard): State<Guard>,
    Extension(called): Extension<Called>,
    Json(request): Json<PairRequest>,
) -> Answer {
    let kind = request.credential;
    let asked = guard.clone();
    let (device, secret) = blocking(move || asked.pair(&request.code, request.name.as_deref())).await?;
    tracing::info!(device = device.id, name = device.name, "a device was paired");
    let cookie = cookie::set(&guard.0.cookie, &secret, &guard.settings().base_path, called.scheme);
    let token = (kind == CredentialKind::Token).then(|| secret.reveal().to_owned());
    let mut response = (StatusCode::CREATED, Json(NewCredential { device, token })).into_response();
    if let (CredentialKind::Cookie, Ok(cookie)) = (kind, HeaderValue::from_str(&cookie)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Makes a one-time code.
#[utoipa::path(post, path = "/v1/pair/codes", tag = "devices", request_body = NewDevice,
    responses((status = 201, description = "The code", body = PairingCode)))]
async fn make_code(State(guard): State<Guard>, caller: Caller, Json(wanted): Json<NewDevice>) -> Answer {
    caller.require(Scope::Admin)?;
    check_reach(&caller, &wanted)?;
    let code = guard.pairing_code(wanted)?;
    let (link, expires_in_s) = (guard.link(&code), CODE_LIFETIME.as_secs());
    let code = PairingCode { code: code.reveal().to_owned(), link, expires_in_s };
    Ok((StatusCode::CREATED, Json(code)).into_response())
}

/// Lists devices.
#[utoipa::path(get, path = "/v1/devices", tag = "devices",
    responses((status = 200, description = "The devices", body = DeviceList)))]
async fn list(State(guard): State<Guard>, caller: Caller) -> Answer {
    caller.require(Scope::Admin)?;
    Ok(Json(DeviceList { items: guard.devices() }).into_response())
}

/// Makes a device and its credential, which is in the answer and nowhere else.
#[utoipa::path(post, path = "/v1/devices", tag = "devices", request_body = NewDevice,
    params(("Idempotency-Key" = Option<String>, Header, description = "Sent again within ten minutes, it makes no second device")),
    responses((status = 201, description = "The device and its credential", body = NewCredential)))]
async fn add(
    State(guard): State<Guard>,
    caller: Caller,
    headers: HeaderMap,
    Json(wanted): Json<NewDevice>,
) -> Answer {
    caller.require(Scope::Admin)?;
    check_reach(&caller, &wanted)?;
    // Each caller has ids of its own.
    let id = idempotency_key(&headers)?.map(|id| format!("{}\n{id}", caller.device.unwrap_or_default()));
    let made = blocking(move || match id {
        Some(id) => guard.add_device_once(&id, wanted),
        None => guard.add_device(wanted),
    });
    let (device, secret) = made.await?;
    let token = Some(secret.reveal().to_owned());
    Ok((StatusCode::CREATED, Json(NewCredential { device, token })).into_response())
}

/// Ends the credential of a device, and closes what it holds open. A device may revoke itself.
#[utoipa::path(delete, path = "/v1/devices/{id}", tag = "devices",
    params(("id" = String, Path, description = "The id of the device")),
    responses((status = 204, description = "It is out"), (status = 404, description = "There is no such device")))]
async fn revoke(State(guard): State<Guard>, caller: Caller, Path(device): Path<String>) -> Answer {
    if caller.device.as_deref() != Some(&device) {
        caller.require(Scope::Admin)?;
    }
    blocking(move || guard.revoke(&device)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Debug, Deserialize)]
struct Folder {
    folder: String,
}

/// What a folder would have the agent run, and whether somebody has agreed to it.
#[utoipa::path(get, path = "/v1/trust", tag = "trust",
    params(("folder" = String, Query, description = "The folder")),
    responses((status = 200, description = "What the folder brings", body = FolderTrust)))]
async fn show_trust(
    State(guard): State<Guard>,
    caller: Caller,
    Query(Folder { folder }): Query<Folder>,
) -> Answer {
    caller.require(Scope::Admin)?;
    let view = blocking(move || guard.trust().view(folder.as_ref())).await?;
    Ok(Json(view).into_response())
}

/// Agrees to what a folder brings, as it was shown; or takes that back.
#[utoipa::path(post, path = "/v1/trust", tag = "trust", request_body = TrustRequest,
    responses((status = 200, description = "What was agreed to", body = FolderTrust),
        (status = 409, description = "The folder has changed since")))]
async fn set_trust(State(guard): State<Guard>, caller: Caller, Json(request): Json<TrustRequest>) -> Answer {
    caller.require(Scope::Admin)?;
    let view = blocking(move || {
        let folder = request.folder.as_ref();
        match &request.digest {
            Some(digest) => guard.trust().agree(folder, digest)?,
            None => guard.trust().withdraw(folder)?,
        }
        guard.trust().view(folder)
    })
    .await?;
    tracing::info!(
        folder = view.folder,
        digest = view.digest,
        trusted = view.trusted,
        who = caller.name,
        "trust"
    );
    Ok(Json(view).into_response())
}

/// Whoever is limited to some folders gives nobody a credential that reaches further.
fn check_reach(caller: &Caller, wanted: &NewDevice) -> Result<(), Error> {
    let is_inside = !wanted.folders.is_empty() && wanted.folders.iter().all(|folder| caller.sees(folder));
    if caller.folders.is_empty() || is_inside {
        return Ok(());
    }
    let message = "A credential for some folders cannot make one that reaches further";
    Err(Error::new(Code::Forbidden, message, "name folders inside of its own"))
}

/// Runs what waits for the disk where that holds nobody up.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let lost = |_| Error::new(Code::Internal, "The server could not finish", "try again");
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}
