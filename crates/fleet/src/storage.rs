//! The stream and the bucket of a fleet. They are created if there are none, also after they were deleted,
//! and a node notices if they are not the ones that they were.

use std::time::Duration;

use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{Config as StreamConfig, DiscardPolicy, Info, Stream};

use crate::error::FleetError;
use crate::limits::CALL_MAX;
use crate::link::{FleetLink, bounded};
use crate::names;

/// The storage of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// Bytes that are used.
    pub bytes: u64,
    /// Bytes that may be used; none without a limit.
    pub bytes_max: Option<u64>,
}

/// A stream as it was seen once. The next sighting tells whether it was replaced, cut or purged meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamSighting {
    /// Its name and its time of creation: a stream that replaces another one has another time.
    pub(crate) identity: String,
    /// The number of its first message.
    pub(crate) first: u64,
    /// The number of its last message.
    pub(crate) last: u64,
    /// The number of subjects with messages.
    pub(crate) subjects: u64,
    /// True if messages leave it by their age.
    pub(crate) has_age_limit: bool,
}

impl StreamSighting {
    pub(crate) fn of(info: &Info) -> Self {
        StreamSighting {
            identity: format!("{} {}", info.config.name, info.created),
            first: info.state.first_sequence,
            last: info.state.last_sequence,
            subjects: info.state.subjects_count,
            has_age_limit: info.config.max_age > Duration::ZERO,
        }
    }

    /// True if the stream is the one of an earlier sighting. A backup that was restored has fewer messages.
    pub(crate) fn continues(&self, before: &StreamSighting) -> bool {
        self.identity == before.identity && self.last >= before.last
    }
}

impl FleetLink {
    /// The stream of the fleet; creates it if there is none.
    pub(crate) async fn stream(&self) -> Result<Stream, FleetError> {
        let doing = "open the stream of the fleet";
        self.check()?;
        let name = names::stream(&self.identity().fleet);
        let found = bounded(doing, CALL_MAX, self.jetstream().get_stream(&name)).await?;
        if let Ok(stream) = found {
            self.remember(stream.cached_info());
            self.set_refusal(None);
            return Ok(stream);
        }
        let config = self.remembered(&name).unwrap_or_else(|| StreamConfig {
            name,
            subjects: vec![names::all_events(&self.identity().fleet)],
            discard: DiscardPolicy::New,
            max_bytes: self.options().stream_bytes_max,
            max_age: self.options().stream_age_max.unwrap_or_default(),
            num_replicas: self.options().replicas,
            // With it, a header of one message deletes all others.
            allow_rollup: false,
            allow_direct: true,
            allow_atomic_publish: true,
            ..StreamConfig::default()
        });
        let made = bounded(doing, CALL_MAX, self.jetstream().get_or_create_stream(config)).await?;
        let made = made.map_err(|error| FleetError::server(doing, error));
        self.set_refusal(made.as_ref().err().cloned());
        made
    }

    /// The shared state of the fleet; creates it if there is none.
    pub(crate) async fn bucket(&self) -> Result<kv::Store, FleetError> {
        let doing = "open the shared state of the fleet";
        self.check()?;
        let name = names::bucket(&self.identity().fleet);
        let mut found = bounded(doing, CALL_MAX, self.jetstream().get_key_value(&name)).await?;
        if found.is_err() {
            let stream = format!("KV_{name}");
            let config = self.remembered(&stream).unwrap_or_else(|| StreamConfig {
                name: stream,
                subjects: vec![format!("$KV.{name}.>")],
                max_messages_per_subject: 1,
                discard: DiscardPolicy::New,
                num_replicas: self.options().replicas,
                deny_delete: true,
                // With it, a header of one value deletes all others.
                allow_rollup: false,
                allow_direct: true,
                ..StreamConfig::default()
            });
            let made = bounded(doing, CALL_MAX, self.jetstream().get_or_create_stream(config)).await?;
            made.map_err(|error| FleetError::server(doing, error))?;
            found = bounded(doing, CALL_MAX, self.jetstream().get_key_value(&name)).await?;
        }
        let mut store = found.map_err(|error| FleetError::server(doing, error))?;
        self.remember(store.stream.cached_info());
        // An account imports the subjects of values under their own names.
        store.use_jetstream_prefix = false;
        Ok(store)
    }

    /// A new look at a stream.
    pub(crate) async fn sighting(&self, stream: &Stream) -> Result<StreamSighting, FleetError> {
        let doing = "look at a stream of the fleet";
        self.check()?;
        let info = bounded(doing, CALL_MAX, stream.get_info()).await?;
        let info = info.map_err(|error| FleetError::server(doing, error))?;
        self.remember(&info);
        Ok(StreamSighting::of(&info))
    }

    /// The storage of the fleet.
    pub async fn storage(&self) -> Result<Storage, FleetError> {
        let stream = self.stream().await?;
        let info = stream.cached_info();
        Ok(Storage { bytes: info.state.bytes, bytes_max: u64::try_from(info.config.max_bytes).ok() })
    }

    /// Sets the bytes that the fleet may store.
    pub async fn set_storage(&self, bytes_max: u64) -> Result<(), FleetError> {
        let doing = "change the storage of the fleet";
        let stream = self.stream().await?;
        let max_bytes = i64::try_from(bytes_max).unwrap_or(i64::MAX);
        let config = StreamConfig { max_bytes, ..stream.cached_info().config.clone() };
        let changed = bounded(doing, CALL_MAX, self.jetstream().update_stream(config)).await?;
        changed.map(drop).map_err(|error| FleetError::server(doing, error))
    }

    /// Removes the messages of a subject before one of them.
    pub(crate) async fn remove_before(&self, subject: &str, seq: u64) -> Result<(), FleetError> {
        let doing = "remove a deleted session from the fleet";
        let stream = self.stream().await?;
        let removed = stream.purge().filter(subject).sequence(seq).into_future();
        let removed = bounded(doing, CALL_MAX, removed).await?;
        removed.map(drop).map_err(|error| FleetError::server(doing, error))
    }

    /// Keeps the configuration of a stream: if it is deleted, any node creates it again as it was.
    fn remember(&self, info: &Info) {
        self.configs().lock().insert(info.config.name.clone(), info.config.clone());
    }

    fn remembered(&self, name: &str) -> Option<StreamConfig> {
        self.configs().lock().get(name).cloned()
    }
}
