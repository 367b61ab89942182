//! The server: the API behind authentication, on a port or a socket, until it is stopped.

mod body;
mod bounds;
mod connections;
mod inspection;
mod listen;
mod memory;
mod retention;
mod serving;
mod slots;
mod tls;

use std::sync::Arc;

use axum::{Router, middleware};
use tidings_sessions::archive::Archive;
use tidings_sessions::{Error, Sessions};
use tokio_util::sync::CancellationToken;

pub use crate::http::choose_tls;
pub use bounds::Bounds;
#[cfg(unix)]
pub use bounds::{limit_open_files, raise_open_files};
pub use listen::{Bound, Exposure, Listen};
pub use retention::Retention;
pub use tls::TlsFiles;

use self::slots::Slots;
use crate::api::health::{self, Health};
use crate::api::metrics::{self, Metrics};
use crate::api::{self, Api, Transcripts};
use crate::auth::Auth;
use crate::fleet::Fleet;
use crate::http::route;
use crate::limits::{DRAIN_MAX, SWEEP_EVERY};
use crate::notify::{Notifications, Notifier};

/// The server.
#[derive(Debug)]
pub struct Server {
    sessions: Sessions,
    auth: Auth,
    stopping: CancellationToken,
    transcripts: Transcripts,
    notifications: Notifications,
    bounds: Bounds,
    retention: Retention,
    archive: Option<Archive>,
    fleet: Option<Fleet>,
}

impl Server {
    /// A server for these sessions.
    pub fn new(sessions: Sessions, auth: Auth) -> Self {
        Server {
            notifications: Notifications::new(sessions.clone(), Notifier::default()),
            sessions,
            auth,
            stopping: CancellationToken::new(),
            transcripts: Transcripts::default(),
            bounds: Bounds::default(),
            retention: Retention::default(),
            archive: None,
            fleet: None,
        }
    }

    /// Archives sessions on disk before Claude Code deletes them.
    #[must_use]
    pub fn archive(mut self, archive: Archive) -> Self {
        self.archive = Some(archive);
        self
    }

    /// Makes it one of a fleet.
    #[must_use]
    pub fn fleet(mut self, fleet: Fleet) -> Self {
        fleet.attach(&self.sessions);
        self.fleet = Some(fleet);
        self
    }

    /// Sets limits for its clients.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets which events are kept.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Adds the API for sessions on disk.
    #[must_use]
    pub fn transcripts(mut self, transcripts: Transcripts) -> Self {
        self.transcripts = transcripts;
        self
    }

    /// Sets the targets of notifications for events that need a user.
    #[must_use]
    pub fn notifier(mut self, notifier: Notifier) -> Self {
        self.notifications = Notifications::new(self.sessions.clone(), notifier);
        self
    }

    /// All routes of the server, behind authentication. Each request needs its [`Peer`](crate::auth::Peer) in
    /// its extensions; without one, neither the admin token nor a hook is accepted.
    pub fn router(&self) -> Router {
        self.build_router(&Arc::default())
    }

    /// The routes of sessions behind authentication, for requests of other servers.
    fn api_router(&self) -> Router {
        api::router(self.api())
    }

    fn api(&self) -> Api {
        let mut api = Api::new(self.sessions.clone());
        let auth = self.auth.clone();
        api.sign_in = Arc::new(move |token, peer| auth.sign_in(token, peer));
        api.revoked = self.auth.revoked().clone();
        api.stopping = self.stopping.clone();
        api.transcripts = self.transcripts.clone();
        api.archive.clone_from(&self.archive);
        api.data = std::fs::canonicalize(&self.auth.settings().data).ok();
        api.fleet.clone_from(&self.fleet);
        api.notifications = self.notifications.clone();
        api.base_path.clone_from(&self.auth.settings().base_path);
        api
    }

    fn build_router(&self, metrics: &Arc<Metrics>) -> Router {
        let api = self.api();
        let journal = Arc::clone(self.sessions.broadcast().journal());
        self.auth.audit_to(Arc::new(move |draft| {
            let journal = Arc::clone(&journal);
            drop(tokio::spawn(async move {
                if let Err(error) = journal.audit(draft).await {
                    tracing::error!(%error, "the audit log could not be written");
                }
            }));
        }));
        let health = Health {
            sessions: self.sessions.clone(),
            stopping: self.stopping.clone(),
            metrics: Arc::clone(metrics),
            notifications: self.notifications.clone(),
            fleet: self.fleet.clone(),
        };
        let inside = api::router(api)
            .merge(api::page())
            .merge(self.auth.routes())
            .merge(route::router(health::routes()).with_state(health))
            .layer(middleware::from_fn(connections::mark_authenticated));
        let ids = self.sessions.config().ids.clone();
        self.auth
            .protect(inside, ids.clone())
            .layer(middleware::from_fn_with_state(self.bounds.body_time, body::limit))
            .layer(middleware::from_fn_with_state(ids, connections::answer_refused))
            .layer(middleware::from_fn_with_state(Arc::clone(metrics), metrics::count))
    }

    /// Serves until `stop` completes, and then shuts down: new connections are refused, streams are closed
    /// with a delay after which to reconnect, agents end, and the journal is closed.
    pub async fn run(self, bound: Bound, stop: impl Future<Output = ()>) -> Result<(), Error> {
        if !bound.has_socket() {
            self.auth.accept_admin_on_loopback();
        }
        let metrics = Arc::<Metrics>::default();
        let app = self.build_router(&metrics);
        let slots = Slots::new(self.bounds.within_open_files());
        let closing = CancellationToken::new();
        let serving = listen::serve(bound, app, slots, &closing);
        let sweeping = sweep(self.auth.clone());
        let notifications = self.notifications.clone();
        tokio::spawn(notifications.run(Some(self.auth.clone()), self.stopping.clone()));
        tokio::spawn(inspection::inspect(self.sessions.clone(), self.stopping.clone()));
        tokio::spawn(memory::give_back(self.sessions.clone(), self.stopping.clone()));
        let (retention, stopping) = (self.retention.run(self.sessions.clone()), self.stopping.clone());
        tokio::spawn(async move { stopping.run_until_cancelled(retention).await });
        let fleet = self.fleet.clone().map(|fleet| {
            let parts = (self.sessions.clone(), self.auth.clone(), self.notifications.clone());
            tokio::spawn(fleet.run(parts, self.api_router(), self.stopping.clone()))
        });
        if let Some(archive) = &self.archive {
            let clock = self.sessions.config().clock.clone();
            tokio::spawn(archive.clone().run(clock, self.stopping.clone()));
        }
        tokio::pin!(serving);
        tokio::select! {
            ended = &mut serving => return ended,
            () = sweeping => {}
            () = stop => {}
        }
        tracing::info!("stopping");
        self.stopping.cancel();
        let drained = tokio::time::timeout(DRAIN_MAX, async {
            closing.cancel();
            let ((), served) = tokio::join!(self.sessions.drain(), &mut serving);
            if let Some(fleet) = fleet {
                drop(fleet.await);
            }
            self.sessions.broadcast().journal().close().await?;
            served
        });
        drained.await.unwrap_or_else(|_| {
            tracing::warn!("shutdown did not finish in time");
            Ok(())
        })
    }
}

/// Removes expired credentials, as long as the server runs.
async fn sweep(auth: Auth) {
    loop {
        let swept = auth.clone();
        let swept = tokio::task::spawn_blocking(move || swept.sweep()).await;
        if let Ok(Err(error)) = swept {
            tracing::warn!("{error}");
        }
        auth.sweep_is_due(SWEEP_EVERY).await;
    }
}
