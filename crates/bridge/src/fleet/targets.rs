//! Targets of notifications in the shared state: one that is added on a server is known on all.
//!
//! They are secrets: the path of a URL is often one, and some have tokens. So they are shared only in a fleet
//! that encrypts. The fleet's admin signs them; a server without the admin's key asks one that has it.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;
use tidings_api::{Code, Scope, Scopes};
use tidings_fleet::FleetMember;
use tidings_sessions::Error;
use tokio_util::sync::CancellationToken;

use super::devices::ask_admin;
use super::server_requests::ServerRequest;
use super::{Fleet, fleet_error};
use crate::notify::{Notifications, SharedTargets, check_shared_target};

/// The kind of their records.
const TARGET: &str = "target";

/// The beginning of their ids here, and in the names of records, which have no `:`.
const HERE: &str = "page:";
const THERE: &str = "page_";

/// The targets of the fleet, for the server's notifications.
#[derive(Debug)]
struct FleetTargets(Fleet);

impl SharedTargets for FleetTargets {
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let id = record_id(id).unwrap_or_default();
            match &self.0.0.join {
                Some(join) => {
                    self.0.roster().put(join.admin(), TARGET, &id, None).await.map_err(fleet_error)?;
                    Ok(())
                }
                None => ask_admin(&self.0, &ServerRequest::RemoveTarget { id }).await,
            }
        })
    }
}

/// Shares the targets of this server and takes those of others, until it is stopped.
pub(super) async fn share(fleet: &Fleet, notifications: &Notifications, stop: &CancellationToken) {
    notifications.set_shared_targets(Arc::new(FleetTargets(fleet.clone())));
    let mut records = fleet.roster().changes();
    let mut own = notifications.target_changes();
    let mut is_behind = true;
    let mut last = None;
    while !stop.is_cancelled() {
        if is_behind {
            let published = publish(fleet, notifications).await;
            is_behind = published
                .inspect_err(|error| tracing::debug!(%error, "the targets of this server are not shared yet"))
                .is_err();
        }
        let now = (known(fleet), fleet.roster().removed(TARGET));
        if last.as_ref() != Some(&now) {
            let removed: Vec<String> = now.1.iter().filter_map(|id| own_id(id)).collect();
            match notifications.set_shared(now.0.clone(), &removed).await {
                Ok(()) => last = Some(now),
                Err(error) => tracing::warn!(%error, "failed to take the targets of the fleet"),
            }
        }
        tokio::select! {
            _ = records.changed() => {}
            _ = own.changed() => is_behind = true,
            () = tokio::time::sleep(tidings_fleet::limits::RETRY_MAX), if is_behind => {}
            () = stop.cancelled() => {}
        }
    }
}

fn known(fleet: &Fleet) -> Vec<(String, Value)> {
    let records = fleet.roster().records(TARGET).into_iter();
    let mut known: Vec<(String, Value)> =
        records.filter_map(|(id, record)| Some((own_id(&id)?, record.body))).collect();
    known.sort_by(|a, b| a.0.cmp(&b.0));
    known
}

/// Publishes targets of this server that the fleet does not know.
async fn publish(fleet: &Fleet, notifications: &Notifications) -> Result<(), Error> {
    for (id, target) in notifications.own_targets().await? {
        let Some(record) = record_id(&id) else { continue };
        if fleet.roster().record(TARGET, &record).is_some() {
            continue;
        }
        if !fleet.is_encrypted() {
            let why = "Only this server uses it: the fleet has no key to encrypt it (`tidings fleet init --encrypt`)";
            notifications.keep_target_here(&id, why);
            continue;
        }
        let shared = match &fleet.0.join {
            Some(join) => {
                let stored = fleet.roster().put(join.admin(), TARGET, &record, Some(target)).await;
                stored.map(drop).map_err(fleet_error)
            }
            None => ask_admin(fleet, &ServerRequest::AddTarget { id: record, target }).await,
        };
        match shared {
            Err(error) if !error.code().is_retryable() => {
                notifications
                    .keep_target_here(&id, &format!("Only this server uses it: {}", error.message()));
            }
            shared => shared?,
        }
    }
    Ok(())
}

/// Signs a target of another server.
pub(super) async fn add_for(fleet: &Fleet, from: &FleetMember, id: &str, target: Value) -> Result<(), Error> {
    let join = fleet.join()?;
    let has_button = check_shared_target(&target)?;
    check_rights(from, has_button)?;
    if !fleet.is_encrypted() {
        return Err(Error::new(Code::Forbidden, "The fleet has no key to encrypt a target", ""));
    }
    if fleet.roster().record(TARGET, id).is_some() {
        return Err(Error::new(Code::Conflict, "There is such a target, or there was", "add it again"));
    }
    fleet.roster().put(join.admin(), TARGET, id, Some(target)).await.map_err(fleet_error)?;
    Ok(())
}

/// Removes a target for another server.
pub(super) async fn remove_for(fleet: &Fleet, from: &FleetMember, id: &str) -> Result<(), Error> {
    check_rights(from, false)?;
    let admin = fleet.join()?.admin().clone();
    fleet.roster().put(&admin, TARGET, id, None).await.map_err(fleet_error)?;
    Ok(())
}

/// A target makes every server send messages, so only servers that may change rules there add and remove
/// them. The button that allows is a decision on top of that.
fn check_rights(from: &FleetMember, has_button: bool) -> Result<(), Error> {
    let scopes: Scopes = from.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
    if scopes.has(Scope::Always) && (!has_button || scopes.has(Scope::Decide)) {
        return Ok(());
    }
    let message = format!("`{}` does not have the rights for targets of the whole fleet", from.node);
    Err(Error::new(Code::Forbidden, message, "add it on the server that created the fleet"))
}

fn record_id(id: &str) -> Option<String> {
    id.strip_prefix(HERE).map(|rest| format!("{THERE}{rest}"))
}

fn own_id(record: &str) -> Option<String> {
    record.strip_prefix(THERE).map(|rest| format!("{HERE}{rest}"))
}
