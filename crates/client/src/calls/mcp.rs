//! Requests about MCP servers.

use std::collections::BTreeMap;

use tidings_protocol::control::{
    McpCall, McpCallReply, McpMessage, McpReadResource, McpReconnect, McpResource, McpServerConfig,
    McpServerStatus, McpSetServers, McpSetServersReply, McpStatus, McpToggle,
};
use tidings_protocol::json::Json;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The status of the MCP servers.
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>, Error> {
        Ok(self.request(McpStatus::default()).await?.mcp_servers)
    }

    /// Replaces the MCP servers that were set before.
    pub async fn set_mcp_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpSetServersReply, Error> {
        self.request(McpSetServers::new(servers)).await
    }

    /// Reconnects to an MCP server.
    pub async fn reconnect_mcp_server(&self, server: &str) -> Result<(), Error> {
        self.request(McpReconnect::new(server)).await.map(drop)
    }

    /// Enables an MCP server.
    pub async fn enable_mcp_server(&self, server: &str) -> Result<(), Error> {
        self.request(McpToggle::on(server)).await.map(drop)
    }

    /// Disables an MCP server.
    pub async fn disable_mcp_server(&self, server: &str) -> Result<(), Error> {
        self.request(McpToggle::off(server)).await.map(drop)
    }

    /// Reads a resource of an MCP server; the CLI supports `ui://` only.
    pub async fn read_mcp_resource(&self, server: &str, uri: &str) -> Result<McpResource, Error> {
        self.request(McpReadResource::new(server, uri)).await
    }

    /// Calls a tool of an MCP server without the model. The timeout is that of the call.
    pub async fn call_mcp_tool(&self, call: McpCall) -> Result<McpCallReply, Error> {
        // The CLI's own limit is two minutes unless the call sets another.
        let limit_ms = call.timeout_ms.unwrap_or(120_000) + 5_000;
        self.request_within(call, std::time::Duration::from_millis(limit_ms)).await
    }

    /// Sends a message of an MCP server in this process, such as a notification that its tools have changed.
    pub async fn send_mcp_message(&self, server: &str, message: Json) -> Result<(), Error> {
        self.request(McpMessage::new(server, message)).await.map(drop)
    }
}
