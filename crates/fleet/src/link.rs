//! The connection to the NATS server, with a bound on every call.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::stream::Config as StreamConfig;
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Request};
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::{ErrorKind, FleetError};
use crate::keys::Identity;
use crate::limits::{CALL_MAX, CONNECT_MAX, PING_EVERY, RETRY_MAX};
use crate::names;

/// Access to the NATS server.
#[derive(Clone, Default)]
pub struct Access {
    /// A file with a JWT and a seed, as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// The seed of an nkey.
    pub nkey: Option<String>,
    /// User and password.
    pub user: Option<(String, String)>,
    /// Certificates of authorities to trust besides those of the system.
    pub tls_ca: Option<PathBuf>,
    /// Certificate and key of this client.
    pub tls_client: Option<(PathBuf, PathBuf)>,
    /// The prefix under which this user's account imports the `JetStream` API from the account of the fleet.
    /// None if the user is in that account.
    pub api_prefix: Option<String>,
}

/// Parameters of a connection.
#[derive(Debug, Clone)]
pub struct LinkOptions {
    /// Addresses of NATS servers: `nats://host:4222`, or several with commas.
    pub url: String,
    /// Access to them.
    pub access: Access,
    /// Copies of the stream and of the shared state, if this node creates them.
    pub replicas: usize,
    /// Bytes that the stream may take, if this node creates it; a full stream refuses new events.
    pub stream_bytes_max: i64,
    /// Time for which the stream keeps events, if this node creates it; none for all time.
    pub stream_age_max: Option<Duration>,
}

/// Counts of one connection, for metrics.
#[derive(Debug, Default)]
pub struct Counters {
    /// Units that were published and acknowledged.
    pub units_sent: AtomicU64,
    /// Events in them.
    pub events_sent: AtomicU64,
    /// Publications that were refused or not acknowledged, and tried again.
    pub retries: AtomicU64,
    /// Units of other nodes that were taken.
    pub units_taken: AtomicU64,
    /// Events in them.
    pub events_taken: AtomicU64,
    /// Messages that were refused: signature, key or form.
    pub refused: AtomicU64,
    /// Messages that were read more than once, after a connection was lost.
    pub redelivered: AtomicU64,
    /// Sessions with events that are not published yet.
    pub behind: AtomicU64,
    /// Messages in the stream that are not taken yet.
    pub lag: AtomicU64,
    /// Connections that were made.
    pub connects: AtomicU64,
    /// True while the storage of the fleet is full.
    pub full: AtomicBool,
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// It works.
    Connected,
    /// The server does not answer.
    Disconnected,
}

/// A connection of a node to its fleet. Handles are cheap to clone.
#[derive(Clone)]
pub struct FleetLink(Arc<LinkInner>);

struct LinkInner {
    identity: Arc<Identity>,
    options: LinkOptions,
    client: Client,
    jetstream: jetstream::Context,
    /// The state, and the number of connections so far.
    status: watch::Receiver<(LinkStatus, u64)>,
    counters: Arc<Counters>,
    configs: Mutex<HashMap<String, StreamConfig>>,
    refusal: Mutex<Option<FleetError>>,
}

/// The result of publishing a message to the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Published {
    /// It is stored with this number.
    Stored(u64),
    /// It was not stored: another message came first, or the server refused it.
    Refused,
    /// There is no room.
    Full,
}

impl FleetLink {
    /// Connects in the background: it returns at once, and calls fail until the server answers.
    pub async fn open(identity: Arc<Identity>, options: LinkOptions) -> Result<Self, FleetError> {
        let counters = Arc::<Counters>::default();
        let (told, status) = watch::channel((LinkStatus::Disconnected, 0));
        let (told, counted) = (Arc::new(told), Arc::clone(&counters));
        let connect = access(&options.access).await?;
        let api_prefix = options.access.api_prefix.as_deref().map(names::api_prefix).transpose()?;
        let connect = connect
            .name(format!("tidings {}", identity.node))
            .custom_inbox_prefix(format!("_INBOX_{}_{}", identity.fleet, identity.node))
            .ping_interval(PING_EVERY)
            .connection_timeout(CONNECT_MAX)
            .request_timeout(Some(CALL_MAX))
            .retry_on_initial_connect()
            .reconnect_delay_callback(|attempts| {
                RETRY_MAX.min(Duration::from_millis(50 * u64::try_from(attempts.min(100)).unwrap_or(100)))
            })
            .event_callback(move |event| {
                let (told, counted) = (Arc::clone(&told), Arc::clone(&counted));
                async move {
                    tracing::debug!(%event, "the connection to the fleet has changed");
                    let status = match event {
                        Event::Connected => LinkStatus::Connected,
                        Event::Disconnected | Event::Closed => LinkStatus::Disconnected,
                        _ => return,
                    };
                    let is_new = u64::from(status == LinkStatus::Connected);
                    let connects = counted.connects.fetch_add(is_new, Ordering::Relaxed) + is_new;
                    told.send_replace((status, connects));
                }
            });
        let urls: Vec<String> = options.url.split(',').map(|url| url.trim().to_owned()).collect();
        let client = tokio::time::timeout(CONNECT_MAX, connect.connect(urls)).await;
        let client = client.map_err(|_| FleetError::timeout("connect to the fleet"))?;
        let client = client.map_err(|error| FleetError::server("connect to the fleet", error))?;
        let mut jetstream = match api_prefix {
            Some(prefix) => jetstream::with_prefix(client.clone(), prefix),
            None => jetstream::new(client.clone()),
        };
        jetstream.set_timeout(CALL_MAX);
        let (configs, refusal) = Default::default();
        let inner = LinkInner { identity, options, client, jetstream, status, counters, configs, refusal };
        Ok(FleetLink(Arc::new(inner)))
    }

