//! The state that all nodes of a fleet share: members, heartbeats and records such as devices.
//!
//! It lives in a key-value bucket. Subject permissions do not keep a node from writing there, so every value
//! carries a signature: the fleet's admin signs members and records, and each node its own heartbeat. A
//! record has a version that only grows, and it is removed by a newer record that says so; a deleted key
//! changes nothing, and the server with the admin's key writes the record again. A node keeps every value
//! that it knows, and fills a bucket that was deleted, purged or replaced.

mod admin_note;
mod heads;
mod heartbeat;
mod lease;
mod member;
mod pairing;
mod record;
mod refill;
mod restore;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::kv::{Entry, Operation, Store};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, FleetError};
use crate::key_text::random_name;
use crate::limits::{BEAT_LOST, CALL_MAX, LOOK_EVERY};
use crate::link::{FleetLink, bounded};
use crate::names::Name;
use crate::storage::StreamSighting;

use self::admin_note::{FLEET_NOTE, KEY_NOTE};
use self::heads::{HEAD, KnownHeads};
pub use self::heads::{HeadPage, SessionHead, page_of};
pub use self::heartbeat::{AuditHead, Beat, Liveness};
use self::heartbeat::{BEAT, HeardAt, HeardBeat};
use self::lease::LEASE;
pub use self::lease::RosterLease;
pub use self::member::{FleetMember, MemberKind};
use self::pairing::PAIR;
pub use self::pairing::{SharedCode, UsedCode};
use self::record::RECORD_KINDS;
pub use self::record::{Admin, RosterRecord};
use self::refill::SignedValues;

/// The shared state of a fleet. Handles are cheap to clone.
#[derive(Clone)]
pub struct Roster(Arc<RosterInner>);

struct RosterInner {
    link: FleetLink,
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
    records: HashMap<(String, String), (RosterRecord, u64)>,
    beats: HashMap<Name, HeardBeat>,
    /// Leases by session.
    leases: HashMap<String, RosterLease>,
    /// Heads of sessions by their node.
    heads: HashMap<Name, KnownHeads>,
    /// Leases and heads that came before the membership of their node, by their key.
    early: HashMap<String, Vec<u8>>,
    /// Everything above as it was signed.
    values: SignedValues,
    /// True once the bucket was read: until then, records may be those of an earlier run.
    is_read: bool,
    /// Pairing codes that were used, each with the time at which this node heard of it.
    used_codes: HashMap<String, Instant>,
    /// Names that are not members, each with the time of the last search.
    strangers: HashMap<Name, Instant>,
    /// Known records that the bucket does not have any more, by kind and id.
    damaged: HashSet<(String, String)>,
}

impl Roster {
    /// The shared state behind a connection.
    pub fn new(link: FleetLink) -> Result<Self, FleetError> {
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

    /// Follows the bucket until the connection fails, or it is not the bucket that it was.
    async fn follow(&self) -> Result<(), FleetError> {
        let doing = "read the shared state of the fleet";
        let store = self.0.link.bucket().await?;
        let disconnected = self.0.link.disconnected();
        tokio::pin!(disconnected);
        let mut keys = self.0.link.identity().secrets.changes();
        keys.mark_unchanged();
        // The revisions may be those of another bucket.
        self.forget_revisions();
        let mut before = StreamSighting::of(store.stream.cached_info());
        let entries = bounded(doing, CALL_MAX, store.watch_with_history(">")).await?;
        let mut entries = entries.map_err(|error| FleetError::server(doing, error))?;
        let mut seen = HashSet::new();
        let mut is_current = false;
        let mut heard_at = Instant::now();
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            // Without any heartbeat, even our own, and after each connect: begin again.
            let entry = tokio::select! {
                entry = tokio::time::timeout_at(heard_at + BEAT_LOST, entries.next()) => entry,
                _ = look.tick() => {
                    before = self.look_again(&store, &before, seen.len()).await?;
                    continue;
                }
                // Values that could not be read before are read with the new key.
                _ = keys.changed() => return Err(FleetError::timeout(doing)),
                () = &mut disconnected => return Err(FleetError::disconnected()),
            };
            let Ok(entry) = entry else { return Err(FleetError::timeout(doing)) };
            let entry = entry.ok_or_else(FleetError::disconnected)?;
            let entry = entry.map_err(|error| FleetError::server(doing, error))?;
            heard_at = Instant::now();
            let heard = if is_current { HeardAt::Now } else { HeardAt::Unknown };
            seen.insert(entry.key.clone());
            self.take(&entry, heard);
            if let Some(token) = entry.key.strip_prefix(PAIR).and_then(|rest| rest.strip_prefix('.')) {
                self.hear_code(token, &entry.value).await;
            }
            if entry.seen_current && !is_current {
                is_current = true;
                self.0.state.lock().is_read = true;
                self.note_change();
                self.refill(&store, &seen).await;
            }
        }
    }

    /// Fails if the bucket is not the one that it was, or has lost keys.
    async fn look_again(
        &self,
        store: &Store,
        before: &StreamSighting,
        keys: usize,
    ) -> Result<StreamSighting, FleetError> {
        let now = self.0.link.sighting(&store.stream).await?;
        if now.continues(before) && now.subjects >= keys as u64 {
            return Ok(now);
        }
        tracing::warn!("the shared state of the fleet was replaced or purged: it is filled again");
        let message = "The shared state of the fleet is not the one that it was";
        Err(FleetError::new(ErrorKind::Server, message, "it is filled again"))
    }

    /// Takes one value of the bucket, if its signature allows it.
    fn take(&self, entry: &Entry, heard: HeardAt) {
        if entry.operation != Operation::Put {
            return self.note_damage(&entry.key, entry.revision);
        }
        let Err(error) = self.verify(entry, heard) else { return };
        if error.kind() == ErrorKind::UnknownKey && self.0.link.identity().secrets.is_waiting() {
            return tracing::debug!(key = entry.key, "a value of the fleet waits for a new key");
        }
        self.0.link.counters().refused.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(key = entry.key, %error, "a value of the fleet is refused");
        self.note_damage(&entry.key, entry.revision);
    }

    fn verify(&self, entry: &Entry, heard: HeardAt) -> Result<(), FleetError> {
        match entry.key.split_once('.').ok_or_else(unreadable)? {
            (BEAT, id) => self.hear_beat(id, entry, heard),
            _ => self.verify_signed(&entry.key, &entry.value, entry.revision),
        }
    }

    /// Takes a value that stays valid until another one replaces it.
    fn verify_signed(&self, key: &str, value: &[u8], revision: u64) -> Result<(), FleetError> {
        let (kind, id) = key.split_once('.').ok_or_else(unreadable)?;
        match kind {
            LEASE => self.hear_lease(id, value),
            HEAD => self.hear_heads(id, value),
            FLEET_NOTE => self.hear_fleet(value),
            KEY_NOTE => self.hear_key(value),
            kind if RECORD_KINDS.contains(&kind) => self.hear_record(kind, id, value, revision),
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
