//! The state that all nodes of a fleet share: members, heartbeats and records such as devices.
//!
//! It lives in a key-value bucket. Subject permissions do not keep a node from writing there, so every value
//! carries a signature: the fleet's admin signs members and records, and each node its own heartbeat. A
//! record has a version that only grows, and it is removed by a newer record that says so; a deleted key
//! changes nothing.

mod lease;
mod pairing;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::kv::{Entry, Operation};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, FleetError};
use crate::keys::{PublicKey, SigningKey, random_name};
use crate::limits::{BEAT_EVERY, BEAT_LOST, CALL_MAX, RECORDS_MAX, STRANGER_FOR, STRANGERS_MAX};
use crate::link::{Link, bounded};
use crate::names::Name;

use self::lease::LEASE;
pub use self::lease::Lease;
use self::pairing::PAIR;
pub use self::pairing::{SharedCode, UsedCode};

const RECORD: &str = "record";
const BEAT: &str = "beat";
const MEMBER: &str = "member";

/// Kinds of records that the fleet's admin signs.
const RECORD_KINDS: [&str; 3] = [MEMBER, "device", "target"];

/// The key of a fleet's admin.
#[derive(Debug, Clone)]
pub struct Admin(pub Arc<SigningKey>);

/// Purpose of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum MemberKind {
    /// It runs agents.
    Node,
    /// It only serves the sessions of others.
    Hub,
    /// A purpose of a later version.
    Other(String),
}

impl MemberKind {
    /// The purpose as a word.
    pub fn as_str(&self) -> &str {
        match self {
            MemberKind::Node => "node",
            MemberKind::Hub => "hub",
            MemberKind::Other(word) => word,
        }
    }
}

impl From<String> for MemberKind {
    fn from(word: String) -> Self {
        match word.as_str() {
            "node" => MemberKind::Node,
            "hub" => MemberKind::Hub,
            _ => MemberKind::Other(word),
        }
    }
}

impl From<MemberKind> for String {
    fn from(kind: MemberKind) -> String {
        kind.as_str().to_owned()
    }
}

/// A member of a fleet, as its admin signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name.
    pub node: Name,
    /// Its key.
    pub key: PublicKey,
    /// Its purpose.
    pub kind: MemberKind,
    /// Rights of its own admin token on other nodes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Parts that a later version has added.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A value that the fleet's admin has signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
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

impl Record {
    /// The record that replaces one; without a body it is removed.
    fn after(before: Option<&Record>, body: Option<Value>) -> Self {
        Record {
            version: before.map_or(1, |before| before.version + 1),
            removed: body.is_none(),
            body: body.unwrap_or_default(),
            unknown: before.map(|before| before.unknown.clone()).unwrap_or_default(),
        }
    }
}

/// A heartbeat of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Beat {
    /// Name of the run of the node's server; each start has another.
    pub run: String,
    /// Time of the start, in milliseconds since the Unix epoch by the node's clock.
    #[serde(default)]
    pub started_ms: i64,
    /// Number of the heartbeat in its run.
    #[serde(default)]
    pub count: u64,
    /// Version of the program.
    pub version: String,
    /// Labels to choose the node by.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Number of agents that run there.
    #[serde(default)]
    pub running: u64,
    /// True if it takes no new sessions.
    #[serde(default)]
    pub draining: bool,
    /// True if it has stopped cleanly.
    #[serde(default)]
    pub stopped: bool,
    /// The end of its audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
}

/// The end of a node's audit log, by which others notice that the log was cut or rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AuditHead {
    /// The number of the last line; 0 if there is none.
    pub number: u64,
    /// The hash of that line, which covers all lines before.
    pub hash: String,
    /// The head before this one, if the log goes on from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<(u64, String)>,
}

/// A node as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liveness {
    /// Its last heartbeat.
    pub beat: Beat,
    /// Time of it, by the clock of the NATS server, in milliseconds since the Unix epoch.
    pub heard_ms: i64,
    /// True if it came recently.
    pub is_reachable: bool,
}

/// The shared state of a fleet. Handles are cheap to clone.
#[derive(Clone)]
pub struct Roster(Arc<RosterInner>);

struct RosterInner {
    link: Link,
    /// Name of this run.
    run: String,
    state: Mutex<RosterState>,
    changes: watch::Sender<u64>,
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
}

struct HeardBeat {
    beat: Beat,
    heard_ms: i64,
    /// None if it was there before this reader, so that nobody knows how old it is.
    at: Option<Instant>,
}

