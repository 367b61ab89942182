//! Takes the units of all other nodes, verified and in the order of the stream.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull::{Config as PullConfig, Stream as Messages};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy};
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tidings_base::backoff::Backoff;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::FleetCall;
use crate::error::{ErrorKind, FleetError};
use crate::key_text::random_name;
use crate::limits::{
    CALL_MAX, CHECKPOINT_EVERY, KEY_WAIT, MEMBERSHIP_WAIT, PULL_BEAT, PULL_MAX, PULL_MESSAGES, REMOVALS_MAX,
    REMOVE_ATTEMPTS, RETRY_MAX,
};
use crate::link::{FleetLink, bounded};
use crate::names::{self, Name, node_of, session_token};
use crate::replicator::CLAIM;
use crate::roster::Roster;
use crate::storage::StreamSighting;
use crate::unit::{Claim, ENDED, Unit, decode};

/// A position in the stream of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsumerCheckpoint {
    /// The stream, by its name and time of creation: another one is read from its start.
    pub stream: String,
    /// The last message that was taken.
    pub seq: u64,
    /// Time at which the server stored that message, in nanoseconds since the Unix epoch. A backup of the
    /// stream that was restored has the same time of creation, and another message of this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_ns: Option<i64>,
}

/// The receiver of units.
pub trait Sink: Send + Sync + 'static {
    /// Stores a unit of another node. A unit may come again after a restart.
    fn apply<'a>(&'a self, node: &'a Name, unit: Unit) -> FleetCall<'a, ()>;

    /// Stores a position, after everything that was applied before.
    fn save(&self, checkpoint: ConsumerCheckpoint) -> FleetCall<'_, ()>;

    /// The stored position.
    fn load(&self) -> FleetCall<'_, Option<ConsumerCheckpoint>>;
}

/// The reader of a fleet's stream: one for all sessions.
pub struct Consumer {
    link: FleetLink,
    roster: Roster,
    sink: Arc<dyn Sink>,
    /// The first parts of units, by subject.
    parts: HashMap<String, (Claim, Vec<u8>)>,
    /// The last message of each subject that was taken since this start.
    taken: HashMap<String, u64>,
    /// Receives each deleted session that this node removes from the stream: its subject and last message.
    ended: Option<mpsc::Sender<(String, u64)>>,
    /// True if this node removes the deleted sessions of all nodes.
    removes_all: bool,
    stream: Option<Stream>,
    checkpoint: ConsumerCheckpoint,
    /// The last sighting of the stream.
    seen: Option<StreamSighting>,
    /// The number of the last message that the server delivered to this reader: none may be missing.
    delivered: u64,
    /// A message that could not be read, with the time of the first attempt.
    unread: Option<(u64, Instant)>,
    /// The highest message that was read since this start.
    highest: u64,
    saved: ConsumerCheckpoint,
    saved_at: Instant,
}

impl Consumer {
    /// A reader that hands units to `sink`.
    pub fn new(link: FleetLink, roster: Roster, sink: Arc<dyn Sink>) -> Self {
        Consumer {
            link,
            roster,
            sink,
            parts: HashMap::new(),
            taken: HashMap::new(),
            ended: None,
            removes_all: false,
            stream: None,
            checkpoint: ConsumerCheckpoint::default(),
            seen: None,
            delivered: 0,
            unread: None,
            highest: 0,
            saved: ConsumerCheckpoint::default(),
            saved_at: Instant::now(),
        }
    }

    /// Also removes the deleted sessions of other nodes from the stream: these may not be able to.
    #[must_use]
    pub fn removing_all(mut self) -> Self {
        self.removes_all = true;
        self
    }

