//! Whether the server is alive, whether it is ready, and how it is doing.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tokio_util::sync::CancellationToken;

use super::metrics::Metrics;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::sessions::Sessions;

/// What has to be asked.
#[derive(Debug, Clone)]
pub(super) struct Health {
    pub(super) sessions: Sessions,
    pub(super) stopping: CancellationToken,
    pub(super) metrics: Arc<Metrics>,
}

pub(super) fn routes(health: Health) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(health)
}

/// Ready is who can read the journal and is not about to leave.
async fn ready(State(health): State<Health>, _caller: Caller) -> Result<&'static str, Error> {
    if health.stopping.is_cancelled() {
        return Err(
            Error::new(Code::Unavailable, "The server is stopping", "come back later").retry_after_ms(5000)
        );
    }
    health.sessions.hub().journal().sessions(None, 1).await?;
    Ok("ready\n")
}

async fn metrics(State(health): State<Health>, caller: Caller) -> Result<Response, Error> {
    caller.require(Scope::Read)?;
    let text = health.metrics.text(&health.sessions).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
