//! How to reach an MCP server.

use std::collections::BTreeMap;

use super::tagged;
use crate::json::{Cursor, Json, Misfit, Raw, Reading, Text, Wire, object, open_string};

open_string! {
    /// What a server's policy says about a tool.
    pub struct ToolPermissionPolicy {
        ALWAYS_ASK = "always_ask",
        ALWAYS_ALLOW = "always_allow",
        ALWAYS_DENY = "always_deny",
    }

    /// The most that the organisation lets a tool do.
    pub struct OrgMaxPermission {
        ASK = "ask",
        ALLOW = "allow",
        BLOCKED = "blocked",
    }
}

object! {
    /// What a server's policy says about one of its tools. On servers of the host only ask and deny count.
    pub struct McpToolPolicy {
        req name: String,
        opt permission_policy: ToolPermissionPolicy,
        opt org_max_permission: OrgMaxPermission,
    }

    /// A server that is a child process.
    pub struct StdioServer {
        /// `stdio`, or absent: it is what a configuration without a type means.
        opt kind: String as "type",
        req command: String,
        def args: Vec<String>,
        def env: BTreeMap<String, String>,
        /// The limit for one call in milliseconds; less than a second is ignored.
        opt timeout: u64,
        /// Whether its tools are loaded at once rather than when they are searched for.
        opt always_load: bool as "alwaysLoad",
    }

    /// A server that is reached over HTTP.
    pub struct RemoteServer {
        req url: String,
        def headers: BTreeMap<String, String>,
        opt tools: Vec<McpToolPolicy>,
        /// The limit for one call in milliseconds; less than a second is ignored.
        opt timeout: u64,
        /// Whether its tools are loaded at once rather than when they are searched for.
        opt always_load: bool as "alwaysLoad",
    }

    /// A server that lives in the host and is reached by `mcp_message`.
    pub struct SdkServer {
        req name: String,
        /// The limit for one call in milliseconds; less than a second is ignored.
        opt timeout: u64,
        opt tools: Vec<McpToolPolicy>,
    }

    /// A server that claude.ai stands before. Seen in a status, not to be configured.
    pub struct ClaudeAiProxyServer {
        opt url: String,
        opt id: String,
        opt timeout: u64,
    }
}

/// How to reach an MCP server, told apart by `type`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum McpServerConfig {
    /// A child process: `stdio`, or no type but a command.
    Stdio(StdioServer),
    /// HTTP with server-sent events: `sse`.
    Sse(RemoteServer),
    /// HTTP: `http`.
    Http(RemoteServer),
    /// In the host: `sdk`.
    Sdk(SdkServer),
    /// Behind claude.ai: `claudeai-proxy`.
    ClaudeAiProxy(ClaudeAiProxyServer),
    /// Any other value, as it came.
    Unknown(Json),
}

impl McpServerConfig {
    /// A child process.
    pub fn stdio(command: impl Into<String>, args: Vec<String>) -> Self {
        McpServerConfig::Stdio(StdioServer {
            kind: Some("stdio".to_owned()),
            command: command.into(),
            args,
            ..StdioServer::default()
        })
    }

    /// HTTP.
    pub fn http(url: impl Into<String>) -> Self {
        McpServerConfig::Http(RemoteServer { url: url.into(), ..RemoteServer::default() })
    }

    /// HTTP with server-sent events.
    pub fn sse(url: impl Into<String>) -> Self {
        McpServerConfig::Sse(RemoteServer { url: url.into(), ..RemoteServer::default() })
    }

    /// In the host.
    pub fn sdk(name: impl Into<String>) -> Self {
        McpServerConfig::Sdk(SdkServer { name: name.into(), ..SdkServer::default() })
    }
}

/// The key that tells configurations apart.
const TAG: &str = "type";

impl Wire for McpServerConfig {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let raw = cursor.raw();
        let tag = raw.get(TAG);
        let known = match tag.and_then(Raw::text).map(Text::get).as_deref() {
            // The type of a child process is a field of its own, since it may be absent: no key is kept from it.
            Some("stdio") => tagged::body(raw, reading, "").map(McpServerConfig::Stdio),
            None if tag.is_none() && raw.get("command").is_some() => {
                tagged::body(raw, reading, "").map(McpServerConfig::Stdio)
            }
            Some("sse") => tagged::body(raw, reading, TAG).map(McpServerConfig::Sse),
            Some("http") => tagged::body(raw, reading, TAG).map(McpServerConfig::Http),
            Some("sdk") => tagged::body(raw, reading, TAG).map(McpServerConfig::Sdk),
            Some("claudeai-proxy") => tagged::body(raw, reading, TAG).map(McpServerConfig::ClaudeAiProxy),
            _ => None,
        };
        Ok(known.unwrap_or_else(|| McpServerConfig::Unknown(raw.to_json())))
    }

    fn write(&self, out: &mut String) {
        match self {
            McpServerConfig::Stdio(server) => server.write(out),
            McpServerConfig::Sse(server) => tagged::write(server, TAG, "sse", out),
            McpServerConfig::Http(server) => tagged::write(server, TAG, "http", out),
            McpServerConfig::Sdk(server) => tagged::write(server, TAG, "sdk", out),
            McpServerConfig::ClaudeAiProxy(server) => tagged::write(server, TAG, "claudeai-proxy", out),
            McpServerConfig::Unknown(raw) => raw.write(out),
        }
    }
}

object!(@through_wire McpServerConfig);
