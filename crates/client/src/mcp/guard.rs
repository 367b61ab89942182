//! A wrapper of an MCP server that catches panics, and ends with the connection.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, Service};
use tokio_util::sync::CancellationToken;

/// A wrapper of a server that answers panics with errors, and stops the server with its connection.
///
/// rmcp runs every request in a detached task: a panic there would leave the CLI without an answer, and a
/// tool that never ends would outlive the session.
pub(super) struct Guard<S> {
    service: Arc<S>,
    end: CancellationToken,
}

impl<S> Guard<S> {
    pub(super) fn new(service: Arc<S>, end: CancellationToken) -> Self {
        Guard { service, end }
    }

    async fn run<T>(&self, work: impl Future<Output = Result<T, ErrorData>> + Send) -> Result<T, ErrorData> {
        tokio::select! {
            biased;
            () = self.end.cancelled() => Err(ErrorData::internal_error("The session has ended", None)),
            done = catch(work) => {
                done.unwrap_or_else(|_| Err(ErrorData::internal_error("The MCP server failed", None)))
            }
        }
    }
}

/// Runs a future and catches its panic. As with any task, data that it shares must stay consistent by itself.
pub(super) async fn catch<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| {
        tracing::error!("an MCP server panicked");
        Panicked
    })
}

/// Marker for a caught panic; the panic hook has already reported it.
pub(super) struct Panicked;

impl<S: Service<RoleServer>> Service<RoleServer> for Guard<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        self.run(async { self.service.handle_request(request, context).await }).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.run(async { self.service.handle_notification(notification, context).await }).await
    }

    fn get_info(&self) -> ServerConfig {
        self.service.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.service.supported_protocol_versions()
    }
}
