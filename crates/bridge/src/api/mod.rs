//! The HTTP API: REST routes, server-sent events, and the WebSocket endpoints.
//!
//! [`crate::auth`] runs before every route and puts a [`Caller`] into each request that it accepts. The scope
//! of a route is declared together with the route in `rest::routes`; the `OpenAPI` document is made from the
//! same declarations, in builds for developers.

mod acp;
mod deltas;
#[cfg(feature = "openapi")]
mod describe;
mod feed;
mod forward;
mod future_set;
pub(crate) mod health;
pub(crate) mod metrics;
mod mobile;
mod page;
mod recovery;
mod rest;
mod sse;
pub(crate) mod stream_lifetime;
mod transcripts;
mod visibility;
mod wire;
mod ws;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::{Router, middleware};
use tidings_sessions::archive::Archive;
use tidings_sessions::{Caller, Error, Sessions, unauthorized};
use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;

pub use crate::http::openapi::openapi;
pub use acp::LocalEditor;
#[cfg(feature = "openapi")]
pub use describe::describe;
pub use page::page;
pub use transcripts::Transcripts;

use crate::auth::Peer;
use crate::fleet::Fleet;
use crate::http::{name_requests, route};
use crate::limits::{BODY_REQUEST_BYTES_MAX, REVOCATIONS_MAX, SOCKETS_MAX};
use crate::marks::Marks;
use crate::notify::{Notifications, Notifier};

/// The WebSocket subprotocol of `/v1/ws`.
pub const PROTOCOL: &str = "tidings.v1";

/// Authenticates a credential that arrives in a WebSocket message. Failures count against the rate limit of
/// the peer.
pub type SignIn = Arc<dyn Fn(&str, Peer) -> Result<Caller, Error> + Send + Sync>;

/// The state behind the routes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Api {
    /// The running and stored sessions.
    pub sessions: Sessions,
    /// Checks the credential in the first message of a WebSocket. The default refuses all of them.
    pub sign_in: SignIn,
    /// Ids of devices whose credentials were revoked. Their streams end at once.
    pub revoked: broadcast::Sender<String>,
    /// Cancelled when the server stops: streams end, and their last message says when to reconnect.
    pub stopping: CancellationToken,
    /// Sessions on disk; none by default.
    pub transcripts: Transcripts,
    /// Copies of sessions on disk; none by default.
    pub archive: Option<Archive>,
    /// The prefix of every path: empty, or for example `/tidings`.
    pub base_path: String,
    /// One permit for each WebSocket that may be open.
    pub sockets: Arc<Semaphore>,
    /// The data folder of the server without links in its path, which no route reads; none by default.
    pub(crate) data: Option<PathBuf>,
    /// The fleet of this server; none by default.
    pub(crate) fleet: Option<Fleet>,
    /// The inbox and its notifications.
    pub(crate) notifications: Notifications,
    /// Marks of sessions.
    pub(crate) marks: Marks,
    /// Positions of subscribers to the phone dialect.
    pub(crate) recovery: Arc<recovery::Recovery>,
}

impl Api {
    /// An API for these sessions, with defaults for everything else.
    pub fn new(sessions: Sessions) -> Self {
        let recovery = Arc::new(recovery::Recovery::new(Arc::clone(sessions.broadcast().journal())));
        Api {
            notifications: Notifications::new(sessions.clone(), Notifier::default()),
            marks: Marks::new(Arc::clone(sessions.broadcast().journal())),
            recovery,
            sessions,
            sign_in: Arc::new(|_, _| Err(unauthorized())),
            revoked: broadcast::Sender::new(REVOCATIONS_MAX),
            stopping: CancellationToken::new(),
            transcripts: Transcripts::default(),
            archive: None,
            data: None,
            fleet: None,
            base_path: String::new(),
            sockets: Arc::new(Semaphore::new(SOCKETS_MAX)),
        }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

/// All routes under `/v1` that concern sessions. The caller must put [`crate::auth`] in front of them.
pub fn router(api: Api) -> Router {
    let ids = api.sessions.config().ids.clone();
    route::router(rest::routes())
        .layer(middleware::from_fn_with_state(api.clone(), forward::forward))
        .layer(DefaultBodyLimit::max(BODY_REQUEST_BYTES_MAX))
        .layer(middleware::from_fn_with_state(ids, name_requests))
        .with_state(api)
}
