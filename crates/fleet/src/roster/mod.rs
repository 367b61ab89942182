//! The state that all nodes of a fleet share: members, heartbeats and records such as devices.
//!
//! It lives in a key-value bucket. Subject permissions do not keep a node from writing there, so every value
//! carries a signature: the fleet's admin signs members and records, and each node its own heartbeat. A
//! record has a version that only grows, and it is removed by a newer record that says so; a deleted key
//! changes nothing, and the server with the admin's key writes the record again.

mod heartbeat;
mod lease;
mod member;
mod pairing;
mod record;
mod restore;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::kv::{Entry, Operation};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, FleetError};
use crate::keys::random_name;
use crate::limits::{BEAT_LOST, CALL_MAX};
use crate::link::{Link, bounded};
use crate::names::Name;

pub use self::heartbeat::{AuditHead, Beat, Liveness};
use self::heartbeat::{BEAT, HeardAt, HeardBeat};
use self::lease::LEASE;
pub use self::lease::Lease;
pub use self::member::{Member, MemberKind};
use self::pairing::PAIR;
pub use self::pairing::{SharedCode, UsedCode};
use self::record::RECORD_KINDS;
pub use self::record::{Admin, Record};

/// The shared state of a fleet. Handles are cheap to clone.
#[derive(Clone)]
pub struct Roster(Arc<RosterInner>);

struct RosterInner {
    link: Link,
    /// Name of this run.
    run: String,
    state: Mutex<RosterState>,
    changes: watch::Sender<u64>,
    /// Wakes the node that restores records.
    damage: Notify,
}

#[derive(Default)]
struct RosterState {
    /// Records by kind and id, with the revision of the bucket.
    records: HashMap<(String, String), (Record, u64)>,
    beats: HashMap<Name, HeardBeat>,
    /// Leases by session.
    leases: HashMap<String, Lease>,
    /// Leases that came before the membership of their holder, by their key.
    early_leases: HashMap<String, Vec<u8>>,
    /// Pairing codes that were used, each with the time at which this node heard of it.
    used_codes: HashMap<String, Instant>,
    /// Names that are not members, each with the time of the last search.
    strangers: HashMap<Name, Instant>,
    /// Known records that the bucket does not have any more, by kind and id.
    damaged: HashSet<(String, String)>,
}

impl Roster {
    /// The shared state behind a connection.
    pub fn new(link: Link) -> Result<Self, FleetError> {
        let inner = RosterInner {
            link,
            run: random_name()?,
            state: Mutex::default(),
            changes: watch::Sender::new(0),
            damage: Notify::new(),
        };
        Ok(Roster(Arc::new(inner)))
    }

    /// Name of this run of the node.
    pub fn run_name(&self) -> &str {
        &self.0.run
    }

    /// Follows the shared state until it is stopped.
    pub async fn run(&self, stop: CancellationToken) {
        let follow = async {
            loop {
                self.0.link.connected().await;
                if let Err(error) = self.follow().await {
                    tracing::debug!(%error, "reading the shared state of the fleet is interrupted");
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::select! {
            () = follow => {}
            () = stop.cancelled() => {}
        }
    }

    /// Changes whenever a record does.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Follows the bucket until the connection fails.
    async fn follow(&self) -> Result<(), FleetError> {
        let doing = "read the shared state of the fleet";
        let store = self.0.link.bucket().await?;
        let disconnected = self.0.link.disconnected();
        tokio::pin!(disconnected);
        let entries = bounded(doing, CALL_MAX, store.watch_with_history(">")).await?;
        let mut entries = entries.map_err(|error| FleetError::server(doing, error))?;
        let mut is_current = false;
        loop {
            // Without any heartbeat, even our own, and after each connect: begin again.
            let entry = tokio::select! {
                entry = tokio::time::timeout(BEAT_LOST, entries.next()) => entry,
                () = &mut disconnected => return Err(FleetError::disconnected()),
            };
            let Ok(entry) = entry else { return Err(FleetError::timeout(doing)) };
            let entry = entry.ok_or_else(FleetError::disconnected)?;
            let entry = entry.map_err(|error| FleetError::server(doing, error))?;
            let heard = if is_current { HeardAt::Now } else { HeardAt::Unknown };
            is_current = is_current || entry.seen_current;
            self.take(&entry, heard);
            if let Some(token) = entry.key.strip_prefix(PAIR).and_then(|rest| rest.strip_prefix('.')) {
                self.hear_code(token, &entry.value).await;
            }
        }
    }

    /// Takes one value of the bucket, if its signature allows it.
    fn take(&self, entry: &Entry, heard: HeardAt) {
        if entry.operation != Operation::Put {
            return self.note_damage(&entry.key, entry.revision);
        }
        if let Err(error) = self.verify(entry, heard) {
            self.0.link.counters().refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(key = entry.key, %error, "a value of the fleet is refused");
            self.note_damage(&entry.key, entry.revision);
        }
    }

    fn verify(&self, entry: &Entry, heard: HeardAt) -> Result<(), FleetError> {
        let (kind, id) = entry.key.split_once('.').ok_or_else(unreadable)?;
        match kind {
            LEASE => self.hear_lease(id, &entry.value),
            BEAT => self.hear_beat(id, entry, heard),
            kind if RECORD_KINDS.contains(&kind) => self.hear_record(kind, id, entry),
            // A later version keeps something there.
            _ => Ok(()),
        }
    }

    /// Tells the receivers of [`changes`](Self::changes) that something has changed.
    fn note_change(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }
}

fn unreadable() -> FleetError {
    FleetError::new(
        ErrorKind::Refused,
        "A value of the fleet cannot be read",
        "the node may have another version",
    )
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roster").field("run", &self.0.run).finish_non_exhaustive()
    }
}
