//! Configuration of MCP servers.

use std::collections::BTreeMap;
use std::fmt;

use super::tagged;
use crate::json::{Cursor, Json, Misfit, Raw, Reading, Text, Wire, object, open_string};

open_string! {
    /// Policy of a server for a tool.
    pub struct ToolPermissionPolicy {
        ALWAYS_ASK = "always_ask",
        ALWAYS_ALLOW = "always_allow",
        ALWAYS_DENY = "always_deny",
    }

    /// Maximum permission that the organisation grants a tool.
    pub struct OrgMaxPermission {
        ASK = "ask",
        ALLOW = "allow",
        BLOCKED = "blocked",
    }
}

object! {
    /// Policy of a server for one of its tools. For servers inside the host only ask and deny have an effect.
    pub struct McpToolPolicy {
        req name: String,
        opt permission_policy: ToolPermissionPolicy,
        opt org_max_permission: OrgMaxPermission,
    }

    /// A server inside the host, reached by `mcp_message`.
    pub struct SdkServer {
        req name: String,
        /// Timeout of one call in milliseconds; values below a second are ignored.
        opt timeout: u64,
        opt tools: Vec<McpToolPolicy>,
    }

    /// A server behind a proxy of claude.ai. It appears in a status and cannot be configured.
    pub struct ClaudeAiProxyServer {
        opt url: String,
        opt id: String,
        opt timeout: u64,
    }
}

object! {
    without Debug:

    /// A server that runs as a child process.
    pub struct StdioServer {
        /// `stdio` or absent, which means the same.
        opt kind: String as "type",
        req command: String,
        def args: Vec<String>,
        def env: BTreeMap<String, String>,
        /// Timeout of one call in milliseconds; values below a second are ignored.
        opt timeout: u64,
        /// True if its tools are loaded at once instead of on search.
        opt always_load: bool as "alwaysLoad",
    }

    /// A server reached over HTTP.
    pub struct RemoteServer {
        req url: String,
        def headers: BTreeMap<String, String>,
        opt tools: Vec<McpToolPolicy>,
        /// Timeout of one call in milliseconds; values below a second are ignored.
        opt timeout: u64,
        /// True if its tools are loaded at once instead of on search.
        opt always_load: bool as "alwaysLoad",
    }
}

/// Configuration of an MCP server, distinguished by `type`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum McpServerConfig {
    /// A child process: `stdio`, or a command without a type.
    Stdio(StdioServer),
    /// HTTP with server-sent events: `sse`.
    Sse(RemoteServer),
    /// HTTP: `http`.
    Http(RemoteServer),
    /// Inside the host: `sdk`.
    Sdk(SdkServer),
    /// Behind a proxy of claude.ai: `claudeai-proxy`.
    ClaudeAiProxy(ClaudeAiProxyServer),
    /// Any other value, unchanged.
    Unknown(Json),
}

impl McpServerConfig {
    /// A server that runs as a child process.
    pub fn stdio(command: impl Into<String>, args: Vec<String>) -> Self {
        McpServerConfig::Stdio(StdioServer {
            kind: Some("stdio".to_owned()),
            command: command.into(),
            args,
            ..StdioServer::default()
        })
    }

    /// A server reached over HTTP.
    pub fn http(url: impl Into<String>) -> Self {
        McpServerConfig::Http(RemoteServer { url: url.into(), ..RemoteServer::default() })
    }

    /// A server reached over HTTP with server-sent events.
    pub fn sse(url: impl Into<String>) -> Self {
        McpServerConfig::Sse(RemoteServer { url: url.into(), ..RemoteServer::default() })
    }

    /// A server inside the host.
    pub fn sdk(name: impl Into<String>) -> Self {
        McpServerConfig::Sdk(SdkServer { name: name.into(), ..SdkServer::default() })
    }
}

/// Key that distinguishes configurations.
const TAG: &str = "type";

impl Wire for McpServerConfig {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let raw = cursor.raw();
        let tag = raw.get(TAG);
        let known = match tag.and_then(Raw::text).map(Text::get).as_deref() {
            // The type of a child process is a field, since it may be absent: no key is withheld from it.
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

/// Omits arguments and the values of variables, which may be secrets.
impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioServer")
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .finish_non_exhaustive()
    }
}

/// Omits the values of headers, and the parts of the address that may be secrets.
impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer")
            .field("url", &without_secrets(&self.url))
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// Omits what may be secret.
impl fmt::Debug for McpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpServerConfig::Stdio(server) => f.debug_tuple("Stdio").field(server).finish(),
            McpServerConfig::Sse(server) => f.debug_tuple("Sse").field(server).finish(),
            McpServerConfig::Http(server) => f.debug_tuple("Http").field(server).finish(),
            McpServerConfig::Sdk(server) => f.debug_tuple("Sdk").field(server).finish(),
            McpServerConfig::ClaudeAiProxy(server) => f.debug_tuple("ClaudeAiProxy").field(server).finish(),
            McpServerConfig::Unknown(_) => f.debug_tuple("Unknown").finish_non_exhaustive(),
        }
    }
}

/// An address without its user, its query and its fragment.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{host}{path}")
}
