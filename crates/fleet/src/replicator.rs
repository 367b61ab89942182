//! Publishes the events of a node's sessions, each of them once and in order.
//!
//! A session has one unit in flight. A unit names the stream's last message of its session, so that a
//! repeated or late one is refused by the server. After a refusal or a timeout the last message is read from
//! the leader, and its signed claim says from where to go on: nothing is remembered between two starts.
//! [`watch`] notices that the stream was replaced, restored or purged, and has everything published that it
//! lacks.

mod watch;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use bytes::Bytes;
use parking_lot::Mutex;
use tidings_base::backoff::Backoff;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::FleetCall;
use crate::error::FleetError;
use crate::key_text::random_name;
use crate::keys::sha256;
use crate::limits::{AGAIN_EVERY, CALL_MAX, FULL_RETRY, REPLICATION_TASKS, RETRY_MAX};
use crate::link::{FleetLink, Published, bounded};
use crate::names::{events, session_token};
use crate::unit::{Claim, ENDED, Unit, UnitEvent, encode};

/// The header with the claim of a message.
pub(crate) const CLAIM: &str = "Tidings-Claim";

/// The sessions of a node, from its journal.
pub trait SessionSource: Send + Sync + 'static {
    /// The keys of all sessions that this node owns.
    fn sessions(&self) -> FleetCall<'_, Vec<String>>;

    /// Events after a position (epoch and number), at most as many as a unit has. None if there is no such
    /// session.
    fn read<'a>(&'a self, session: &'a str, after: Option<(u64, u64)>) -> FleetCall<'a, Option<SourcePage>>;
}

/// Events of a session, from its owner's journal.
#[derive(Debug, Clone, Default)]
pub struct SourcePage {
    /// True if the events do not continue those before the position: readers begin anew.
    pub restart: bool,
    /// The epoch of the session.
    pub epoch: u64,
    /// The number of the first event; without events, that of the next one.
    pub first: u64,
    /// Epochs that ended, each with its last surviving number.
    pub past: Vec<(u64, u64)>,
    /// The events.
    pub events: Vec<UnitEvent>,
    /// The row of the session after these events; none if it need not be sent with them.
    pub row: Option<Bytes>,
    /// True if there are more events already.
    pub more: bool,
}

/// Publishes the sessions of a node. Handles are cheap to clone.
#[derive(Clone)]
pub struct Replicator(Arc<ReplicatorInner>);

struct ReplicatorInner {
    link: FleetLink,
    source: Arc<dyn SessionSource>,
    queue: Mutex<Queue>,
    wake: Notify,
    /// Positions in the stream, as far as they are known.
    positions: Mutex<HashMap<String, Position>>,
    /// Counts the streams that were seen: a position in an earlier one is void.
    stream: AtomicU64,
    /// Sessions that other nodes asked for, each with the time of the last request.
    asked: Mutex<HashMap<String, Instant>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<String>,
    is_waiting: HashSet<String>,
    busy: HashSet<String>,
    /// Sessions that changed while they were published.
    again: HashSet<String>,
    /// Positions after which sessions are published once more.
    again_from: HashMap<String, Option<(u64, u64)>>,
}

/// The last message of a session in the stream.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    /// Its number in the stream; 0 if there is none.
    stream_seq: u64,
    /// Its epoch, its last event and the hash of the row. None if it is not ours.
    claim: Option<(u64, u64, u64)>,
}

/// What became of one attempt.
enum Step {
    /// Everything is published.
    Done,
    /// There is more.
    More,
    /// There is no room.
    Full,
    /// The position is unknown now.
    Lost,
}

impl Replicator {
    /// A replicator for the sessions of a node.
    pub fn new(link: FleetLink, source: Arc<dyn SessionSource>) -> Self {
        let inner = ReplicatorInner {
            link,
            source,
            queue: Mutex::default(),
            wake: Notify::new(),
            positions: Mutex::default(),
            stream: AtomicU64::new(0),
            asked: Mutex::default(),
        };
        Replicator(Arc::new(inner))
    }

    /// Notes that a session has changed. It neither blocks nor waits.
    pub fn mark(&self, session: &str) {
        if self.0.queue.lock().mark(session) {
            self.0.wake.notify_one();
        }
    }

    /// Publishes the events of a session after a position again, or all of them: a reader lacks them. A
    /// session is published again once in an interval.
    pub fn publish_again(&self, session: &str, after: Option<(u64, u64)>) {
        {
            let mut asked = self.0.asked.lock();
            asked.retain(|_, at| at.elapsed() < AGAIN_EVERY);
            if asked.contains_key(session) {
                return;
            }
            asked.insert(session.to_owned(), Instant::now());
        }
        self.go_back(session, after);
    }

