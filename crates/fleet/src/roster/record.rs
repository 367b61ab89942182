//! Records that the fleet's admin signs: members, devices and targets of notifications.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ErrorKind, FleetError};
use crate::keys::SigningKey;
use crate::limits::{CALL_MAX, RECORDS_MAX};
use crate::link::bounded;

use super::heartbeat::HeardAt;
use super::member::MEMBER;
use super::{Roster, unreadable};

/// Kinds of records.
pub(super) const RECORD_KINDS: [&str; 3] = [MEMBER, "device", "target"];

/// The purpose of their signatures.
const RECORD: &str = "record";

/// The key of a fleet's admin.
#[derive(Debug, Clone)]
pub struct Admin(pub Arc<SigningKey>);

/// A value that the fleet's admin has signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosterRecord {
    /// Its version; a lower one than a known one is refused.
    pub version: u64,
    /// True if it was removed.
    #[serde(default)]
    pub removed: bool,
    /// Its content.
    #[serde(default)]
    pub body: Value,
    /// Parts that a later version has added.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl RosterRecord {
    /// The record that replaces one; without a body it is removed.
    fn after(before: Option<&RosterRecord>, body: Option<Value>) -> Self {
        RosterRecord {
            version: before.map_or(1, |before| before.version + 1),
            removed: body.is_none(),
            body: body.unwrap_or_default(),
            unknown: before.map(|before| before.unknown.clone()).unwrap_or_default(),
        }
    }
}

impl Roster {
    /// A record, also if it was removed.
    pub fn record(&self, kind: &str, id: &str) -> Option<RosterRecord> {
        let state = self.0.state.lock();
        state.records.get(&(kind.to_owned(), id.to_owned())).map(|(record, _)| record.clone())
    }

    /// The records of a kind that were not removed, with their ids.
    pub fn records(&self, kind: &str) -> Vec<(String, RosterRecord)> {
        let state = self.0.state.lock();
        let of_kind =
            state.records.iter().filter(|((found, _), (record, _))| found == kind && !record.removed);
        of_kind.map(|((_, id), (record, _))| (id.clone(), record.clone())).collect()
    }

    /// The ids of records of a kind that were removed.
    pub fn removed(&self, kind: &str) -> Vec<String> {
        let state = self.0.state.lock();
        let of_kind =
            state.records.iter().filter(|((found, _), (record, _))| found == kind && record.removed);
        of_kind.map(|((_, id), _)| id.clone()).collect()
    }

    /// Signs and stores a record; without a body it is removed. Returns the signed value.
    pub async fn put(
        &self,
        admin: &Admin,
        kind: &str,
        id: &str,
        body: Option<Value>,
    ) -> Result<Vec<u8>, FleetError> {
        self.change(admin, kind, id, |_| body.clone()).await
    }

    /// Signs and stores the record that follows the present one.
    pub(super) async fn change(
        &self,
        admin: &Admin,
        kind: &str,
        id: &str,
        body: impl Fn(Option<&RosterRecord>) -> Option<Value>,
    ) -> Result<Vec<u8>, FleetError> {
        let doing = "store a record in the fleet";
        let store = self.0.link.bucket().await?;
        let key = key_of_record(kind, id)?;
        let identity = self.0.link.identity();
        for _ in 0..5 {
            let found = bounded(doing, CALL_MAX, store.entry(key.clone())).await?;
            let found = found.map_err(|error| FleetError::server(doing, error))?;
            if let Some(entry) = &found {
                self.take(entry, HeardAt::Unknown);
            }
            let before = self.record(kind, id);
            let record = RosterRecord::after(before.as_ref(), body(before.as_ref()));
            let revision = found.map_or(0, |entry| entry.revision);
            let value = serde_json::to_vec(&record).unwrap_or_default();
            let sealed = identity.seal(&admin.0, RECORD, &[kind.as_bytes(), id.as_bytes()], &value)?;
            let stored = store.update(key.clone(), sealed.clone().into(), revision);
            match bounded(doing, CALL_MAX, stored).await? {
                Ok(revision) => {
                    self.keep(kind, id, record, revision, &sealed);
                    return Ok(sealed);
                }
                Err(error) => {
                    tracing::debug!(%error, key, "a record of the fleet was changed by another node");
                }
            }
        }
        let hint = "try again in a moment";
        Err(FleetError::new(ErrorKind::Conflict, format!("Failed to {doing}: `{key}`"), hint))
    }

    /// Reads a signed value that did not come from the bucket.
    pub(crate) fn accept(&self, kind: &str, id: &str, sealed: &[u8]) -> Result<RosterRecord, FleetError> {
        let record = self.opened_record(kind, id, sealed)?;
        self.keep(kind, id, record.clone(), 0, sealed);
        Ok(record)
    }

    /// Takes a record from the bucket.
    pub(super) fn hear_record(
        &self,
        kind: &str,
        id: &str,
        value: &[u8],
        revision: u64,
    ) -> Result<(), FleetError> {
        let record = self.opened_record(kind, id, value)?;
        self.keep(kind, id, record, revision, value);
        Ok(())
    }

    /// A record that the fleet's admin has signed.
    fn opened_record(&self, kind: &str, id: &str, sealed: &[u8]) -> Result<RosterRecord, FleetError> {
        let identity = self.0.link.identity();
        let value = identity.open(&identity.admin, RECORD, &[kind.as_bytes(), id.as_bytes()], sealed)?;
        serde_json::from_slice(&value).map_err(|_| unreadable())
    }

    /// Keeps a record, unless a newer one is known.
    fn keep(&self, kind: &str, id: &str, record: RosterRecord, revision: u64, sealed: &[u8]) {
        let mut state = self.0.state.lock();
        let key = (kind.to_owned(), id.to_owned());
        let known = state.records.get(&key).map(|(known, _)| known.version);
        if known.is_some_and(|known| known > record.version) {
            drop(state);
            self.0.link.counters().refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(kind, id, "an old record of the fleet is refused");
            return self.note_damage(&format!("{kind}.{id}"), revision);
        }
        if known == Some(record.version) {
            if let Some((_, known)) = state.records.get_mut(&key) {
                *known = revision.max(*known);
            }
            return;
        }
        if known.is_none() && state.records.len() >= RECORDS_MAX {
            return tracing::warn!(kind, id, "the fleet has too many records");
        }
        state.damaged.remove(&key);
        state.records.insert(key, (record, revision));
        state.values.keep(&format!("{kind}.{id}"), sealed);
        let early = if kind == MEMBER { std::mem::take(&mut state.early) } else { HashMap::new() };
        drop(state);
        for (key, value) in early {
            drop(self.verify_signed(&key, &value, 0));
        }
        self.note_change();
    }
}

fn key_of_record(kind: &str, id: &str) -> Result<String, FleetError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if id.is_empty() || id.len() > 128 || !id.chars().all(is_plain) {
        let message = format!("Not an id of a record: `{}`", id.escape_debug());
        return Err(FleetError::new(ErrorKind::Invalid, message, ""));
    }
    Ok(format!("{kind}.{id}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_of_a_later_version_keeps_its_fields_when_it_is_replaced() {
        let text = json!({"version": 4, "body": {"a": 1}, "reason": "moved"});
        let before: RosterRecord = serde_json::from_value(text).unwrap();
        let after = serde_json::to_value(RosterRecord::after(Some(&before), Some(json!({"a": 2})))).unwrap();
        assert_eq!(after, json!({"version": 5, "removed": false, "body": {"a": 2}, "reason": "moved"}));
        let removed = RosterRecord::after(Some(&before), None);
        assert!(removed.removed && removed.version == 5);
    }
}
