//! The signed values that a node knows. They outlive the bucket: a node writes those that a deleted, purged
//! or replaced bucket lacks, and its caller keeps them across restarts.

use std::collections::{HashMap, HashSet};

use async_nats::jetstream::kv::Store;

use crate::limits::{CALL_MAX, RECORDS_MAX};
use crate::link::bounded;

use super::heads::HEAD;
use super::lease::LEASE;
use super::member::MEMBER;
use super::{Roster, RosterState};

/// Signed values by their key in the bucket, each with the number of its change.
#[derive(Default)]
pub(super) struct SignedValues {
    values: HashMap<String, (Vec<u8>, u64)>,
    changes: u64,
}

impl SignedValues {
    pub(super) fn keep(&mut self, key: &str, value: &[u8]) {
        let is_known = self.values.get(key).is_some_and(|(known, _)| known == value);
        let has_room = self.values.len() < RECORDS_MAX * 2 || self.values.contains_key(key);
        if !is_known && has_room {
            self.changes += 1;
            self.values.insert(key.to_owned(), (value.to_owned(), self.changes));
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&[u8]> {
        self.values.get(key).map(|(value, _)| value.as_slice())
    }
}

impl Roster {
    /// The signed values that have changed after a number, and the number to go on from.
    pub fn values_after(&self, number: u64) -> (Vec<(String, Vec<u8>)>, u64) {
        let state = self.0.state.lock();
        let changed = state.values.values.iter().filter(|(_, (_, change))| *change > number);
        (changed.map(|(key, (value, _))| (key.clone(), value.clone())).collect(), state.values.changes)
    }

    /// Takes signed values of an earlier run. One that cannot be verified any more is left out.
    pub fn take_values(&self, mut values: Vec<(String, Vec<u8>)>) {
        // Members sign leases and heads.
        values.sort_by_key(|(key, _)| !key.starts_with(MEMBER));
        for (key, value) in values {
            if let Err(error) = self.verify_signed(&key, &value, 0) {
                tracing::debug!(key, %error, "a value of the fleet is not taken from the last run");
            }
        }
    }

    /// Keeps a value until the membership of its signer comes.
    pub(super) fn wait_for_member(&self, key: &str, value: &[u8]) {
        let mut state = self.0.state.lock();
        if state.early.len() < RECORDS_MAX {
            state.early.insert(key.to_owned(), value.to_owned());
        }
    }

    /// Writes known values that the bucket lacks.
    pub(super) async fn refill(&self, store: &Store, seen: &HashSet<String>) {
        let missing: Vec<(String, Vec<u8>)> = {
            let state: &RosterState = &self.0.state.lock();
            let missing = state.values.values.iter().filter(|(key, _)| !seen.contains(*key));
            missing.map(|(key, (value, _))| (key.clone(), value.clone())).collect()
        };
        let mut written = 0;
        for (key, value) in missing.into_iter().filter(|(key, _)| self.may_write(key)) {
            match bounded("fill the shared state", CALL_MAX, store.update(&key, value.into(), 0)).await {
                Ok(Ok(_)) => written += 1,
                // Another node may have written it.
                Ok(Err(error)) => tracing::debug!(key, %error, "a value of the fleet is not written again"),
                Err(error) => return tracing::debug!(key, %error, "filling the shared state is interrupted"),
            }
        }
        if written > 0 {
            tracing::warn!(written, "the shared state of the fleet had lost values, and is filled again");
        }
    }

    /// True if the NATS account of this node lets it write a key.
    fn may_write(&self, key: &str) -> bool {
        let own = format!("{HEAD}.{}.", self.0.link.identity().node);
        self.0.link.api_prefix().is_none() || key.starts_with(LEASE) || key.starts_with(&own)
    }
}
