//! MCP servers, from the format of Claude Code to that of the protocol.

use serde_json::{Value, json};

use super::frames::text;

/// The kind of a server.
pub(super) fn kind(config: &Value) -> &str {
    match text(config, "type") {
        "" => "stdio",
        kind => kind,
    }
}

/// A server in the protocol's format; none if there is no such kind.
pub(super) fn server(name: &str, config: &Value) -> Option<Value> {
    let pairs = |key: &str| -> Vec<Value> {
        let object = config[key].as_object().into_iter().flatten();
        object
            .map(|(name, value)| json!({"name": name, "value": value.as_str().unwrap_or_default()}))
            .collect()
    };
    match kind(config) {
        "stdio" => {
            let args = config.get("args").cloned().unwrap_or_else(|| json!([]));
            Some(json!({"name": name, "command": text(config, "command"), "args": args, "env": pairs("env")}))
        }
        kind @ ("http" | "sse") => {
            Some(json!({"type": kind, "name": name, "url": text(config, "url"), "headers": pairs("headers")}))
        }
        _ => None,
    }
}
