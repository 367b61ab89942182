//! The ways in over HTTP: requests and answers, streams of events, and one WebSocket for everything.
//!
//! The guard stands before all of them and leaves a [`Caller`] in each request that it lets through.
//! What each route needs is said where it is declared, in `rest::routes`; the description of the API is made from
//! the same declarations.

mod extract;
mod git;
mod keys;
mod mobile;
mod openapi;
mod page;
mod problem;
mod reach;
mod recovery;
mod rest;
pub(crate) mod route;
pub(crate) mod scope;
mod several;
mod sse;
mod tether;
mod transcripts;
mod wire;
mod ws;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;

pub(crate) use extract::{Body, Path, Query, idempotency_key};
pub use openapi::openapi;
pub use page::page;
pub use problem::{RequestName, name_requests};
pub use transcripts::Transcripts;

use crate::auth::Peer;
use crate::caller::Caller;
use crate::error::Error;
use crate::limits::{BODY_REQUEST_BYTES_MAX, REVOCATIONS_MAX, SOCKETS_MAX};
use crate::sessions::Sessions;

/// The name of what is spoken on the WebSocket.
pub const PROTOCOL: &str = "tidings.v1";

/// Turns a credential that comes inside a stream into whom it belongs to. Who is at the other end is counted.
pub type SignIn = Arc<dyn Fn(&str, Peer) -> Result<Caller, Error> + Send + Sync>;

/// What the doors lead to.
#[derive(Clone)]
#[non_exhaustive]
pub struct Api {
    /// The sessions.
    pub sessions: Sessions,
    /// Checks the credential in the first message of a WebSocket; nobody gets in that way unless it is set.
    pub sign_in: SignIn,
    /// Ids of devices whose credentials count no longer. Their streams end at once.
    pub revoked: broadcast::Sender<String>,
    /// Cancelled when the server stops: streams end and tell their clients when to come back.
    pub stopping: CancellationToken,
    /// Sessions on disk; none unless it is set.
    pub transcripts: Transcripts,
    /// What comes before every path: empty, or such as `/tidings`.
    pub base_path: String,
    /// One for each WebSocket that may be open.
    pub sockets: Arc<Semaphore>,
    /// Positions of subscribers of the phone dialect.
    pub(crate) recovery: Arc<recovery::Recovery>,
}

impl Api {
    /// Doors to these sessions.
    pub fn new(sessions: Sessions) -> Self {
        let recovery = Arc::new(recovery::Recovery::new(Arc::clone(sessions.broadcast().journal())));
        Api {
            recovery,
            sessions,
            sign_in: Arc::new(|_, _| Err(extract::unauthorized())),
            revoked: broadcast::Sender::new(REVOCATIONS_MAX),
            stopping: CancellationToken::new(),
            transcripts: Transcripts::default(),
            base_path: String::new(),
            sockets: Arc::new(Semaphore::new(SOCKETS_MAX)),
        }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doors").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

/// All routes under `/v1` that are about sessions. Whoever serves them puts the guard before them.
pub fn router(api: Api) -> Router {
    let ids = api.sessions.config().ids.clone();
    route::router(rest::routes())
        .layer(DefaultBodyLimit::max(BODY_REQUEST_BYTES_MAX))
        .layer(middleware::from_fn_with_state(ids, name_requests))
        .with_state(api)
}
