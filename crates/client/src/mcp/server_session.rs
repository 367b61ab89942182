//! An MCP server in one session, and its connections.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, JsonRpcRequest, RequestId};
use rmcp::{ErrorData, RoleServer, Service};
use tidings_protocol::json::Json;

use super::connection::{ConnectionStart, McpConnection, refusal};
use crate::handlers::{McpCallContext, McpHandler};

/// A server in one session: passes messages to the open connection.
pub(super) struct ServerSession<S> {
    service: Arc<S>,
    open: Mutex<Option<Arc<McpConnection>>>,
}

impl<S: Service<RoleServer>> ServerSession<S> {
    pub(super) fn new(service: Arc<S>) -> Self {
        ServerSession { service, open: Mutex::default() }
    }

    /// The connection that a message belongs to. A handshake opens a new one, as when the CLI reconnects;
    /// without a handshake the CLI uses the server's manifest.
    fn connection(&self, message: &ClientJsonRpcMessage, call: &McpCallContext) -> Arc<McpConnection> {
        let mut open = self.open.lock();
        let opening = match message {
            JsonRpcMessage::Request(JsonRpcRequest {
                request: ClientRequest::InitializeRequest(_), ..
            }) => ConnectionStart::Handshake,
            _ => ConnectionStart::Manifest,
        };
        let usable = open.as_ref().filter(|open| opening == ConnectionStart::Manifest && !open.has_ended());
        if let Some(connection) = usable {
            return Arc::clone(connection);
        }
        if let Some(old) = open.take() {
            old.end();
        }
        let connection = McpConnection::open(Arc::clone(&self.service), opening, call);
        *open = Some(Arc::clone(&connection));
        connection
    }
}

impl<S: Service<RoleServer>> McpHandler for ServerSession<S> {
    fn handle(&self, message: Json, call: McpCallContext) -> BoxFuture<'static, Option<Json>> {
        match serde_json::from_str::<ClientJsonRpcMessage>(message.raw().as_str()) {
            Ok(message) => Box::pin(self.connection(&message, &call).handle_message(message)),
            Err(error) => {
                tracing::warn!(server = call.server, %error, "failed to decode a message to an MCP server");
                let id = message.raw().get("id");
                let id = id.and_then(|id| serde_json::from_str::<RequestId>(id.as_str()).ok());
                let answer = id.map(|id| {
                    refusal(
                        id,
                        ErrorData::invalid_request(format!("The message cannot be decoded: {error}"), None),
                    )
                });
                Box::pin(std::future::ready(answer))
            }
        }
    }
}

impl<S> Drop for ServerSession<S> {
    fn drop(&mut self) {
        let open = self.open.get_mut();
        if let Some(connection) = open.take() {
            connection.end();
        }
    }
}
