//! Liveness, readiness and metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use tidings_api::{Code, Scope};
use tidings_base::plural::counted;
use tidings_sessions::{Caller, Error, Sessions};
use tokio_util::sync::CancellationToken;

use super::metrics::Metrics;
use crate::fleet::Fleet;
use crate::http::route::{Route, route};
use crate::http::scope::needs_later;
use crate::notify::Notifications;

/// State of these routes.
#[derive(Debug, Clone)]
pub(crate) struct Health {
    pub(crate) sessions: Sessions,
    pub(crate) stopping: CancellationToken,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) notifications: Notifications,
    pub(crate) fleet: Option<Fleet>,
}

/// The routes for monitoring.
pub(crate) fn routes() -> Vec<Route<Health>> {
    vec![
        route!(get "/healthz", healthz),
        route!(get "/readyz", readyz),
        needs_later(Scope::Read, route!(get "/metrics", metrics)),
    ]
}

/// Liveness: the process answers. No credential is needed.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/healthz", tag = "health",
    responses((status = 200, description = "It does", body = String, content_type = "text/plain"))))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness: the server can read its journal and is not stopping. Any credential will do.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/readyz", tag = "health", security(("bearer" = [])),
    responses((status = 200, description = "It is ready", body = String, content_type = "text/plain"),
        (status = 503, description = "It is not, or not any more"))))]
async fn readyz(State(health): State<Health>, _caller: Caller) -> Result<String, Error> {
    if health.stopping.is_cancelled() {
        return Err(
            Error::new(Code::Unavailable, "The server is stopping", "come back later").retry_after_ms(5000)
        );
    }
    let journal = health.sessions.broadcast().journal();
    journal.sessions(None, 1).await?;
    if let Some(loss) = journal.losses().first() {
        let more = match journal.losses().len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("The journal was damaged: {loss}{more}");
        let hint = "everything else works; `tidings doctor` lists it; stop the server, and restore a backup if it is needed";
        return Err(Error::new(Code::Unavailable, message, hint));
    }
    let damaged = journal.damaged_events();
    if damaged > 0 {
        let message = format!("The journal is damaged: {} cannot be read", counted(damaged, "event"));
        let hint = "everything else works; stop the server, and restore a backup if the events are needed";
        return Err(Error::new(Code::Unavailable, message, hint));
    }
    // Its own sessions work: it stays ready, and says so.
    Ok(match health.fleet.as_ref().and_then(Fleet::problem) {
        Some(problem) => format!("ready\n{problem}\n"),
        None => "ready\n".to_owned(),
    })
}

/// Metrics in the text format of Prometheus. A credential that is limited to folders is refused, since the
/// figures cover all sessions.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain"))))]
async fn metrics(State(health): State<Health>, caller: Caller) -> Result<Response, Error> {
    caller.require(Scope::Read)?;
    if !caller.folders.is_empty() {
        let message = "The metrics cover all sessions, and this credential is limited to folders";
        return Err(Error::new(Code::Forbidden, message, "use one without folders, with the scope `read`"));
    }
    let text = health.metrics.text(&health.sessions, &health.notifications, health.fleet.as_ref()).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
