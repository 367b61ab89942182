//! Devices of the fleet: one that is paired with a server works on all, and one that is revoked on none.
//!
//! The fleet's admin signs devices. A server without the admin's key asks one that has it, and gets no more
//! rights for a device than its own membership has.

use serde_json::Value;
use tidings_fleet::{Member, Name};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::outgoing::ServerRequest;
use super::{Fleet, pairing};
use crate::auth::Auth;
use crate::caller::{Scope, Scopes};
use crate::error::{Code, Error};

/// The kind of their records.
const DEVICE: &str = "device";

/// Shares the devices of this server and takes those of others, until it is stopped.
pub(super) async fn share(fleet: &Fleet, auth: &Auth, stop: &CancellationToken) {
    let mut records = fleet.roster().changes();
    let mut own = auth.device_changes();
    let mut revoked = auth.revoked().subscribe();
    let mut is_behind = true;
    while !stop.is_cancelled() {
        take(fleet, auth);
        if is_behind {
            is_behind = publish(fleet, auth)
                .await
                .inspect_err(|error| {
                    tracing::debug!(%error, "the devices of this server are not shared yet");
                })
                .is_err();
        }
        tokio::select! {
            _ = records.changed() => {}
            _ = own.changed() => is_behind = true,
            id = revoked.recv() => match id {
                Ok(id) => revoke(fleet, &id).await,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            () = tokio::time::sleep(tidings_fleet::limits::RETRY_MAX), if is_behind => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Takes the devices that the fleet's admin signed, and drops those that were removed.
fn take(fleet: &Fleet, auth: &Auth) {
    let known = fleet.roster().records(DEVICE).into_iter().map(|(_, record)| record.body).collect();
    auth.set_shared(known, &fleet.roster().removed(DEVICE));
}

/// Publishes devices of this server that the fleet does not know.
async fn publish(fleet: &Fleet, auth: &Auth) -> Result<(), Error> {
    for (id, device) in auth.device_records() {
        if fleet.roster().record(DEVICE, &id).is_some() {
            continue;
        }
        let code = device.get("pairing").and_then(Value::as_str).map(str::to_owned);
        match &fleet.0.join {
            Some(join) => drop(fleet.roster().put(join.admin(), DEVICE, &id, Some(device)).await?),
            None => ask_admin(fleet, &ServerRequest::AddDevice { device }).await?,
        }
        if let Some(code) = code {
            // A note that stays behind has no effect.
            drop(fleet.roster().forget_code(&code).await);
        }
    }
    Ok(())
}

async fn revoke(fleet: &Fleet, id: &str) {
    if fleet.roster().record(DEVICE, id).is_none_or(|record| record.removed) {
        return;
    }
    let done = match &fleet.0.join {
        Some(_) => revoke_for(fleet, id).await,
        None => ask_admin(fleet, &ServerRequest::RevokeDevice { id: id.to_owned() }).await,
    };
    if let Err(error) = done {
        tracing::warn!(%error, id, "a device is revoked on this server, and not yet in the fleet");
    }
}

/// Signs a device of another server.
pub(super) async fn add_for(fleet: &Fleet, from: &Member, device: Value) -> Result<(), Error> {
    let join = fleet.join()?;
    let text = |key: &str| device.get(key).and_then(Value::as_str);
    let id = text("id").ok_or_else(|| Error::new(Code::Invalid, "The device has no id", ""))?.to_owned();
    let wanted = device.get("scopes").and_then(Value::as_array).cloned().unwrap_or_default();
    let allowed: Scopes = from.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
    let is_allowed = |scope: &Value| match scope.as_str().map(|word| (word, word.parse::<Scope>())) {
        Some((_, Ok(scope))) => allowed.has(scope),
        // A scope of a later version.
        Some((word, Err(_))) => from.scopes.iter().any(|scope| scope == word),
        None => false,
    };
    if !wanted.iter().all(is_allowed) && !pairing::is_proven(fleet, from, &device).await? {
        let message = format!("A device of `{}` would have more rights than the server itself", from.node);
        return Err(Error::new(Code::Forbidden, message, "pair it with the server that created the fleet"));
    }
    if fleet.roster().record(DEVICE, &id).is_some() {
        return Err(Error::new(Code::Conflict, "There is such a device, or there was", "pair it again"));
    }
    fleet.roster().put(join.admin(), DEVICE, &id, Some(device)).await?;
    Ok(())
}

/// Removes a device from the fleet.
pub(super) async fn revoke_for(fleet: &Fleet, id: &str) -> Result<(), Error> {
    let admin = fleet.join()?.admin().clone();
    fleet.roster().put(&admin, DEVICE, id, None).await?;
    Ok(())
}

/// Sends a request to a server that has the admin's key.
pub(super) async fn ask_admin(fleet: &Fleet, request: &ServerRequest) -> Result<(), Error> {
    let is_admin = |member: &Member| member.scopes.iter().any(|scope| scope == Scope::Admin.as_str());
    let admins: Vec<Name> = fleet.roster().members().into_iter().filter(is_admin).map(|it| it.node).collect();
    let mut refused = Error::new(Code::Unavailable, "No server with the admin's key is connected", "");
    for node in admins {
        match fleet.ask(&node, request).await {
            Ok(reply) if reply.status < 300 => return Ok(()),
            Ok(reply) => {
                let unclear = || Error::new(Code::Forbidden, format!("`{node}` refused: {}", reply.status), "");
                refused = reply.problem().unwrap_or_else(unclear);
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
