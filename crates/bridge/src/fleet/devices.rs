//! Devices of the fleet: one that is paired with a server works on all, and one that is revoked on none.
//!
//! The fleet's admin signs devices. A server without the admin's key asks one that has it, and gets no more
//! rights for a device than its own membership has.

use serde_json::Value;
use tidings_api::{Code, Scope, Scopes};
use tidings_fleet::{FleetMember, Name};
use tidings_sessions::Error;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::server_requests::ServerRequest;
use super::{Fleet, fleet_error, pairing};
use crate::auth::Auth;

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

/// Publishes devices of this server that the fleet does not know. One that is refused keeps no other back.
async fn publish(fleet: &Fleet, auth: &Auth) -> Result<(), Error> {
    let mut result = Ok(());
    for (id, device) in auth.device_records() {
        if fleet.roster().record(DEVICE, &id).is_some() {
            continue;
        }
        match publish_one(fleet, &id, device).await {
            Err(error) if error.code().is_retryable() => result = Err(error),
            Err(error) => tracing::warn!(%error, id, "a device works on this server only"),
            Ok(()) => {}
        }
    }
    result
}

async fn publish_one(fleet: &Fleet, id: &str, device: Value) -> Result<(), Error> {
    let code = device.get("pairing").and_then(Value::as_str).map(str::to_owned);
    if let Some(join) = &fleet.0.join {
        fleet.roster().put(join.admin(), DEVICE, id, Some(device)).await.map_err(fleet_error)?;
    } else {
        let member = fleet.roster().member(fleet.node()).ok_or_else(|| {
            Error::new(Code::Unavailable, "The membership of this server is not known yet", "")
        })?;
        let limited = limited(&device, &member);
        // The code of another server may offer more rights than this server has.
        let proven = match &code {
            Some(_) => ask_admin(fleet, &ServerRequest::AddDevice { device }).await,
            None => Err(Error::new(Code::Forbidden, "The device has no pairing code of the fleet", "")),
        };
        match proven {
            Err(error) if error.code() == Code::Forbidden => {
                ask_admin(fleet, &ServerRequest::AddDevice { device: limited }).await?;
            }
            proven => proven?,
        }
    }
    if let Some(code) = code {
        // A note that stays behind has no effect.
        drop(fleet.roster().forget_code(&code).await);
    }
    Ok(())
}

/// A device with the rights that this server's membership has, too: it has no others on other servers.
fn limited(device: &Value, member: &FleetMember) -> Value {
    let words = device.get("scopes").and_then(Value::as_array).cloned().unwrap_or_default();
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let known =
        |words: &[&str]| words.iter().filter_map(|word| word.parse::<Scope>().ok()).collect::<Scopes>();
    let own: Vec<&str> = member.scopes.iter().map(String::as_str).collect();
    let both = Vec::from(known(&words).and(known(&own))).into_iter();
    let is_later = |word: &&str| word.parse::<Scope>().is_err() && own.contains(word);
    let later = words.iter().copied().filter(is_later).map(str::to_owned);
    let scopes: Vec<String> = both.map(|scope| scope.as_str().to_owned()).chain(later).collect();
    let mut device = device.clone();
    device["scopes"] = scopes.into();
    device
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
pub(super) async fn add_for(fleet: &Fleet, from: &FleetMember, device: Value) -> Result<(), Error> {
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
    fleet.roster().put(join.admin(), DEVICE, &id, Some(device)).await.map_err(fleet_error)?;
    Ok(())
}

/// Removes a device from the fleet.
pub(super) async fn revoke_for(fleet: &Fleet, id: &str) -> Result<(), Error> {
    let admin = fleet.join()?.admin().clone();
    fleet.roster().put(&admin, DEVICE, id, None).await.map_err(fleet_error)?;
    Ok(())
}

/// Sends a request to a server that has the admin's key.
pub(super) async fn ask_admin(fleet: &Fleet, request: &ServerRequest) -> Result<(), Error> {
    let is_admin = |member: &FleetMember| member.scopes.iter().any(|scope| scope == Scope::Admin.as_str());
    let admins: Vec<Name> = fleet.roster().members().into_iter().filter(is_admin).map(|it| it.node).collect();
    let mut refused = Error::new(Code::Unavailable, "No server with the admin's key is connected", "");
    for node in admins {
        match fleet.ask(&node, request).await {
            Ok(reply) if reply.status < 300 => return Ok(()),
            Ok(reply) => {
                let unclear =
                    || Error::new(Code::Forbidden, format!("`{node}` refused: {}", reply.status), "");
                refused = reply.problem().unwrap_or_else(unclear);
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_device_has_no_more_rights_on_other_servers_than_its_own_server() {
        let key = tidings_fleet::SigningKey::generate().unwrap().public().to_string();
        let scopes = ["read", "prompt", "decide", "paint"];
        let member = json!({"node": "two", "key": key, "kind": "node", "scopes": scopes});
        let member: FleetMember = serde_json::from_value(member).unwrap();
        for (scopes, expected) in [
            (json!(["admin"]), json!(["read", "prompt", "decide"])),
            (json!(["read", "always"]), json!(["read"])),
            (json!(["prompt", "paint", "sing"]), json!(["prompt", "paint"])),
        ] {
            let device = json!({"id": "d", "scopes": scopes, "folders": ["/shop"]});
            let limited = limited(&device, &member);
            assert_eq!(limited, json!({"id": "d", "scopes": expected, "folders": ["/shop"]}));
        }
    }
}
