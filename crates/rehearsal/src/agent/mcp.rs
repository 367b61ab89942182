//! MCP servers inside the host: JSON-RPC inside control requests.

use serde_json::{Value, json};

use super::frames::text;
use super::session::Session;
use super::stop::Flow;
use super::tools::{Call, Outcome};
use super::wait::Reply;

/// A server inside the host.
#[derive(Debug, Clone, Default)]
pub(super) struct McpServer {
    pub(super) name: String,
    /// Server information; absent before the handshake.
    pub(super) info: Option<Value>,
    tools: Vec<Value>,
    /// Id of the next JSON-RPC request.
    next: u64,
}

impl McpServer {
    /// The servers of type `sdk` in `--mcp-config`.
    pub(super) fn from_config(configs: &[String]) -> Vec<McpServer> {
        let configs = configs.iter().filter_map(|config| serde_json::from_str::<Value>(config).ok());
        let servers =
            configs.flat_map(|config| config["mcpServers"].as_object().cloned().unwrap_or_default());
        servers
            .filter(|(_, config)| config["type"] == "sdk")
            .map(|(name, _)| McpServer::named(&name))
            .collect()
    }

    pub(super) fn named(name: &str) -> Self {
        McpServer { name: name.to_owned(), ..McpServer::default() }
    }

    /// Names of the tools for the model.
    pub(super) fn tool_names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| format!("mcp__{}__{}", self.name, text(tool, "name"))).collect()
    }

    /// The server in the form of `mcp_status`.
    pub(super) fn status(&self) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let read_only = tool["annotations"]["readOnlyHint"] == true;
            let annotations = if read_only { json!({"readOnly": true}) } else { json!({}) };
            json!({"name": tool["name"], "annotations": annotations})
        });
        let tools: Vec<Value> = tools.collect();
        let mut status = json!({
            "name": self.name, "status": self.state(), "transport": "sdk", "scope": "dynamic", "source": "sdk",
        });
        if let Some(info) = &self.info {
            status["serverInfo"] = info["serverInfo"].clone();
            status["tools"] = Value::Array(tools);
        }
        status
    }

    pub(super) fn state(&self) -> &'static str {
        if self.info.is_some() { "connected" } else { "failed" }
    }
}

impl Session {
    /// Initializes the servers of the host; their tools are listed after `initialize` is answered.
    pub(super) fn initialize_servers(&mut self) -> Flow {
        let client = json!({
            "name": "claude-code", "title": "Claude Code", "version": self.version(),
            "description": "A stand-in for Claude Code", "websiteUrl": "https://claude.com/claude-code",
        });
        for at in 0..self.servers.len() {
            if self.servers[at].info.is_none() {
                let params =
                    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
                let reply = self.rpc(at, "initialize", Some(params))?;
                self.servers[at].info = reply.ok();
            }
        }
        Ok(())
    }

    /// Requests the tools of the servers.
    pub(super) fn list_server_tools(&mut self) -> Flow {
        for at in 0..self.servers.len() {
            if self.servers[at].info.is_none() || !self.servers[at].tools.is_empty() {
                continue;
            }
            let request = json!({
                "subtype": "mcp_message", "server_name": self.servers[at].name,
                "message": {"jsonrpc": "2.0", "method": "notifications/initialized"},
            });
            let id = self.request(request)?;
            self.reply(&id, None)?;
            if let Ok(list) = self.rpc(at, "tools/list", None)? {
                self.servers[at].tools = list["tools"].as_array().cloned().unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Server and tool in a name such as `mcp__calc__add`.
    pub(super) fn server_of<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        self.servers
            .iter()
            .any(|known| known.name == server && known.info.is_some())
            .then_some((server, tool))
    }

    /// Calls a tool of the host.
    pub(super) fn call_server(&mut self, call: &Call) -> Flow<Outcome> {
        let Some((server, tool)) = self.server_of(&call.name) else {
            return Ok(Outcome::error("the server is gone"));
        };
        let Some(at) = self.servers.iter().position(|known| known.name == server) else {
            return Ok(Outcome::error("the server is gone"));
        };
        let meta = json!({"claudecode/toolUseId": call.id, "progressToken": self.servers[at].next});
        let params = json!({"name": tool, "arguments": call.input, "_meta": meta});
        Ok(match self.rpc(at, "tools/call", Some(params))? {
            Ok(result) => outcome(&result),
            Err(message) => Outcome::error(&message),
        })
    }

    /// Display metadata for a call of a tool of the host.
    pub(super) fn tool_meta(&self, content: &Value) -> Option<Value> {
        let (server, tool) =
            self.server_of(text(content, "name")).filter(|_| content["type"] == "tool_use")?;
        let meta = json!({
            "id": content["id"], "display_name": display_name(tool), "server_display_name": server, "tool_name": tool,
        });
        Some(json!([meta]))
    }

    /// Sends one JSON-RPC request; the error is its message.
    fn rpc(&mut self, at: usize, method: &str, params: Option<Value>) -> Flow<Result<Value, String>> {
        let mut message = json!({"method": method, "jsonrpc": "2.0", "id": self.servers[at].next});
        self.servers[at].next += 1;
        if let Some(params) = params {
            message["params"] = params;
        }
        let request =
            json!({"subtype": "mcp_message", "server_name": self.servers[at].name, "message": message});
        let id = self.request(request)?;
        Ok(match self.reply(&id, None)? {
            Reply::Success(answer) => {
                let reply = &answer["mcp_response"];
                match reply.get("error") {
                    Some(error) => Err(text(error, "message").to_owned()),
                    None => Ok(reply["result"].clone()),
                }
            }
            Reply::Error(error) => Err(error),
            Reply::Late | Reply::Closed => Err("Stream closed".to_owned()),
        })
    }
}

/// Display name of a tool: `add_two` becomes `Add Two`.
pub(super) fn display_name(tool: &str) -> String {
    let words = tool.split(['_', '-']).filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Converts a tool's answer into the formats of the API and of the host.
fn outcome(result: &Value) -> Outcome {
    let blocks: Vec<Value> = result["content"].as_array().into_iter().flatten().map(block).collect();
    let texts = super::prompt::content_text(&Value::Array(blocks.clone()));
    if result["isError"] == true {
        return Outcome::error(&texts);
    }
    if result.get("structuredContent").is_some() {
        let mut output = json!({"content": texts, "structuredContent": result["structuredContent"]});
        if let Some(meta) = result.get("_meta") {
            output["_meta"] = meta.clone();
        }
        return Outcome { content: json!(texts), output, ..Outcome::default() };
    }
    Outcome { content: Value::Array(blocks.clone()), output: Value::Array(blocks), ..Outcome::default() }
}

fn block(block: &Value) -> Value {
    match text(block, "type") {
        "image" => {
            let source = json!({"type": "base64", "media_type": block["mimeType"], "data": block["data"]});
            json!({"type": "image", "source": source})
        }
        _ => block.clone(),
    }
}
