//! A connection between the CLI and a server in this process: messages in control requests go to rmcp, and
//! messages of rmcp go back as their answers or, if they are not answers, as requests of our own.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientJsonRpcMessage,
    ClientNotification, Implementation, InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{serve_directly_with_ct, serve_server_with_ct};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer, Service};
use tidings_protocol::json::Json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::guard::Guard;
use crate::client::Client;
use crate::handlers::McpCallContext;
use crate::limits::{MCP_CANCELLED_MAX, MCP_MESSAGES_MAX};

/// The beginning of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionStart {
    /// With `initialize`.
    Handshake,
    /// Without `initialize`: the CLI has the server's manifest.
    Manifest,
}

pub(super) struct McpConnection {
    to_server: mpsc::Sender<ClientJsonRpcMessage>,
    calls: Mutex<OpenCalls>,
    end: CancellationToken,
}

/// Requests of the CLI that wait for the server.
#[derive(Default)]
struct OpenCalls {
    open: HashMap<RequestId, oneshot::Sender<Json>>,
    /// Calls that were cancelled before they arrived: every message is delivered by a task of its own, and
    /// tasks overtake each other.
    cancelled_early: VecDeque<RequestId>,
}

impl McpConnection {
    pub(super) fn open<S: Service<RoleServer>>(
        service: Arc<S>,
        opening: ConnectionStart,
        call: &McpCallContext,
    ) -> Arc<Self> {
        let (to_server, from_cli) = mpsc::channel(MCP_MESSAGES_MAX);
        let (to_cli, from_server) = mpsc::channel(MCP_MESSAGES_MAX);
        let (to_forward, forwarded) = mpsc::channel(MCP_MESSAGES_MAX);
        let end = CancellationToken::new();
        let connection = Arc::new(McpConnection { to_server, calls: Mutex::default(), end: end.clone() });
        let guard = Guard::new(service, end.clone());
        drop(tokio::spawn(serve(guard, RmcpTransport { from_cli, to_cli }, opening, end)));
        drop(tokio::spawn(dispatch(Arc::clone(&connection), from_server, to_forward)));
        let client = call.context.client().clone();
        drop(tokio::spawn(forward(Arc::clone(&connection), call.server.clone(), client, forwarded)));
        connection
    }

    pub(super) fn end(&self) {
        self.end.cancel();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_cancelled()
    }

    /// Passes a message of the CLI to the server, and waits for the answer if it is a request.
    pub(super) async fn handle_message(self: Arc<Self>, message: ClientJsonRpcMessage) -> Option<Json> {
        let cancelled_early = match &message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                return Some(self.request(id, message).await);
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.clone(),
                _ => None,
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
        };
        if self.to_server.send(message).await.is_err() {
            tracing::debug!("dropped a message to an MCP server that has ended");
        }
        if let Some(id) = cancelled_early {
            self.cancel(id);
        }
        None
    }

    async fn request(&self, id: RequestId, message: ClientJsonRpcMessage) -> Json {
        let ended = || refusal(id.clone(), ErrorData::internal_error("The MCP server has ended", None));
        let answer = match self.register(&id) {
            Ok(answer) => answer,
            Err(error) => return refusal(id, error),
        };
        let mut unanswered = CancelCallOnDrop { connection: self, id: Some(id.clone()) };
        if self.to_server.send(message).await.is_err() {
            return ended();
        }
        let answer = answer.await;
        unanswered.id = None;
        answer.unwrap_or_else(|_| ended())
    }

    fn register(&self, id: &RequestId) -> Result<oneshot::Receiver<Json>, ErrorData> {
        let mut calls = self.calls();
        if let Some(at) = calls.cancelled_early.iter().position(|other| other == id) {
            calls.cancelled_early.remove(at);
            return Err(cancelled());
        }
        if calls.open.contains_key(id) {
            return Err(ErrorData::invalid_request("A request with this id is already pending", None));
        }
        let (sender, answer) = oneshot::channel();
        calls.open.insert(id.clone(), sender);
        Ok(answer)
    }

    /// Ends a cancelled call: rmcp will not answer it, and the control request must not stay open.
    fn cancel(&self, id: RequestId) {
        let mut calls = self.calls();
        if let Some(waiting) = calls.open.remove(&id) {
            // The receiver is gone if the control request was cancelled as well.
            drop(waiting.send(refusal(id, cancelled())));
            return;
        }
        if calls.cancelled_early.len() >= MCP_CANCELLED_MAX {
            calls.cancelled_early.pop_front();
        }
        calls.cancelled_early.push_back(id);
    }

    fn calls(&self) -> MutexGuard<'_, OpenCalls> {
        self.calls.lock()
    }
}

