//! Heartbeats, by which nodes know which others run.

use std::collections::BTreeMap;

use async_nats::jetstream::kv::Entry;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::FleetError;
use crate::limits::{BEAT_EVERY, BEAT_LOST, CALL_MAX};
use crate::link::bounded;
use crate::names::Name;

use super::{Roster, unreadable};

/// The kind of their keys, and the purpose of their signatures.
pub(super) const BEAT: &str = "beat";

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
    /// Generation of its newest key of the fleet; none without encryption, and of a version without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_generation: Option<u64>,
    /// The end of its audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
    /// Identity of the folder in which its agents keep their sessions: nodes of one machine that share the
    /// folder have the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_folder: Option<String>,
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

/// The last heartbeat of a node, as it was heard.
pub(super) struct HeardBeat {
    beat: Beat,
    heard_ms: i64,
    /// None if it was there before this reader, so that its age is unknown.
    at: Option<Instant>,
}

/// Time at which a value reached the bucket: now, or before this reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeardAt {
    Now,
    Unknown,
}

impl Roster {
    /// Sends a heartbeat in intervals until it is stopped; the last one says that the node has stopped.
    pub async fn beat(&self, beat: impl Fn() -> Beat + Send, stop: CancellationToken) {
        let mut count = 0;
        loop {
            let stopped = stop.is_cancelled();
            count += 1;
            let key_generation = self.0.link.identity().secrets.generation();
            let run = self.0.run.clone();
            let beat = Beat { run, count, stopped, key_generation, ..beat() };
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

    /// The last heartbeat of a node.
    pub fn liveness(&self, node: &Name) -> Option<Liveness> {
        let state = self.0.state.lock();
        let heard = state.beats.get(node)?;
        let is_recent = heard.at.is_some_and(|at| at.elapsed() < BEAT_LOST);
        let is_reachable = is_recent && !heard.beat.stopped;
        Some(Liveness { beat: heard.beat.clone(), heard_ms: heard.heard_ms, is_reachable })
    }

    /// The time of the NATS server, from the last heartbeat.
    pub(super) fn now_ms(&self) -> Result<i64, FleetError> {
        let state = self.0.state.lock();
        let last = state.beats.values().filter_map(|heard| Some((heard.at?, heard.heard_ms))).max();
        let (at, heard_ms) = last.ok_or_else(FleetError::disconnected)?;
        Ok(heard_ms.saturating_add(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX)))
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

    /// Takes a heartbeat from the bucket.
    pub(super) fn hear_beat(&self, id: &str, entry: &Entry, heard: HeardAt) -> Result<(), FleetError> {
        let node = Name::new(id)?;
        // A heartbeat before the membership is not a fault: the next one comes in a second.
        let Some(member) = self.member(&node) else { return Ok(()) };
        let identity = self.0.link.identity();
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
            self.note_change();
        }
        Ok(())
    }
}