impl Roster {
    /// The shared state behind a connection.
    pub fn new(link: Link) -> Result<Self, FleetError> {
        let inner = RosterInner {
            link,
            run: random_name()?,
            state: Mutex::default(),
            changes: watch::Sender::new(0),
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

    /// Sends a heartbeat in intervals until it is stopped; the last one says that the node has stopped.
    pub async fn beat(&self, beat: impl Fn() -> Beat + Send, stop: CancellationToken) {
        let mut count = 0;
        loop {
            let stopped = stop.is_cancelled();
            count += 1;
            let beat = Beat { run: self.0.run.clone(), count, stopped, ..beat() };
            if let Err(error) = self.send_beat(&beat).await {
                tracing::debug!(%error, "failed to send a heartbeat");
            }
            if stopped {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(BEAT_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// The key of a node, if it is a member. A node that is unknown here is waited for, and looked up in the
    /// bucket then: its membership may be on its way, or this node may have just started.
    pub async fn key_of(&self, node: &Name, wait: Duration) -> Result<Option<PublicKey>, FleetError> {
        let mut changes = self.0.changes.subscribe();
        let deadline = Instant::now() + wait;
        loop {
            changes.borrow_and_update();
            if self.record(MEMBER, node.as_str()).is_some() || self.is_stranger(node) {
                break;
            }
            let waited = tokio::time::timeout_at(deadline, changes.changed()).await;
            if !matches!(waited, Ok(Ok(()))) {
                self.look_up(node).await?;
                break;
            }
        }
        // A removed member stays removed.
        Ok(self.member(node).map(|member| member.key))
    }

    /// Reads a membership from the bucket.
    async fn look_up(&self, node: &Name) -> Result<(), FleetError> {
        let doing = "look for a member of the fleet";
        let store = self.0.link.bucket().await?;
        let found = bounded(doing, CALL_MAX, store.entry(format!("{MEMBER}.{node}"))).await?;
        if let Some(entry) = found.map_err(|error| FleetError::server(doing, error))? {
            self.take(&entry, HeardAt::Unknown);
            return Ok(());
        }
        let mut state = self.0.state.lock();
        if state.strangers.len() >= STRANGERS_MAX {
            state.strangers.clear();
        }
        state.strangers.insert(node.clone(), Instant::now());
        Ok(())
    }

    /// True if a node was searched for lately: whoever invents names holds up no reader.
    fn is_stranger(&self, node: &Name) -> bool {
        self.0.state.lock().strangers.get(node).is_some_and(|at| at.elapsed() < STRANGER_FOR)
    }

    /// A member.
    pub fn member(&self, node: &Name) -> Option<Member> {
        self.record(MEMBER, node.as_str()).filter(|record| !record.removed).as_ref().and_then(member)
    }

    /// All members, by name.
    pub fn members(&self) -> Vec<Member> {
        let mut members: Vec<Member> =
            self.records(MEMBER).iter().filter_map(|(_, body)| member(body)).collect();
        members.sort_by(|a, b| a.node.cmp(&b.node));
        members
    }

    /// The last heartbeat of a node.
    pub fn liveness(&self, node: &Name) -> Option<Liveness> {
        let state = self.0.state.lock();
        let heard = state.beats.get(node)?;
        let is_recent = heard.at.is_some_and(|at| at.elapsed() < BEAT_LOST);
        let is_reachable = is_recent && !heard.beat.stopped;
        Some(Liveness { beat: heard.beat.clone(), heard_ms: heard.heard_ms, is_reachable })
    }

    /// A record that was not removed, or that was.
    pub fn record(&self, kind: &str, id: &str) -> Option<Record> {
        let state = self.0.state.lock();
        state.records.get(&(kind.to_owned(), id.to_owned())).map(|(record, _)| record.clone())
    }

    /// The records of a kind that were not removed, with their ids.
    pub fn records(&self, kind: &str) -> Vec<(String, Record)> {
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

    /// Changes whenever a record does.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Signs and stores a member. Parts of its record that this version does not know stay.
    pub async fn put_member(&self, admin: &Admin, member: &Member) -> Result<Vec<u8>, FleetError> {
        let body = |before: Option<&Record>| {
            let mut member = member.clone();
            for (key, value) in before.and_then(self::member).map(|it| it.unknown).unwrap_or_default() {
                member.unknown.entry(key).or_insert(value);
            }
            serde_json::to_value(member).ok()
        };
        self.change(admin, MEMBER, member.node.as_str(), body).await
    }

    /// Removes a member: its key is refused from now on.
    pub async fn remove_member(&self, admin: &Admin, node: &Name) -> Result<(), FleetError> {
        self.put(admin, MEMBER, node.as_str(), None).await.map(drop)
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
    async fn change(
        &self,
        admin: &Admin,
        kind: &str,
        id: &str,
        body: impl Fn(Option<&Record>) -> Option<Value>,
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
            let record = Record::after(before.as_ref(), body(before.as_ref()));
            let revision = found.map_or(0, |entry| entry.revision);
            let value = serde_json::to_vec(&record).unwrap_or_default();
            let sealed = identity.seal(&admin.0, RECORD, &[kind.as_bytes(), id.as_bytes()], &value)?;
            let stored = store.update(key.clone(), sealed.clone().into(), revision);
            match bounded(doing, CALL_MAX, stored).await? {
                Ok(revision) => {
                    self.keep(kind, id, record, revision);
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

    /// Reads a signed value that came on another way than the bucket.
    pub(crate) fn accept(&self, kind: &str, id: &str, sealed: &[u8]) -> Result<Record, FleetError> {
        let identity = self.0.link.identity();
        let value = identity.open(&identity.admin, RECORD, &[kind.as_bytes(), id.as_bytes()], sealed)?;
        let record: Record = serde_json::from_slice(&value).map_err(|_| unreadable())?;
        self.keep(kind, id, record.clone(), 0);
        Ok(record)
    }

    async fn send_beat(&self, beat: &Beat) -> Result<(), FleetError> {
        let doing = "send a heartbeat";
        let store = self.0.link.bucket().await?;
        let identity = self.0.link.identity();
        let value = serde_json::to_vec(beat).unwrap_or_default();
        let node = identity.node.as_str();
        let sealed = identity.seal(&identity.key, BEAT, &[node.as_bytes()], &value)?;
        let stored = store.put(format!("{BEAT}.{node}"), sealed.into());
        bounded(doing, CALL_MAX, stored).await?.map_err(|error| FleetError::server(doing, error))?;
        Ok(())
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
            return;
        }
        if let Err(error) = self.verify(entry, heard) {
            self.0.link.counters().refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(key = entry.key, %error, "a value of the fleet is refused");
        }
    }

    fn verify(&self, entry: &Entry, heard: HeardAt) -> Result<(), FleetError> {
        let identity = self.0.link.identity();
        let (kind, id) = entry.key.split_once('.').ok_or_else(unreadable)?;
        if kind == LEASE {
            return self.hear_lease(id, &entry.value);
        }
        if RECORD_KINDS.contains(&kind) {
            let fields: [&[u8]; 2] = [kind.as_bytes(), id.as_bytes()];
            let value = identity.open(&identity.admin, RECORD, &fields, &entry.value)?;
            let record = serde_json::from_slice(&value).map_err(|_| unreadable())?;
            self.keep(kind, id, record, entry.revision);
            return Ok(());
        }
        if kind != BEAT {
            // A later version keeps something there.
            return Ok(());
        }
        let node = Name::new(id)?;
        // A heartbeat before the membership is not a fault: the next one comes in a second.
        let Some(member) = self.member(&node) else { return Ok(()) };
        let value = identity.open(&member.key, BEAT, &[id.as_bytes()], &entry.value)?;
        let beat: Beat = serde_json::from_slice(&value).map_err(|_| unreadable())?;
        let at = (heard == HeardAt::Now).then(Instant::now);
        let heard_ms = i64::try_from(entry.created.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
        let mut state = self.0.state.lock();
        let order = |beat: &Beat| (beat.started_ms, beat.count);
        let before = state.beats.get(&node);
        if before.is_some_and(|before| order(&before.beat) >= order(&beat)) {
            // The same one again after a reconnect, or a copy of an earlier one.
            return Ok(());
        }
        let is_news = before.is_none_or(|before| {
            let is_late = before.at.is_none_or(|at| at.elapsed() >= BEAT_LOST);
            let same = Beat { count: before.beat.count, ..beat.clone() };
            is_late || before.beat != same
        });
        state.beats.insert(node, HeardBeat { beat, heard_ms, at });
        drop(state);
        if is_news {
            self.0.changes.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// Keeps a record, unless a newer one is known.
    fn keep(&self, kind: &str, id: &str, record: Record, revision: u64) {
        let mut state = self.0.state.lock();
        let key = (kind.to_owned(), id.to_owned());
        let known = state.records.get(&key).map(|(known, _)| known.version);
        if known.is_some_and(|known| known >= record.version) {
            if known.is_some_and(|known| known > record.version) {
                self.0.link.counters().refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(kind, id, "an old record of the fleet is refused");
            }
            return;
        }
        if known.is_none() && state.records.len() >= RECORDS_MAX {
            return tracing::warn!(kind, id, "the fleet has too many records");
        }
        state.records.insert(key, (record, revision));
        let early = if kind == MEMBER { std::mem::take(&mut state.early_leases) } else { HashMap::new() };
        drop(state);
        for (token, value) in early {
            drop(self.hear_lease(&token, &value));
        }
        self.0.changes.send_modify(|count| *count += 1);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeardAt {
    Now,
    Unknown,
}

fn member(record: &Record) -> Option<Member> {
    serde_json::from_value(record.body.clone()).ok()
}

fn key_of_record(kind: &str, id: &str) -> Result<String, FleetError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if id.is_empty() || id.len() > 128 || !id.chars().all(is_plain) {
        let message = format!("Not an id of a record: `{}`", id.escape_debug());
        return Err(FleetError::new(ErrorKind::Invalid, message, ""));
    }
    Ok(format!("{kind}.{id}"))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_of_a_later_version_keeps_its_fields_when_it_is_replaced() {
        let text = json!({"version": 4, "body": {"a": 1}, "reason": "moved"});
        let before: Record = serde_json::from_value(text).unwrap();
        let after = serde_json::to_value(Record::after(Some(&before), Some(json!({"a": 2})))).unwrap();
        assert_eq!(after, json!({"version": 5, "removed": false, "body": {"a": 2}, "reason": "moved"}));
        let removed = Record::after(Some(&before), None);
        assert!(removed.removed && removed.version == 5);
    }
}