    /// The node that this is the connection of.
    pub fn identity(&self) -> &Arc<Identity> {
        &self.0.identity
    }

    /// Counts for metrics.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.0.counters
    }

    /// The prefix under which this node's account imports the `JetStream` API. None if the node is in the
    /// account with the storage.
    pub fn api_prefix(&self) -> Option<&str> {
        self.0.options.access.api_prefix.as_deref()
    }

    /// The state of the connection.
    pub fn status(&self) -> LinkStatus {
        self.0.status.borrow().0
    }

    /// Waits until the connection works.
    pub async fn connected(&self) {
        let mut status = self.0.status.clone();
        // The sender lives as long as the client.
        drop(status.wait_for(|(status, _)| *status == LinkStatus::Connected).await);
    }

    /// Waits until this connection has ended. Readers begin again then: the server may have lost their state.
    pub(crate) fn disconnected(&self) -> impl Future<Output = ()> + use<> {
        let mut status = self.0.status.clone();
        let (_, before) = *status.borrow_and_update();
        async move {
            let has_ended = |(status, connects): &(LinkStatus, u64)| {
                *status == LinkStatus::Disconnected || *connects != before
            };
            drop(status.wait_for(has_ended).await);
        }
    }

    /// Refuses work while there is no connection: the client would collect it, and then block.
    pub(crate) fn check(&self) -> Result<(), FleetError> {
        match self.status() {
            LinkStatus::Connected => Ok(()),
            LinkStatus::Disconnected => Err(FleetError::disconnected()),
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn jetstream(&self) -> &jetstream::Context {
        &self.0.jetstream
    }

    pub(crate) fn options(&self) -> &LinkOptions {
        &self.0.options
    }

    /// The configurations of streams that were seen on this connection, by name.
    pub(crate) fn configs(&self) -> &Mutex<HashMap<String, StreamConfig>> {
        &self.0.configs
    }

    /// The error with which the server refused to make the stream of the fleet, until it has one.
    pub fn refusal(&self) -> Option<FleetError> {
        self.0.refusal.lock().clone()
    }

    pub(crate) fn set_refusal(&self, refusal: Option<FleetError>) {
        *self.0.refusal.lock() = refusal;
    }

    /// The number of connections so far.
    pub(crate) fn connects(&self) -> u64 {
        self.0.status.borrow().1
    }

    /// Publishes a message to the stream, and waits for its acknowledgement.
    pub(crate) async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
    ) -> Result<Published, FleetError> {
        let doing = "publish to the fleet";
        self.check()?;
        let request = Request::new().headers(headers).payload(payload).timeout(Some(CALL_MAX));
        let sent = bounded(doing, CALL_MAX, self.0.client.send_request(subject, request)).await?;
        let answer = sent.map_err(|error| FleetError::server(doing, error))?;
        let answer: Acknowledgement = serde_json::from_slice(&answer.payload)
            .map_err(|error| FleetError::server("read an acknowledgement of the fleet", error))?;
        Ok(match (answer.error, answer.seq) {
            (None, Some(seq)) => Published::Stored(seq),
            (Some(error), _) if STORAGE_FULL.contains(&error.err_code) => Published::Full,
            (error, _) => {
                tracing::debug!(?error, "the fleet refused events");
                Published::Refused
            }
        })
    }

    /// Sends a message of an atomic batch that is not its last one.
    pub(crate) async fn send(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
    ) -> Result<(), FleetError> {
        let doing = "publish to the fleet";
        self.check()?;
        let sent = self.0.client.publish_with_headers(subject, headers, payload);
        bounded(doing, CALL_MAX, sent).await?.map_err(|error| FleetError::server(doing, error))
    }
}

/// Codes of a full stream, a full account and a full server.
const STORAGE_FULL: [u64; 4] = [10_077, 10_047, 10_023, 10_028];

#[derive(serde::Deserialize)]
struct Acknowledgement {
    seq: Option<u64>,
    error: Option<Refusal>,
}

#[derive(Debug, serde::Deserialize)]
struct Refusal {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    #[expect(dead_code, reason = "it is in the log")]
    description: String,
}

/// Bounds a call to the server: its own timeout begins only once the message is written.
pub(crate) async fn bounded<T>(
    doing: &str,
    max: Duration,
    call: impl Future<Output = T>,
) -> Result<T, FleetError> {
    tokio::time::timeout(max, call).await.map_err(|_| FleetError::timeout(doing))
}

async fn access(access: &Access) -> Result<ConnectOptions, FleetError> {
    let unreadable = |error: std::io::Error| {
        let message = format!("The credentials for the fleet cannot be read: {error}");
        FleetError::new(ErrorKind::Invalid, message, "give the path of a `.creds` file")
    };
    let mut options = ConnectOptions::new();
    if let Some(path) = &access.credentials {
        options = options.credentials_file(path).await.map_err(unreadable)?;
    }
    if let Some(seed) = &access.nkey {
        options = options.nkey(seed.clone());
    }
    if let Some((user, password)) = &access.user {
        options = options.user_and_password(user.clone(), password.clone());
    }
    if let Some(path) = &access.tls_ca {
        options = options.add_root_certificates(path.clone());
    }
    if let Some((certificate, key)) = &access.tls_client {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok(options)
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

impl fmt::Debug for FleetLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("identity", &self.0.identity).finish_non_exhaustive()
    }
}