/// Cancels the call in the server when its answer is no longer awaited.
struct CancelCallOnDrop<'a> {
    connection: &'a McpConnection,
    id: Option<RequestId>,
}

impl Drop for CancelCallOnDrop<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.connection.calls().open.remove(&id);
        let params = CancelledNotificationParam::new(Some(id), None);
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(params));
        if self.connection.to_server.try_send(JsonRpcMessage::notification(notification)).is_err() {
            tracing::debug!("failed to send a cancellation to an MCP server");
        }
    }
}

/// The rmcp transport of a connection.
struct RmcpTransport {
    from_cli: mpsc::Receiver<ClientJsonRpcMessage>,
    to_cli: mpsc::Sender<ServerJsonRpcMessage>,
}

impl Transport<RoleServer> for RmcpTransport {
    type Error = mpsc::error::SendError<ServerJsonRpcMessage>;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let to_cli = self.to_cli.clone();
        async move { to_cli.send(message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.from_cli.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.from_cli.close();
        Ok(())
    }
}

/// Runs the server until the connection ends.
async fn serve<S: Service<RoleServer>>(
    service: Guard<S>,
    transport: RmcpTransport,
    opening: ConnectionStart,
    end: CancellationToken,
) {
    let running = match opening {
        ConnectionStart::Handshake => serve_server_with_ct(service, transport, end.clone()).await,
        ConnectionStart::Manifest => {
            Ok(serve_directly_with_ct(service, transport, Some(claude()), end.clone()))
        }
    };
    match running {
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::warn!(%error, "an MCP server failed to start"),
    }
    end.cancel();
}

/// Passes answers to their waiters, and all other messages on to be forwarded. Ends with the server.
async fn dispatch(
    connection: Arc<McpConnection>,
    mut from_server: mpsc::Receiver<ServerJsonRpcMessage>,
    to_forward: mpsc::Sender<ServerJsonRpcMessage>,
) {
    while let Some(message) = from_server.recv().await {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                // Answers must not wait behind a CLI that accepts no messages.
                if let Err(error) = to_forward.try_send(message) {
                    tracing::warn!("an MCP server sends faster than the CLI reads; a message was dropped");
                    undelivered(&connection, &error.into_inner(), "Too many messages are queued").await;
                }
                continue;
            }
        };
        let waiting = id.and_then(|id| connection.calls().open.remove(id));
        // A cancelled call has no waiter.
        drop(waiting.map(|waiting| waiting.send(json(&message))));
    }
    connection.end();
    connection.calls().open.clear();
}

/// Forwards the server's own messages to the CLI, in order, and ends the connection with the session.
async fn forward(
    connection: Arc<McpConnection>,
    server: String,
    client: Client,
    mut forwarded: mpsc::Receiver<ServerJsonRpcMessage>,
) {
    loop {
        let message = tokio::select! {
            () = connection.end.cancelled() => return,
            _ = client.ended() => return connection.end(),
            message = forwarded.recv() => message,
        };
        let Some(message) = message else { return };
        if let Err(error) = client.send_mcp_message(&server, json(&message)).await {
            tracing::debug!(%error, server, "the CLI refused a message of an MCP server");
            undelivered(&connection, &message, &error.to_string()).await;
        }
    }
}

/// Answers a request of the server that did not reach the CLI with an error, so that the server does not wait
/// for ever.
async fn undelivered(connection: &McpConnection, message: &ServerJsonRpcMessage, why: &str) {
    if let JsonRpcMessage::Request(request) = message {
        let error = ErrorData::internal_error(why.to_owned(), None);
        drop(connection.to_server.send(JsonRpcMessage::error(error, Some(request.id.clone()))).await);
    }
}

/// The client information of the CLI, where it does not send its own.
fn claude() -> InitializeRequestParams {
    let mut claude =
        InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("claude-code", ""));
    claude.protocol_version = ProtocolVersion::V_2025_11_25;
    claude
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("The call was cancelled", None)
}

pub(super) fn refusal(id: RequestId, error: ErrorData) -> Json {
    json(&JsonRpcMessage::error(error, Some(id)))
}

fn json(message: &ServerJsonRpcMessage) -> Json {
    // serde_json fails only on maps whose keys are not strings, and MCP has none.
    let text = serde_json::to_string(message).unwrap_or_default();
    Json::parse(&text).unwrap_or_default()
}
