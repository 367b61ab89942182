//! Routes for devices, pairing codes, trust and policies of folders.

use std::path::PathBuf;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, FromRequestParts, State};
use axum::http::header::SET_COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use tidings_api::{
    Code, CredentialKind, Device, DeviceList, FolderDefaults, FolderDefaultsList, FolderPolicyList,
    GrantScopes, NewCredential, NewDevice, PairRequest, PairingCode, Scope, SetFolderPolicy, TrustRequest,
};
use tidings_sessions::{Caller, Error};

use super::devices::{self, plain_name};
use super::peer::Peer;
use super::request_check::RequestScheme;
use super::{Auth, cookie};
use crate::http::route::{Route, route};
use crate::http::scope::needs_later;
use crate::http::{Body, Path, Query, idempotency_key};
use crate::limits::{BODY_REQUEST_BYTES_MAX, CODE_LIFETIME};

/// The routes with the scopes that they need.
pub(crate) fn routes() -> Vec<Route<Auth>> {
    let own = [
        route!(post "/v1/pair", pair),
        needs_later(Scope::Admin, route!(post "/v1/pair/codes", make_code)),
        needs_later(Scope::Admin, route!(get "/v1/devices", list)),
        needs_later(Scope::Admin, route!(post "/v1/devices", add)),
        needs_later(Scope::Admin, route!(patch "/v1/devices/{id}", grant)),
        needs_later(Scope::Admin, route!(delete "/v1/devices/{id}", revoke)),
        needs_later(Scope::Admin, route!(get "/v1/trust", show_trust)),
        needs_later(Scope::Admin, route!(post "/v1/trust", set_trust)),
        needs_later(Scope::Admin, route!(get "/v1/trust/folders", list_trusted)),
        needs_later(Scope::Prompt, route!(get "/v1/defaults", list_defaults)),
        needs_later(Scope::Admin, route!(put "/v1/defaults", set_defaults)),
        needs_later(Scope::Admin, route!(get "/v1/policies", list_policies)),
        needs_later(Scope::Admin, route!(put "/v1/policies", set_policy)),
    ];
    own.map(|route| route.bounded(DefaultBodyLimit::max(BODY_REQUEST_BYTES_MAX))).into()
}

type AuthResult = Result<Response, Error>;

/// A caller with the scope `admin`. The scope is checked before the body or the query is parsed, so errors in
/// those reveal nothing to other callers.
struct Admin(Caller);

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let caller = Caller::from_request_parts(parts, state).await?;
        caller.require(Scope::Admin)?;
        Ok(Admin(caller))
    }
}

/// Exchanges a pairing code for a credential: a cookie, or a token in the response with
/// `"credential":"token"`.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/pair", tag = "devices", request_body = PairRequest,
    responses((status = 201, description = "The device, and its credential unless it is a cookie", body = NewCredential),
        (status = 401, description = "The code is wrong, used or expired"))))]
async fn pair(
    State(auth): State<Auth>,
    Extension(called): Extension<RequestScheme>,
    peer: Option<Extension<Peer>>,
    Body(request): Body<PairRequest>,
) -> AuthResult {
    let kind = request.credential;
    let name = request.name.as_deref().map(plain_name).transpose()?;
    let mut plan = auth.take_code(&request.code).await.inspect_err(|error| {
        if error.code() == Code::Unauthorized {
            auth.audit_failure("pairing failed", &peer.map_or(Peer::Unknown, |Extension(peer)| peer));
        }
    })?;
    plan.name = plan.name.or(name);
    let adding = auth.clone();
    let (device, secret) = blocking(move || adding.add(plan)).await?;
    tracing::info!(device = device.id, name = device.name, "a device was paired");
    auth.audit(&of_device(&device), "device paired", &described(&device), None);
    let cookie = cookie::set(&auth.0.cookie, &secret, &auth.settings().base_path, called.scheme);
    let token = (kind == CredentialKind::Token).then(|| secret.reveal().to_owned());
    let mut response = (StatusCode::CREATED, Json(NewCredential { device, token })).into_response();
    if let (CredentialKind::Cookie, Ok(cookie)) = (kind, HeaderValue::from_str(&cookie)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Creates a pairing code.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/pair/codes", tag = "devices", request_body = NewDevice,
    params(("Idempotency-Key" = Option<String>, Header, description = "A repetition returns the same code while it is valid")),
    responses((status = 201, description = "The code", body = PairingCode))))]
