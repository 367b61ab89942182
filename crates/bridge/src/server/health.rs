//! Whether the server is alive, whether it is ready, and how it is doing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use tokio_util::sync::CancellationToken;

use super::metrics::Metrics;
use crate::api::route::{Route, route};
use crate::api::scope::needs_later;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::plural::counted;
use crate::sessions::Sessions;

/// What has to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Health {
    pub(super) sessions: Sessions,
    pub(super) stopping: CancellationToken,
    pub(super) metrics: Arc<Metrics>,
}

/// What those who watch over servers ask for.
pub(crate) fn routes() -> Vec<Route<Health>> {
    vec![route!(healthz), route!(readyz), needs_later(Scope::Read, route!(metrics))]
}

/// Whether the process answers at all. Anybody may ask.
#[utoipa::path(get, path = "/healthz", tag = "health",
    responses((status = 200, description = "It does", body = String, content_type = "text/plain")))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server can read its journal and is not about to leave. Any credential may ask.
#[utoipa::path(get, path = "/readyz", tag = "health", security(("bearer" = [])),
    responses((status = 200, description = "It is ready", body = String, content_type = "text/plain"),
        (status = 503, description = "It is not, or not any more")))]
async fn readyz(State(health): State<Health>, _caller: Caller) -> Result<&'static str, Error> {
    if health.stopping.is_cancelled() {
        return Err(
            Error::new(Code::Unavailable, "The server is stopping", "come back later").retry_after_ms(5000)
        );
    }
    let journal = health.sessions.broadcast().journal();
    journal.sessions(None, 1).await?;
    let damaged = journal.damaged_events();
    if damaged > 0 {
        let message = format!("The journal is damaged: {} cannot be read", counted(damaged, "event"));
        let hint = "everything else works; stop the server, and restore a backup if the events are needed";
        return Err(Error::new(Code::Unavailable, message, hint));
    }
    Ok("ready\n")
}

/// How the server is doing, in the text format of Prometheus. A credential that is limited to folders gets none: the figures
/// are of all sessions.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")))]
async fn metrics(State(health): State<Health>, caller: Caller) -> Result<Response, Error> {
    caller.require(Scope::Read)?;
    if !caller.folders.is_empty() {
        let message = "The figures are of all sessions, and this credential is limited to folders";
        return Err(Error::new(Code::Forbidden, message, "make one without folders, with the scope `read`"));
    }
    let text = health.metrics.text(&health.sessions).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