    /// Publishes the events of a session after a position, whatever the stream has.
    fn go_back(&self, session: &str, after: Option<(u64, u64)>) {
        self.0.queue.lock().again_from.insert(session.to_owned(), after);
        self.mark(session);
    }

    /// Publishes until it is stopped.
    pub async fn run(&self, stop: CancellationToken) {
        let work = async {
            let tasks = (0..REPLICATION_TASKS).map(|_| self.work());
            tokio::join!(self.watch(), futures_util::future::join_all(tasks));
        };
        tokio::select! {
            () = work => {}
            () = stop.cancelled() => {}
        }
    }

    async fn work(&self) {
        loop {
            let session = self.next().await;
            self.publish_all(&session).await;
            if self.0.queue.lock().done(&session) {
                self.0.wake.notify_one();
            }
            self.count_behind();
        }
    }

    async fn next(&self) -> String {
        loop {
            let woken = self.0.wake.notified();
            let taken = self.0.queue.lock().take();
            if let Some(session) = taken {
                // Another task may take the next one.
                self.0.wake.notify_one();
                return session;
            }
            woken.await;
        }
    }

    fn count_behind(&self) {
        let behind = self.0.queue.lock().len() as u64;
        self.0.link.counters().behind.store(behind, Ordering::Relaxed);
    }

    /// Publishes a session up to its head, with as many attempts as it takes.
    async fn publish_all(&self, session: &str) {
        let mut backoff = Backoff::new(Duration::from_millis(20), RETRY_MAX);
        loop {
            self.0.link.connected().await;
            let counters = self.0.link.counters();
            let full = match self.step(session).await {
                Ok(Step::Done) => return counters.full.store(false, Ordering::Relaxed),
                Ok(Step::More) => {
                    counters.full.store(false, Ordering::Relaxed);
                    backoff.reset();
                    continue;
                }
                Ok(Step::Full) => {
                    if !counters.full.swap(true, Ordering::Relaxed) {
                        tracing::warn!("the storage of the fleet is full: replication is paused");
                    }
                    true
                }
                Ok(Step::Lost) => false,
                Err(error) => {
                    tracing::debug!(session, %error, "failed to publish a session");
                    false
                }
            };
            counters.retries.fetch_add(1, Ordering::Relaxed);
            self.0.positions.lock().remove(session);
            tokio::time::sleep(if full { FULL_RETRY } else { backoff.pause() }).await;
        }
    }

    /// Publishes one unit.
    async fn step(&self, session: &str) -> Result<Step, FleetError> {
        let stream = self.0.stream.load(Ordering::Acquire);
        let mut position = self.position(session, stream).await?;
        let again_from = self.0.queue.lock().again_from.get(session).copied();
        if let Some(after) = again_from {
            position.claim = after.map(|(epoch, last)| (epoch, last, 0));
        }
        let after = position.claim.map(|(epoch, last, _)| (epoch, last));
        let Some(page) = self.0.source.read(session, after).await? else {
            return self.publish_end(session, position).await;
        };
        let sent_row = position.claim.map_or(0, |(_, _, row)| row);
        let row_hash = page.row.as_ref().map_or(sent_row, |row| short_hash(row));
        // A row that readers have already is not sent again, unless they begin anew.
        let row = page.row.filter(|_| page.restart || row_hash != sent_row);
        if page.events.is_empty() && row.is_none() && !page.restart {
            self.0.queue.lock().again_from.remove(session);
            return Ok(if page.more { Step::More } else { Step::Done });
        }
        let unit = Unit {
            session: session.to_owned(),
            epoch: page.epoch,
            first: page.first,
            restart: page.restart,
            past: page.past,
            events: page.events,
            row,
            deleted: false,
        };
        let stored = self.publish(&unit, row_hash, position.stream_seq).await?;
        let Published::Stored(stream_seq) = stored else { return Ok(Step::of(stored)) };
        self.0.queue.lock().again_from.remove(session);
        let counters = self.0.link.counters();
        counters.units_sent.fetch_add(1, Ordering::Relaxed);
        counters.events_sent.fetch_add(unit.events.len() as u64, Ordering::Relaxed);
        let claim = Some((unit.epoch, unit.last(), row_hash));
        self.keep(session, Position { stream_seq, claim }, stream);
        Ok(if page.more { Step::More } else { Step::Done })
    }

