//! Pairing codes that every server of the fleet accepts: a code that is made on one can be used on any, once.

use futures_core::future::BoxFuture;
use serde_json::Value;
use tidings_api::{NewDevice, Scope, Scopes};
use tidings_fleet::{ErrorKind, FleetMember, SharedCode};
use tidings_sessions::Error;
use tidings_sessions::secret::Fingerprint;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Fleet, fleet_error};
use crate::auth::{Auth, SharedCodes, TakenCode};

/// The codes of the fleet.
#[derive(Debug)]
pub(super) struct FleetCodes(pub(super) Fleet);

impl SharedCodes for FleetCodes {
    fn take<'a>(
        &'a self,
        code: &'a Fingerprint,
        device: &'a str,
    ) -> BoxFuture<'a, Result<Option<TakenCode>, Error>> {
        Box::pin(async move {
            let Some(used) = self.0.roster().use_code(code.bytes(), device).await.map_err(fleet_error)?
            else {
                return Ok(None);
            };
            let wanted = offered(&used.maker, used.body);
            if wanted.is_none() {
                tracing::warn!(maker = %used.maker.node, "a pairing code offers more rights than its maker has");
            }
            Ok(wanted.map(|wanted| TakenCode { token: used.token, wanted }))
        })
    }
}

/// Shares the codes of this server, and withdraws them when they expire, until it is stopped.
pub(super) async fn share(fleet: &Fleet, auth: &Auth, stop: &CancellationToken) {
    let mut changes = auth.code_changes();
    let mut open: Vec<(SharedCode, Instant)> = Vec::new();
    while !stop.is_cancelled() {
        let change = *changes.borrow_and_update();
        let is_behind = offer(fleet, auth, &mut open).await;
        auth.set_codes_shared(change);
        let (over, rest) = open.into_iter().partition(|(_, until)| *until <= Instant::now());
        open = rest;
        withdraw(fleet, over).await;
        let next = open.iter().map(|(_, until)| *until).min();
        tokio::select! {
            _ = changes.changed() => {}
            () = tokio::time::sleep(tidings_fleet::limits::RETRY_MAX), if is_behind => {}
            () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            () = stop.cancelled() => {}
        }
    }
}

/// Offers new codes; true if some have to wait for a connection.
async fn offer(fleet: &Fleet, auth: &Auth, open: &mut Vec<(SharedCode, Instant)>) -> bool {
    let mut is_behind = false;
    for code in auth.codes_to_share() {
        let body = serde_json::to_value(&code.wanted).unwrap_or_default();
        let Some(member) = fleet.roster().member(fleet.node()) else {
            auth.keep_code_here(&code.code);
            is_behind = true;
            continue;
        };
        if offered(&member, body.clone()).is_none() {
            // Other servers would refuse it: it gives more rights than this server has there.
            auth.keep_code_here(&code.code);
            continue;
        }
        match fleet.roster().share_code(code.code.bytes(), &body, code.left).await {
            Ok(shared) => open.push((shared, Instant::now() + code.left)),
            // Nothing was sent.
            Err(error) if error.kind() == ErrorKind::Disconnected => {
                auth.keep_code_here(&code.code);
                is_behind = true;
            }
            // It may be stored: only the shared state can use it up now.
            Err(error) => tracing::debug!(%error, "a pairing code may not be known to the fleet"),
        }
    }
    is_behind
}

async fn withdraw(fleet: &Fleet, over: Vec<(SharedCode, Instant)>) {
    for (code, _) in over {
        if let Err(error) = fleet.roster().withdraw_code(&code).await {
            tracing::debug!(%error, "an expired pairing code stays in the shared state");
        }
    }
}