async fn make_code(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    headers: HeaderMap,
    Body(wanted): Body<NewDevice>,
) -> AuthResult {
    let wanted = check_folders(&caller, wanted)?;
    let (code, left) = match command_id(&caller, &headers)? {
        Some(id) => auth.pairing_code_once(&id, wanted)?,
        None => (auth.pairing_code(wanted)?, CODE_LIFETIME),
    };
    auth.audit(&caller, "pairing code made", "", None);
    auth.codes_are_shared().await;
    let (link, expires_in_s) = (auth.link(&code), whole_seconds(left));
    let code = PairingCode { code: code.reveal().to_owned(), link, expires_in_s };
    Ok((StatusCode::CREATED, Json(code)).into_response())
}

/// Lists devices. A credential that is limited to folders sees only devices within these folders.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/devices", tag = "devices",
    responses((status = 200, description = "The devices", body = DeviceList))))]
async fn list(State(auth): State<Auth>, Admin(caller): Admin) -> AuthResult {
    let items = auth.devices().into_iter().filter(|device| may_manage(&caller, &device.folders)).collect();
    Ok(Json(DeviceList { items }).into_response())
}

/// Creates a device and its credential, which only this response contains.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/devices", tag = "devices", request_body = NewDevice,
    params(("Idempotency-Key" = Option<String>, Header, description = "A repetition within ten minutes creates no second device")),
    responses((status = 201, description = "The device and its credential", body = NewCredential))))]
async fn add(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    headers: HeaderMap,
    Body(wanted): Body<NewDevice>,
) -> AuthResult {
    let wanted = check_folders(&caller, wanted)?;
    let id = command_id(&caller, &headers)?;
    let asked = auth.clone();
    let made = blocking(move || match id {
        Some(id) => asked.add_device_once(&id, wanted),
        None => asked.add_device(wanted),
    });
    let (device, secret) = made.await?;
    auth.audit(&caller, "device added", &described(&device), None);
    let token = Some(secret.reveal().to_owned());
    Ok((StatusCode::CREATED, Json(NewCredential { device, token })).into_response())
}

/// Adds scopes to a device. They are valid for its next request or connection.
#[cfg_attr(feature = "openapi", utoipa::path(patch, path = "/v1/devices/{id}", tag = "devices", request_body = GrantScopes,
    params(("id" = String, Path, description = "The id of the device")),
    responses((status = 200, description = "The device", body = Device), (status = 404, description = "No such device"))))]
async fn grant(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    Path(device): Path<String>,
    Body(request): Body<GrantScopes>,
) -> AuthResult {
    let scopes = request.scopes.iter().map(|word| word.parse()).collect::<Result<Vec<Scope>, _>>()?;
    let others = auth.devices().into_iter().filter(|other| !may_manage(&caller, &other.folders));
    if others.map(|other| other.id).any(|other| other == device) {
        return Err(devices::no_device(&device));
    }
    let (asked, id) = (auth.clone(), device.clone());
    let device = blocking(move || asked.grant(&id, scopes.into())).await?;
    auth.audit(&caller, "scopes granted", &described(&device), None);
    Ok(Json(device).into_response())
}

/// Revokes the credential of a device, and closes its connections. A device may revoke itself.
#[cfg_attr(feature = "openapi", utoipa::path(delete, path = "/v1/devices/{id}", tag = "devices",
    params(("id" = String, Path, description = "The id of the device")),
    responses((status = 204, description = "The device is revoked"), (status = 404, description = "No such device"))))]
async fn revoke(State(auth): State<Auth>, caller: Caller, Path(device): Path<String>) -> AuthResult {
    if caller.device.as_deref() != Some(&device) {
        caller.require(Scope::Admin)?;
        let others = auth.devices().into_iter().filter(|other| !may_manage(&caller, &other.folders));
        if others.map(|other| other.id).any(|other| other == device) {
            return Err(devices::no_device(&device));
        }
    }
    let (asked, id) = (auth.clone(), device.clone());
    blocking(move || asked.revoke(&id)).await?;
    auth.audit(&caller, "device revoked", &device, None);
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Debug, Deserialize)]
struct Folder {
    folder: String,
}