    /// Publishes that a session was deleted. Readers that may do so remove the earlier messages of it.
    async fn publish_end(&self, session: &str, position: Position) -> Result<Step, FleetError> {
        if position.stream_seq == 0 || position.claim.is_some_and(|(_, _, row)| row == ENDED) {
            return Ok(Step::Done);
        }
        let (epoch, last) = position.claim.map_or((0, 0), |(epoch, last, _)| (epoch, last));
        let session = session.to_owned();
        let unit = Unit { session, epoch, first: last + 1, deleted: true, ..Unit::default() };
        let stored = self.publish(&unit, ENDED, position.stream_seq).await?;
        self.0.positions.lock().remove(&unit.session);
        self.0.queue.lock().again_from.remove(&unit.session);
        Ok(if matches!(stored, Published::Stored(_)) { Step::Done } else { Step::of(stored) })
    }

    async fn publish(&self, unit: &Unit, row_hash: u64, after: u64) -> Result<Published, FleetError> {
        let link = &self.0.link;
        let identity = link.identity();
        let subject = events(&identity.fleet, &identity.node, &unit.session);
        let encoded = encode(identity, unit, row_hash, after)?;
        let batch = if encoded.parts.len() > 1 { Some(random_name()?) } else { None };
        let last = encoded.parts.len();
        for (number, (claim, payload)) in (1..).zip(encoded.parts) {
            let mut headers = HeaderMap::new();
            headers.insert(CLAIM, claim);
            if number == 1 {
                headers.insert("Nats-Expected-Last-Subject-Sequence", after.to_string());
            }
            if let Some(batch) = &batch {
                headers.insert("Nats-Batch-Id", batch.as_str());
                headers.insert("Nats-Batch-Sequence", number.to_string());
            }
            if number < last {
                link.send(subject.clone(), headers, payload).await?;
                continue;
            }
            if batch.is_some() {
                headers.insert("Nats-Batch-Commit", "1");
            }
            return link.publish(subject, headers, payload).await;
        }
        Ok(Published::Refused)
    }

    /// Keeps a position, unless another stream was seen meanwhile: the position is void then.
    fn keep(&self, session: &str, position: Position, stream: u64) {
        let mut positions = self.0.positions.lock();
        if self.0.stream.load(Ordering::Acquire) == stream {
            positions.insert(session.to_owned(), position);
        }
    }

    /// The last message of a session, from memory or from the leader of the stream.
    async fn position(&self, session: &str, known: u64) -> Result<Position, FleetError> {
        if let Some(position) = self.0.positions.lock().get(session) {
            return Ok(*position);
        }
        let doing = "read the last event of a session from the fleet";
        let identity = self.0.link.identity();
        let stream: Stream = self.0.link.stream().await?;
        let subject = events(&identity.fleet, &identity.node, session);
        let last = bounded(doing, CALL_MAX, stream.get_last_raw_message_by_subject(&subject)).await?;
        let last = match last {
            Ok(last) => last,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                return Ok(Position::default());
            }
            Err(error) => return Err(FleetError::server(doing, error)),
        };
        let claim = last.headers.get(CLAIM).and_then(|claim| Claim::parse(claim.as_str()));
        let (token, key) = (session_token(session), identity.key.public());
        let ours = claim.filter(|claim| claim.verify(&identity.fleet, &identity.node, &token, &key).is_ok());
        if ours.is_none() {
            tracing::warn!(session, "the last event of a session in the fleet is not ours");
        }
        let claim = ours.map(|claim| (claim.epoch, claim.last, claim.row));
        let position = Position { stream_seq: last.sequence, claim };
        self.keep(session, position, known);
        Ok(position)
    }
}

impl Step {
    fn of(published: Published) -> Step {
        match published {
            Published::Full => Step::Full,
            Published::Refused | Published::Stored(_) => Step::Lost,
        }
    }
}

impl Queue {
    /// Adds a session; true if a task has to be woken.
    fn mark(&mut self, session: &str) -> bool {
        if self.busy.contains(session) {
            self.again.insert(session.to_owned());
            return false;
        }
        let is_new = self.is_waiting.insert(session.to_owned());
        if is_new {
            self.waiting.push_back(session.to_owned());
        }
        is_new
    }

    fn take(&mut self) -> Option<String> {
        let session = self.waiting.pop_front()?;
        self.is_waiting.remove(&session);
        self.busy.insert(session.clone());
        Some(session)
    }

    /// Ends the work on a session; true if it has to be done again.
    fn done(&mut self, session: &str) -> bool {
        self.busy.remove(session);
        self.again.remove(session) && self.mark(session)
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.busy.len()
    }
}

fn short_hash(bytes: &[u8]) -> u64 {
    sha256(bytes)[..8].iter().fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}

impl fmt::Debug for Replicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicator").field("link", &self.0.link).finish_non_exhaustive()
    }
}
