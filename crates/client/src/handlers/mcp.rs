//! Messages to MCP servers in this process.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, McpMessage, McpMessageReply};
use tidings_protocol::json::Json;

use super::{Answer, Context, Handlers};

/// An MCP server in this process, at the level of its messages.
pub trait McpHandler: Send + Sync {
    /// Handles a JSON-RPC message. A request returns its response; a notification returns `None`.
    fn handle(&self, message: Json, call: McpCallContext) -> BoxFuture<'static, Option<Json>>;
}

/// The source of a server's handler.
#[derive(Clone)]
pub(crate) enum McpSource {
    /// One handler for all sessions.
    Shared(Arc<dyn McpHandler>),
    /// A new handler for each session.
    PerSession(Arc<dyn Fn() -> Arc<dyn McpHandler> + Send + Sync>),
}

impl McpSource {
    pub(super) fn handler(&self) -> Arc<dyn McpHandler> {
        match self {
            McpSource::Shared(handler) => Arc::clone(handler),
            McpSource::PerSession(make) => make(),
        }
    }
}

/// The context of a message to a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct McpCallContext {
    /// The name under which the server was registered.
    pub server: String,
    /// The session and the cancellation of the message.
    pub context: Context,
}

/// The answer to a notification: the CLI requires one, and ignores its content.
const NOTHING: &str = r#"{"jsonrpc":"2.0","result":{},"id":0}"#;

pub(super) async fn answer(handlers: &Handlers, call: McpMessage, context: Context) -> Answer {
    let Some(handler) = handlers.mcp.get(&call.server_name) else {
        return Answer::Now(ControlResponse::error(format!(
            "SDK MCP server not found: {}",
            call.server_name
        )));
    };
    let context = McpCallContext { server: call.server_name, context };
    let response = handler.handler().handle(call.message, context).await;
    let response = response.or_else(|| Json::parse(NOTHING).ok()).unwrap_or_default();
    Answer::Now(ControlResponse::success(&McpMessageReply::new(response)))
}