/// Gets the commands that a folder would make the agent run, and if they are trusted.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/trust", tag = "trust",
    params(("folder" = String, Query, description = "The folder")),
    responses((status = 200, description = "The commands of the folder", body = tidings_api::FolderTrust))))]
async fn show_trust(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    Query(Folder { folder }): Query<Folder>,
) -> AuthResult {
    let view = blocking(move || auth.trust().view(&check_folder(&caller, &folder)?)).await?;
    Ok(Json(view).into_response())
}

/// Trusts the commands of a folder as they were shown, or withdraws the trust.
#[cfg_attr(feature = "openapi", utoipa::path(post, path = "/v1/trust", tag = "trust", request_body = TrustRequest,
    responses((status = 200, description = "The commands of the folder", body = tidings_api::FolderTrust),
        (status = 409, description = "The folder has changed since it was shown"))))]
async fn set_trust(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    Body(request): Body<TrustRequest>,
) -> AuthResult {
    let (who, asked, asks) = (caller.name.clone(), auth.clone(), caller.clone());
    let done = if request.digest.is_some() { "trust agreed" } else { "trust withdrawn" };
    let view = blocking(move || {
        let folder = check_folder(&asks, &request.folder)?;
        match &request.digest {
            Some(digest) => asked.trust().agree(&folder, digest)?,
            None => asked.trust().withdraw(&folder)?,
        }
        Ok(asked.trust().view_or_missing(&folder))
    })
    .await?;
    auth.audit(&caller, done, &view.folder, Some(&view.digest));
    tracing::info!(folder = view.folder, digest = view.digest, trusted = view.trusted, who, "trust");
    Ok(Json(view).into_response())
}

/// Lists the folders whose commands were approved, with the commands that they have now.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/trust/folders", tag = "trust",
    responses((status = 200, description = "The folders", body = tidings_api::TrustedFolderList))))]
async fn list_trusted(State(auth): State<Auth>, Admin(caller): Admin) -> AuthResult {
    let list = blocking(move || {
        Ok(auth.trust().list(|folder| folder.to_str().is_some_and(|folder| caller.sees(folder))))
    });
    Ok(Json(list.await?).into_response())
}

/// Lists the folders with defaults of new sessions: model, permission mode and policy.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/defaults", tag = "trust",
    responses((status = 200, description = "The defaults", body = FolderDefaultsList))))]
async fn list_defaults(State(auth): State<Auth>, caller: Caller) -> AuthResult {
    caller.require(Scope::Prompt)?;
    let mut items = auth.policies().defaults();
    items.retain(|item| caller.sees(&item.folder));
    Ok(Json(FolderDefaultsList { items }).into_response())
}

/// Sets the defaults of new sessions in a folder and below it; absent ones are removed. The policy is also
/// that of `/v1/policies`.
#[cfg_attr(feature = "openapi", utoipa::path(put, path = "/v1/defaults", tag = "trust", request_body = FolderDefaults,
    responses((status = 200, description = "The defaults of the folder", body = FolderDefaults))))]
async fn set_defaults(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    Body(wanted): Body<FolderDefaults>,
) -> AuthResult {
    let (asked, asks) = (auth.clone(), caller.clone());
    let set = blocking(move || {
        let folder = check_folder(&asks, &wanted.folder)?.display().to_string();
        asked.policies().set_defaults(FolderDefaults { folder, ..wanted })
    })
    .await?;
    let of = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let policy = set.policy.map_or_else(
        || "none".to_owned(),
        |policy| serde_json::to_string(&policy).unwrap_or_default().replace('"', ""),
    );
    let (model, mode) = (of(&set.model), of(&set.permission_mode));
    let done = format!("{}: model {model}, mode {mode}, policy {policy}", set.folder);
    auth.audit(&caller, "defaults set", &done, None);
    tracing::info!(folder = set.folder, who = caller.name, done, "defaults of a folder");
    Ok(Json(set).into_response())
}