/// The device that a code is for, if its maker may give these rights. Rights of a later version are left out.
fn offered(maker: &FleetMember, body: Value) -> Option<NewDevice> {
    let mut wanted: NewDevice = serde_json::from_value(body).ok()?;
    let allowed: Scopes = maker.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
    let scopes: Vec<Scope> = wanted.scopes?.iter().filter_map(|scope| scope.parse().ok()).collect();
    wanted.scopes = Some(scopes.iter().map(|scope| scope.as_str().to_owned()).collect());
    (!scopes.is_empty() && scopes.into_iter().all(|scope| allowed.has(scope))).then_some(wanted)
}

/// True if a device was paired on a server with a code that another one made for a device like it: it may
/// have the rights that its code offers, even if the server that it was paired on has less.
pub(super) async fn is_proven(fleet: &Fleet, from: &FleetMember, device: &Value) -> Result<bool, Error> {
    let text = |key: &str| device.get(key).and_then(Value::as_str);
    let (Some(id), Some(token)) = (text("id"), text("pairing")) else { return Ok(false) };
    let Some(used) = fleet.roster().used_code(token).await.map_err(fleet_error)? else { return Ok(false) };
    if used.user != from.node || used.device != id {
        return Ok(false);
    }
    Ok(offered(&used.maker, used.body).is_some_and(|offered| is_like(device, &offered)))
}

/// True if a device has no more than was offered.
fn is_like(device: &Value, offered: &NewDevice) -> bool {
    let words = |key: &str| -> Vec<&str> {
        let words = device.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        words.iter().filter_map(Value::as_str).collect()
    };
    let has = |scope: &&str| offered.scopes.iter().flatten().any(|offered| offered == scope);
    let lifetime = || {
        let time = |key: &str| device.get(key)?.as_str()?.parse::<jiff::Timestamp>().ok();
        u64::try_from(time("expires")?.as_second() - time("created")?.as_second()).ok()
    };
    let ends = offered.expires_in_s.is_none_or(|max| lifetime().is_some_and(|seconds| seconds <= max));
    words("scopes").iter().all(has) && words("folders") == offered.folders && ends
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn member(scopes: &[&str]) -> FleetMember {
        let key = tidings_fleet::SigningKey::generate().unwrap().public().to_string();
        serde_json::from_value(json!({"node": "one", "key": key, "kind": "node", "scopes": scopes})).unwrap()
    }

    #[test]
    fn a_code_offers_no_more_than_its_maker_has() {
        let offer = |scopes: &[&str]| json!({"scopes": scopes});
        assert!(offered(&member(&["read", "prompt"]), offer(&["read"])).is_some());
        assert!(offered(&member(&["read", "prompt"]), offer(&["read", "decide"])).is_none());
        assert!(offered(&member(&["admin"]), offer(&["read", "decide"])).is_some());
        assert!(offered(&member(&["read"]), json!({})).is_none(), "the rights are named");
        // A right of a later version is left out here.
        let later = offered(&member(&["read"]), offer(&["read", "paint"])).unwrap();
        assert_eq!(later.scopes, Some(vec!["read".to_owned()]));
        assert!(offered(&member(&["read"]), offer(&["paint"])).is_none());
    }

    #[test]
    fn a_device_has_no_more_than_its_code_offered() {
        let offer = json!({"scopes": ["read", "decide"], "folders": ["/shop"], "expires_in_s": 60});
        let offer: NewDevice = serde_json::from_value(offer).unwrap();
        let good = json!({
            "scopes": ["read"], "folders": ["/shop"],
            "created": "2026-01-01T00:00:00Z", "expires": "2026-01-01T00:01:00Z",
        });
        assert!(is_like(&good, &offer));
        for (key, value) in [
            ("scopes", json!(["read", "admin"])),
            ("folders", json!([])),
            ("folders", json!(["/shop", "/"])),
            ("expires", json!("2026-01-01T00:01:01Z")),
            ("expires", json!(null)),
        ] {
            let mut more = good.clone();
            more[key] = value;
            assert!(!is_like(&more, &offer), "{more}");
        }
    }
}
