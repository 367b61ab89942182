//! MCP servers, from the format of Claude Code to that of the protocol.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use tidings_protocol::control::McpServerConfig;
use tidings_protocol::json::Json;

use super::frames::has;

/// A server in the protocol's format; none if there is no such kind, or if the agent's capabilities for MCP
/// leave it out.
pub(super) fn server(name: &str, config: &Value, capabilities: &Value) -> Option<acp::McpServer> {
    let headers = |headers: BTreeMap<String, String>| {
        headers.into_iter().map(|(name, value)| acp::HttpHeader::new(name, value)).collect()
    };
    match Json::from(config).raw().read().ok()? {
        McpServerConfig::Stdio(server) => {
            let env = server.env.into_iter().map(|(name, value)| acp::EnvVariable::new(name, value));
            let stdio = acp::McpServerStdio::new(name, server.command).args(server.args);
            Some(acp::McpServer::Stdio(stdio.env(env.collect())))
        }
        McpServerConfig::Http(server) if has(capabilities, "http") => {
            let http = acp::McpServerHttp::new(name, server.url);
            Some(acp::McpServer::Http(http.headers(headers(server.headers))))
        }
        McpServerConfig::Sse(server) if has(capabilities, "sse") => {
            let sse = acp::McpServerSse::new(name, server.url);
            Some(acp::McpServer::Sse(sse.headers(headers(server.headers))))
        }
        // The protocol has no other kinds.
        _ => None,
    }
}
