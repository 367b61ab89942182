//! The `mcp_*` requests: status and configuration of MCP servers.

use std::collections::BTreeMap;

use super::mcp_config::McpServerConfig;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionMode;

open_string! {
    /// Connection status of an MCP server.
    pub struct ServerStatus {
        PENDING = "pending",
        CONNECTED = "connected",
        FAILED = "failed",
        NEEDS_AUTH = "needs-auth",
        DISABLED = "disabled",
    }
}

object! {
    /// A message to or from an MCP server inside the host; either side may send it.
    pub struct McpMessage {
        req server_name: String,
        /// A JSON-RPC 2.0 object: request, notification or response.
        req message: Json,
    }

    /// Reply to a [`McpMessage`]. The CLI leaves it empty; the host must not.
    pub struct McpMessageReply {
        /// JSON-RPC response; the CLI requires one even for a notification.
        opt mcp_response: Json,
    }

    /// Request for the status of the MCP servers.
    pub struct McpStatus {
        opt live_reply: bool as "liveReply",
    }

    /// Status of the MCP servers.
    pub struct McpStatusReply {
        def mcp_servers: Vec<McpServerStatus> as "mcpServers",
    }

    /// Status of one MCP server.
    pub struct McpServerStatus {
        req name: String,
        opt status: ServerStatus,
        /// Name and version reported by the server.
        opt server_info: McpServerVersion as "serverInfo",
        opt error: String,
        opt config: McpServerConfig,
        /// Settings scope that defines the server.
        opt scope: String,
        opt source: String,
        opt tools: Vec<McpToolStatus>,
    }

    /// Name and version of an MCP server.
    pub struct McpServerVersion {
        req name: String,
        opt version: String,
    }

    /// A tool of an MCP server.
    pub struct McpToolStatus {
        req name: String,
        opt description: String,
        opt annotations: McpToolAnnotations,
        opt meta: Json as "_meta",
    }

    /// Hints of a tool about its effects.
    pub struct McpToolAnnotations {
        opt read_only: bool as "readOnly",
        opt destructive: bool,
        opt open_world: bool as "openWorld",
    }

    /// An MCP server by name, with its origin.
    pub struct McpServerRef {
        req name: String,
        opt source: String,
    }

    /// Replaces the MCP servers set before.
    pub struct McpSetServers {
        req servers: BTreeMap<String, McpServerConfig>,
    }

    /// Changes made by [`McpSetServers`].
    pub struct McpSetServersReply {
        def added: Vec<String>,
        def removed: Vec<String>,
        /// Error messages, by server.
        def errors: BTreeMap<String, String>,
    }

    /// Reconnects to an MCP server.
    pub struct McpReconnect {
        req server_name: String as "serverName",
    }

    /// Enables or disables an MCP server.
    pub struct McpToggle {
        req server_name: String as "serverName",
        req enabled: bool,
    }

    /// Reads a resource of an MCP server.
    pub struct McpReadResource {
        req server_name: String as "serverName",
        /// The CLI supports `ui://` only.
        req uri: String,
    }

    /// The resource requested by [`McpReadResource`].
    pub struct McpResource {
        def contents: Vec<McpResourceContents>,
    }

    /// One part of a resource: text, or bytes in base64.
    pub struct McpResourceContents {
        opt uri: String,
        opt mime_type: String as "mimeType",
        opt text: String,
        opt blob: String,
        opt meta: Json as "_meta",
    }

    /// Changes the permission mode for one MCP server.
    pub struct SetMcpPermissionModeOverride {
        req server_name: String as "serverName",
        /// `default` or `auto`; absent removes the override.
        req mode: Option<PermissionMode>,
        opt ask_for_tools: Vec<String> as "askForTools",
    }

    /// The answer to a [`SetMcpPermissionModeOverride`].
    pub struct SetMcpPermissionModeOverrideReply {
        opt warning: String,
    }
}

impl McpMessage {
    /// A message to or from the named server.
    pub fn new(server_name: impl Into<String>, message: Json) -> Self {
        McpMessage { server_name: server_name.into(), message, ..McpMessage::default() }
    }
}

impl McpMessageReply {
    /// A JSON-RPC response.
    pub fn new(mcp_response: Json) -> Self {
        McpMessageReply { mcp_response: Some(mcp_response), ..McpMessageReply::default() }
    }
}

impl McpSetServers {
    /// Exactly these servers.
    pub fn new(servers: BTreeMap<String, McpServerConfig>) -> Self {
        McpSetServers { servers, ..McpSetServers::default() }
    }
}

impl McpReconnect {
    /// Reconnects to the named server.
    pub fn new(server_name: impl Into<String>) -> Self {
        McpReconnect { server_name: server_name.into(), ..McpReconnect::default() }
    }
}

impl McpToggle {
    /// Enables the named server.
    pub fn on(server_name: impl Into<String>) -> Self {
        McpToggle { server_name: server_name.into(), enabled: true, ..McpToggle::default() }
    }

    /// Disables the named server.
    pub fn off(server_name: impl Into<String>) -> Self {
        McpToggle { server_name: server_name.into(), enabled: false, ..McpToggle::default() }
    }
}

impl McpReadResource {
    /// Reads the resource at `uri` of the named server.
    pub fn new(server_name: impl Into<String>, uri: impl Into<String>) -> Self {
        McpReadResource { server_name: server_name.into(), uri: uri.into(), ..McpReadResource::default() }
    }
}

impl SetMcpPermissionModeOverride {
    /// Sets the mode for calls of the named server; `None` removes the override.
    pub fn new(server_name: impl Into<String>, mode: Option<PermissionMode>) -> Self {
        SetMcpPermissionModeOverride {
            server_name: server_name.into(),
            mode,
            ..SetMcpPermissionModeOverride::default()
        }
    }
}