/// Lists the folders with a policy for the sessions that people start there themselves.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/v1/policies", tag = "trust",
    responses((status = 200, description = "The policies", body = FolderPolicyList))))]
async fn list_policies(State(auth): State<Auth>, Admin(caller): Admin) -> AuthResult {
    let mut items = auth.policies().list();
    items.retain(|item| caller.sees(&item.folder));
    Ok(Json(FolderPolicyList { items }).into_response())
}

/// Sets the policy for the sessions that people start themselves in a folder and below it, or removes it.
/// Sessions that begin from then on have it; without one it is `ask`.
#[cfg_attr(feature = "openapi", utoipa::path(put, path = "/v1/policies", tag = "trust", request_body = SetFolderPolicy,
    responses((status = 200, description = "The policy that applies there now", body = tidings_api::FolderPolicy),
        (status = 403, description = "The credential has not the scope `admin`"))))]
async fn set_policy(
    State(auth): State<Auth>,
    Admin(caller): Admin,
    Body(request): Body<SetFolderPolicy>,
) -> AuthResult {
    let (asked, asks, policy) = (auth.clone(), caller.clone(), request.policy);
    let set = blocking(move || {
        let folder = check_folder(&asks, &request.folder)?;
        asked.policies().set(&folder, policy)
    })
    .await?;
    let done = match policy {
        Some(_) => format!("policy set to {}", serde_json::to_string(&set.policy).unwrap_or_default()),
        None => "policy removed".to_owned(),
    };
    auth.audit(&caller, &done, &set.folder, None);
    tracing::info!(folder = set.folder, who = caller.name, done, "policy of a folder");
    Ok(Json(set).into_response())
}

/// A device as the caller of an audit log entry.
fn of_device(device: &Device) -> Caller {
    Caller { device: Some(device.id.clone()), ..Caller::admin(device.name.clone()) }
}

/// A device as text for the audit log.
fn described(device: &Device) -> String {
    format!("{} {:?}: {}", device.id, device.name, device.scopes.join(", "))
}

/// Seconds, rounded up.
fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

/// The id of a command, unique per caller.
fn command_id(caller: &Caller, headers: &HeaderMap) -> Result<Option<String>, Error> {
    let id = idempotency_key(headers)?;
    Ok(id.map(|id| format!("{}\n{id}", caller.device.as_deref().unwrap_or_default())))
}

/// The folder, unless it is outside of the folders of the credential. The error does not reveal whether it
/// exists.
fn check_folder(caller: &Caller, folder: &str) -> Result<PathBuf, Error> {
    let named = PathBuf::from(folder);
    if caller.folders.is_empty() {
        return Ok(named);
    }
    let real = named.canonicalize().ok().filter(|real| real.to_str().is_some_and(|real| caller.sees(real)));
    real.ok_or_else(|| {
        let message = format!("`{folder}` is outside the folders that this credential is limited to");
        Error::new(Code::OutsideRoots, message, "pair the device again for this folder")
    })
}

/// True if a caller may see and revoke a device with these folders: all of them are inside the caller's own.
fn may_manage(caller: &Caller, folders: &[String]) -> bool {
    let is_inside = !folders.is_empty() && folders.iter().all(|folder| caller.sees(folder));
    caller.folders.is_empty() || is_inside
}

/// Resolves the folders of a new device, since sessions have resolved paths. Refuses folders outside of the
/// caller's own.
fn check_folders(caller: &Caller, mut wanted: NewDevice) -> Result<NewDevice, Error> {
    for folder in &mut wanted.folders {
        // A folder that does not exist now may be created later.
        if let Ok(Ok(real)) = std::fs::canonicalize(&*folder).map(|real| real.into_os_string().into_string())
        {
            *folder = real;
        }
    }
    if may_manage(caller, &wanted.folders) {
        return Ok(wanted);
    }
    let message = "A credential that is limited to folders cannot create one for other folders";
    Err(Error::new(Code::Forbidden, message, "name folders inside of these folders"))
}

/// Runs a job on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let lost = |_| Error::new(Code::Internal, "The server could not finish", "try again");
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}
