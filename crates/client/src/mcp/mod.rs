//! Tools of your own that the model calls in this process (feature `mcp`).
//!
//! A [`Tool`] is an async function whose arguments are a struct; a [`ToolServer`] is a named set of tools.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use tidings::Options;
//! use tidings::mcp::{Tool, ToolServer};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: f64,
//!     b: f64,
//! }
//!
//! let add = Tool::new("add", "Adds two numbers", |Add { a, b }| async move { (a + b).to_string() });
//! let add = add.read_only();
//! // The model calls it as `mcp__calc__add`.
//! let options = Options::new().tool_server(ToolServer::new("calc").tool(add));
//! # assert!(options.plan().is_ok());
//! ```
//!
//! A server that is written with [`rmcp`], the official SDK of MCP, works unchanged: [`Options::mcp_service`]
//! takes any `Service<RoleServer>`. Calls run concurrently, a cancelled call is notified or dropped, a panic
//! becomes an error for the model, and no part of a server outlives its session.

mod connection;
mod failure;
mod guard;
mod server;
mod server_session;
mod tool;

use std::sync::Arc;

pub use failure::Failure;
pub use rmcp;
pub use rmcp::handler::server::wrapper::Json as Structured;
pub use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::{RoleServer, Service};
pub use server::ToolServer;
pub use tool::Tool;

use crate::options::Options;

impl Options {
    /// Adds tools in this process. The model calls them as `mcp__<server>__<tool>`, and permissions apply as
    /// to any tool. It needs the feature `mcp`.
    pub fn tool_server(self, server: ToolServer) -> Self {
        let name = server.name().to_owned();
        if let Err(error) = server.check() {
            return self.invalid_mcp(error);
        }
        let mut options = self;
        if let Some(settings) = server.settings() {
            options = options.mcp_handler_settings(&name, settings);
        }
        if let Some(manifest) = server.manifest() {
            options = options.mcp_handler_manifest(&name, manifest);
        }
        options.mcp_service(name, server)
    }

    /// Adds an MCP server in this process that is made with [`rmcp`]. All sessions of these options share it,
    /// and each has its own connection to it. It needs the feature `mcp`.
    pub fn mcp_service(self, name: impl Into<String>, service: impl Service<RoleServer>) -> Self {
        let service = Arc::new(service);
        self.mcp_handler_per_session(name, move || server_session::ServerSession::new(Arc::clone(&service)))
    }
}
