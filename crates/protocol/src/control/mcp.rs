//! The `mcp_*` requests: how the CLI's MCP servers are, and which there are.

use std::collections::BTreeMap;

use super::mcp_config::McpServerConfig;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionMode;

open_string! {
    /// How an MCP server is.
    pub struct ServerStatus {
        PENDING = "pending",
        CONNECTED = "connected",
        FAILED = "failed",
        NEEDS_AUTH = "needs-auth",
        DISABLED = "disabled",
    }
}

object! {
    /// A message to or from an MCP server that lives in the host; either side may send it.
    pub struct McpMessage {
        req server_name: String,
        /// A JSON-RPC 2.0 object: request, notification or response.
        req message: Json,
    }

    /// The answer to a [`McpMessage`]. The CLI leaves it empty, the host must not.
    pub struct McpMessageReply {
        /// The JSON-RPC response; the CLI wants one even where the message was a notification.
        opt mcp_response: Json,
    }

    /// How are the MCP servers?
    pub struct McpStatus {
        opt live_reply: bool as "liveReply",
    }

    /// How the MCP servers are.
    pub struct McpStatusReply {
        def mcp_servers: Vec<McpServerStatus> as "mcpServers",
    }

    /// How an MCP server is.
    pub struct McpServerStatus {
        req name: String,
        opt status: ServerStatus,
        /// What the server says of itself.
        opt server_info: McpServerVersion as "serverInfo",
        opt error: String,
        opt config: McpServerConfig,
        /// Which settings the server comes from.
        opt scope: String,
        opt source: String,
        opt tools: Vec<McpToolStatus>,
    }

    /// What an MCP server says of itself.
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

    /// What a tool says of its effects.
    pub struct McpToolAnnotations {
        opt read_only: bool as "readOnly",
        opt destructive: bool,
        opt open_world: bool as "openWorld",
    }

    /// An MCP server by name, and where it comes from.
    pub struct McpServerRef {
        req name: String,
        opt source: String,
    }

    /// Puts other MCP servers in the place of those set before.
    pub struct McpSetServers {
        req servers: BTreeMap<String, McpServerConfig>,
    }

    /// What [`McpSetServers`] changed.
    pub struct McpSetServersReply {
        def added: Vec<String>,
        def removed: Vec<String>,
        /// What went wrong, by server.
        def errors: BTreeMap<String, String>,
    }

    /// Connects to an MCP server again.
    pub struct McpReconnect {
        req server_name: String as "serverName",
    }

    /// Switches an MCP server on or off.
    pub struct McpToggle {
        req server_name: String as "serverName",
        req enabled: bool,
    }

    /// Reads a resource of an MCP server.
    pub struct McpReadResource {
        req server_name: String as "serverName",
        /// The CLI serves `ui://` only.
        req uri: String,
    }

    /// The resource that [`McpReadResource`] asked for.
    pub struct McpResource {
        def contents: Vec<McpResourceContents>,
    }

    /// One part of a resource: text or, in base64, bytes.
    pub struct McpResourceContents {
        opt uri: String,
        opt mime_type: String as "mimeType",
        opt text: String,
        opt blob: String,
        opt meta: Json as "_meta",
    }

    /// Changes how calls of one MCP server are permitted.
    pub struct SetMcpPermissionModeOverride {
        req server_name: String as "serverName",
        /// `default` or `auto`; nothing takes the override away.
        req mode: Option<PermissionMode>,
        opt ask_for_tools: Vec<String> as "askForTools",
    }

    /// The answer to a [`SetMcpPermissionModeOverride`].
    pub struct SetMcpPermissionModeOverrideReply {
        opt warning: String,
    }
}

impl McpMessage {
    /// A message to or from the server of that name.
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
    /// These servers and no others.
    pub fn new(servers: BTreeMap<String, McpServerConfig>) -> Self {
        McpSetServers { servers, ..McpSetServers::default() }
    }
}

impl McpReconnect {
    /// Connects to the server of that name.
    pub fn new(server_name: impl Into<String>) -> Self {
        McpReconnect { server_name: server_name.into(), ..McpReconnect::default() }
    }
}

impl McpToggle {
    /// Switches the server of that name on.
    pub fn on(server_name: impl Into<String>) -> Self {
        McpToggle { server_name: server_name.into(), enabled: true, ..McpToggle::default() }
    }

    /// Switches the server of that name off.
    pub fn off(server_name: impl Into<String>) -> Self {
        McpToggle { server_name: server_name.into(), enabled: false, ..McpToggle::default() }
    }
}

impl McpReadResource {
    /// Reads the resource at `uri` of the server of that name.
    pub fn new(server_name: impl Into<String>, uri: impl Into<String>) -> Self {
        McpReadResource { server_name: server_name.into(), uri: uri.into(), ..McpReadResource::default() }
    }
}

impl SetMcpPermissionModeOverride {
    /// Permits calls of the server of that name as in `mode`; `None` takes the override away.
    pub fn new(server_name: impl Into<String>, mode: Option<PermissionMode>) -> Self {
        SetMcpPermissionModeOverride {
            server_name: server_name.into(),
            mode,
            ..SetMcpPermissionModeOverride::default()
        }
    }
}
