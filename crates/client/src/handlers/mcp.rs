//! Messages to MCP servers that live in this process.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, McpMessage, McpMessageReply};
use tidings_protocol::json::Json;

use super::{Answer, Context, Handlers};

/// An MCP server that lives in this process, as its messages.
pub trait McpHandler: Send + Sync {
    /// Takes a JSON-RPC message. A request gets its response; a notification gets `None`.
    fn handle(&self, message: Json, call: McpCallContext) -> BoxFuture<'static, Option<Json>>;
}

/// Where a session takes the handler of a server from.
#[derive(Clone)]
pub(crate) enum McpSource {
    /// All sessions have the same.
    Shared(Arc<dyn McpHandler>),
    /// Each session has one of its own.
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

/// What a server knows of the message that it takes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct McpCallContext {
    /// The name under which the server was registered.
    pub server: String,
    /// The session, and whether the message was taken back.
    pub context: Context,
}

/// The answer to a notification: the CLI wants one, and looks only at its being there.
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