    /// Reads until it is stopped.
    pub async fn run(mut self, stop: CancellationToken) {
        let (ended, removals) = mpsc::channel(REMOVALS_MAX);
        self.ended = Some(ended);
        let remove = remove_ended(self.link.clone(), removals);
        let read = async {
            self.checkpoint = self.load().await;
            self.saved = self.checkpoint.clone();
            loop {
                self.link.connected().await;
                if let Err(error) = self.read().await {
                    tracing::debug!(%error, "reading the fleet is interrupted");
                }
                // The parts before the position are read again with the unit.
                self.parts.clear();
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::select! {
            () = read => {}
            () = remove => {}
            () = stop.cancelled() => {}
        }
        self.save().await;
    }

    async fn load(&self) -> ConsumerCheckpoint {
        loop {
            match self.sink.load().await {
                Ok(checkpoint) => return checkpoint.unwrap_or_default(),
                Err(error) => tracing::warn!(%error, "failed to read the position in the fleet"),
            }
            tokio::time::sleep(RETRY_MAX).await;
        }
    }

    /// Reads until the connection fails, or the stream is not the one that it was.
    async fn read(&mut self) -> Result<(), FleetError> {
        let doing = "read the fleet";
        let disconnected = self.link.disconnected();
        tokio::pin!(disconnected);
        let stream = self.link.stream().await?;
        self.find_place(&stream).await?;
        self.stream = Some(stream.clone());
        let mut messages = self.messages(&stream).await?;
        loop {
            let wait = self.saved_at + CHECKPOINT_EVERY;
            tokio::select! {
                message = messages.next() => match message {
                    Some(Ok(message)) => self.take(&message).await?,
                    Some(Err(error)) => return Err(FleetError::server(doing, error)),
                    None => return Err(FleetError::disconnected()),
                },
                () = tokio::time::sleep_until(wait) => {
                    self.save().await;
                    self.look_again(&stream).await?;
                }
                () = &mut disconnected => return Err(FleetError::disconnected()),
            }
        }
    }

    /// The messages after the position. The reader ends with its stream: one that creates itself again, as
    /// the ordered reader of the library does, goes on at its old number in another stream.
    async fn messages(&mut self, stream: &Stream) -> Result<Messages, FleetError> {
        let doing = "read the fleet";
        let config = PullConfig {
            name: Some(format!("{}_{}", self.link.identity().node, random_name()?)),
            filter_subject: names::all_events(&self.link.identity().fleet),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.checkpoint.seq + 1 },
            ack_policy: AckPolicy::None,
            max_deliver: 1,
            inactive_threshold: PULL_MAX * 4,
            num_replicas: 1,
            memory_storage: true,
            ..PullConfig::default()
        };
        let consumer = bounded(doing, CALL_MAX, stream.create_consumer(config)).await?;
        let consumer = consumer.map_err(|error| FleetError::server(doing, error))?;
        self.delivered = 0;
        self.link.counters().lag.store(consumer.cached_info().num_pending, Ordering::Relaxed);
        let messages = consumer.stream().max_messages_per_batch(PULL_MESSAGES).expires(PULL_MAX);
        let messages = bounded(doing, CALL_MAX, messages.heartbeat(PULL_BEAT).messages()).await?;
        messages.map_err(|error| FleetError::server(doing, error))
    }

    /// Goes on at the stored position, or at the start of a stream that is not the one of the position.
    async fn find_place(&mut self, stream: &Stream) -> Result<(), FleetError> {
        let now = StreamSighting::of(stream.cached_info());
        if !self.is_known(stream, &now).await? {
            if !self.checkpoint.stream.is_empty() {
                tracing::warn!(
                    stream = now.identity,
                    "the stream of the fleet is another one: it is read anew"
                );
            }
            self.checkpoint = ConsumerCheckpoint { stream: now.identity.clone(), seq: 0, stored_ns: None };
            self.highest = 0;
            self.taken.clear();
        }
        self.seen = Some(now);
        Ok(())
    }

    /// True if the stream is the one of the position, and has the message of the position.
    async fn is_known(&self, stream: &Stream, now: &StreamSighting) -> Result<bool, FleetError> {
        let ConsumerCheckpoint { stream: identity, seq, stored_ns } = &self.checkpoint;
        let is_cut = self.seen.as_ref().is_some_and(|seen| !now.continues(seen));
        if *identity != now.identity || *seq > now.last || is_cut {
            return Ok(false);
        }
        let Some(stored_ns) = stored_ns.filter(|_| *seq >= now.first) else { return Ok(true) };
        let doing = "read the message of the position in the fleet";
        match bounded(doing, CALL_MAX, stream.get_raw_message(*seq)).await? {
            Ok(found) => Ok(nanoseconds(found.time.unix_timestamp_nanos()) == Some(stored_ns)),
            // It was removed with its session, or by its age.
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(true),
            Err(error) => Err(FleetError::server(doing, error)),
        }
    }

    /// Fails if the stream is not the one that it was.
    async fn look_again(&mut self, stream: &Stream) -> Result<(), FleetError> {
        let now = self.link.sighting(stream).await?;
        if self.seen.as_ref().is_some_and(|seen| !now.continues(seen)) || now.last < self.checkpoint.seq {
            let message = "The stream of the fleet is not the one that it was";
            return Err(FleetError::new(ErrorKind::Server, message, "it is read from its start"));
        }
        if now.last <= self.checkpoint.seq || now.first > now.last {
            self.link.counters().lag.store(0, Ordering::Relaxed);
        }
        self.seen = Some(now);
        Ok(())
    }

    async fn save(&mut self) {
        self.saved_at = Instant::now();
        if self.saved == self.checkpoint {
            return;
        }
        match self.sink.save(self.checkpoint.clone()).await {
            Ok(()) => self.saved = self.checkpoint.clone(),
            Err(error) => tracing::warn!(%error, "failed to store the position in the fleet"),
        }
    }

    async fn take(&mut self, message: &Message) -> Result<(), FleetError> {
        let (seq, pending, delivered, stored_ns) = {
            let info = message.info().map_err(|error| {
                FleetError::new(ErrorKind::Server, format!("A message has no position: {error}"), "")
            })?;
            let stored_ns = nanoseconds(info.published.unix_timestamp_nanos());
            (info.stream_sequence, info.pending, info.consumer_sequence, stored_ns)
        };
        if delivered != self.delivered + 1 {
            let message = "Messages of the fleet were lost on their way";
            return Err(FleetError::new(ErrorKind::Server, message, "they are read again"));
        }
        self.delivered = delivered;
        self.link.counters().lag.store(pending, Ordering::Relaxed);
        if seq <= self.highest {
            self.link.counters().redelivered.fetch_add(1, Ordering::Relaxed);
        }
        self.highest = self.highest.max(seq);
        match self.unit_of(message, seq).await {
            Ok(Some((node, unit))) => {
                let counters = Arc::clone(self.link.counters());
                let events = unit.events.len() as u64;
                // The caller's journal may be full for a moment. Nothing is skipped.
                let mut backoff = Backoff::new(Duration::from_millis(50), RETRY_MAX);
                while let Err(error) = self.sink.apply(&node, unit.clone()).await {
                    if error.kind() != ErrorKind::Local {
                        self.refuse(message, &error);
                        break;
                    }
                    tracing::warn!(%error, "failed to store events of another node");
                    tokio::time::sleep(backoff.pause()).await;
                }
                counters.units_taken.fetch_add(1, Ordering::Relaxed);
                counters.events_taken.fetch_add(events, Ordering::Relaxed);
            }
            Ok(None) => {}
            // Not a fault of the message: it is read again.
            Err(error) if error.kind() != ErrorKind::Refused => return Err(error),
            Err(error) => self.refuse(message, &error),
        }
        // The parts of an open unit are read again after a restart.
        if self.parts.is_empty() {
            (self.checkpoint.seq, self.checkpoint.stored_ns) = (seq, stored_ns);
        }
        Ok(())
    }

    fn refuse(&self, message: &Message, error: &FleetError) {
        self.link.counters().refused.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(subject = message.subject.as_str(), %error, "a message of the fleet is refused");
    }

    /// Has the earlier messages of a deleted session removed.
    fn end(&self, subject: &str, seq: u64) {
        if let Some(ended) = &self.ended
            && ended.try_send((subject.to_owned(), seq)).is_err()
        {
            tracing::warn!(subject, "too many sessions are deleted at once: one stays in the fleet");
        }
    }

    /// The unit that a message completes. None for own messages, and for parts of longer units.
    async fn unit_of(&mut self, message: &Message, seq: u64) -> Result<Option<(Name, Unit)>, FleetError> {
        let identity = Arc::clone(self.link.identity());
        let subject = message.subject.as_str();
        let refused = |why: &str| FleetError::new(ErrorKind::Refused, why, "it was not written by a node");
        let node = node_of(&identity.fleet, subject).ok_or_else(|| refused("An unknown subject"))?;
        let token = subject.rsplit('.').next().unwrap_or_default();
        let claim = message.headers.as_ref().and_then(|headers| headers.get(CLAIM));
        let claim = claim.and_then(|claim| Claim::parse(claim.as_str()));
        if node == identity.node {
            let may_remove = self.removes_all || self.link.api_prefix().is_none();
            if let Some(claim) = claim.filter(|claim| may_remove && claim.row == ENDED && claim.part == 0)
                && claim.verify(&identity.fleet, &node, token, &identity.key.public()).is_ok()
            {
                self.check_place(subject, &claim, seq).await?;
                self.end(subject, seq);
            }
            return Ok(None);
        }
        let claim = claim.ok_or_else(|| refused("A message without a claim"))?;
        let key = self.roster.key_of(&node, MEMBERSHIP_WAIT).await?;
        let key = key.ok_or_else(|| refused("The node is not a member of the fleet"))?;
        claim.verify(&identity.fleet, &node, token, &key)?;
        if claim.part == 0 {
            self.check_place(subject, &claim, seq).await?;
        }
        let payload = match self.parts.remove(subject) {
            Some((before, mut payload)) if before.is_same_unit(&claim) && before.part + 1 == claim.part => {
                payload.extend_from_slice(&message.payload);
                payload
            }
            _ if claim.part == 0 => message.payload.to_vec(),
            _ => return Err(refused("A part of a unit whose beginning is missing")),
        };
        if claim.part + 1 < claim.parts {
            self.parts.insert(subject.to_owned(), (claim, payload));
            return Ok(None);
        }
        let unit = match decode(&identity, &claim, &payload) {
            // Its node, which is a member, may have a new key before this one: the unit is read again.
            Err(error) if error.kind() == ErrorKind::UnknownKey => {
                let is_final = !identity.secrets.is_waiting() && !self.waits_for_key(seq);
                let kind = if is_final { ErrorKind::Refused } else { ErrorKind::Server };
                return Err(FleetError::new(kind, error.to_string(), error.hint()));
            }
            unit => unit?,
        };
        self.unread = None;
        self.taken.insert(subject.to_owned(), seq);
        if session_token(&unit.session) != token {
            return Err(refused("The session of a unit is not that of its subject"));
        }
        if unit.deleted && self.removes_all {
            self.end(subject, seq);
        }
        Ok(Some((node, unit)))
    }

    /// True for a while after a message could not be read the first time.
    fn waits_for_key(&mut self, seq: u64) -> bool {
        let since = match self.unread {
            Some((unread, since)) if unread == seq => since,
            _ => Instant::now(),
        };
        self.unread = Some((seq, since));
        since.elapsed() < KEY_WAIT
    }

    /// Refuses a copy of an earlier message: its node published it after another one than the last. If
    /// retention took the messages before it, the stream has none between the two.
    async fn check_place(&self, subject: &str, claim: &Claim, seq: u64) -> Result<(), FleetError> {
        let follows = match (self.taken.get(subject), &self.stream) {
            (Some(taken), _) if claim.after >= *taken => true,
            (_, None) => false,
            (_, Some(stream)) => {
                let doing = "look for the message before a unit";
                let next =
                    stream.raw_message_builder().sequence(claim.after + 1).next_by_subject(subject).send();
                let next = bounded(doing, CALL_MAX, next).await?;
                next.map_err(|error| FleetError::server(doing, error))?.sequence == seq
            }
        };
        if follows {
            return Ok(());
        }
        Err(FleetError::new(
            ErrorKind::Refused,
            "A copy of an earlier message",
            "it was not written by a node",
        ))
    }
}

fn nanoseconds(since_epoch: i128) -> Option<i64> {
    i64::try_from(since_epoch).ok()
}

/// Removes the messages of deleted sessions from the stream, one session after the other.
async fn remove_ended(link: FleetLink, mut ended: mpsc::Receiver<(String, u64)>) {
    while let Some((subject, seq)) = ended.recv().await {
        for _ in 0..REMOVE_ATTEMPTS {
            link.connected().await;
            let Err(error) = link.remove_before(&subject, seq).await else { break };
            tracing::debug!(subject, %error, "a deleted session stays in the fleet for now");
            tokio::time::sleep(RETRY_MAX).await;
        }
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("checkpoint", &self.checkpoint).finish_non_exhaustive()
    }
}
