//! Independent types for the `rusty_claw` wire format, strict and written with serde alone.
//!
//! Our writer and our reader share their code and thus their errors; this reader shares nothing with them.
//! Tags are removed by hand, since serde's own tagging fails on numbers in a build in which another crate
//! enables `serde_json/arbitrary_precision`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Serialize, Deserialize)]
struct Init {
    session_id: String,
    tools: Vec<ToolInfo>,
    mcp_servers: Vec<McpServerInfo>,
    #[serde(flatten)]
    extra: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolInfo {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<Value>,
}

#[derive(Serialize, Deserialize)]
struct McpServerInfo {
    name: String,
    #[serde(flatten)]
    extra: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssistantMessage {
    message: ApiMessage,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    #[serde(default)]
    duration_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserMessage {
    message: ApiMessage,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApiMessage {
    role: String,
    content: Vec<ContentBlock>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Value,
        #[serde(default)]
        is_error: bool,
    },
    Thinking {
        thinking: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Success {
    result: String,
    #[serde(default)]
    duration_ms: Option<u64>,
    #[serde(default)]
    num_turns: Option<u32>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<UsageInfo>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageInfo {
    input_tokens: u32,
    output_tokens: u32,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    error: String,
    #[serde(flatten)]
    extra: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamEvent {
    event_type: String,
    data: Value,
}

/// Reads a line with the types of the format, and writes it again with them.
pub(crate) fn through(line: &str) -> Result<Value, String> {
    let mut members: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let Some(kind) = members.remove("type") else {
        return again::<StreamEvent>(members);
    };
    let mut written = match kind.as_str() {
        Some("assistant") => again::<AssistantMessage>(members)?,
        Some("user") => again::<UserMessage>(members)?,
        Some("rate_limit_event" | "mcp_message") => Value::Object(members),
        Some("control_request" | "control_response") => control(members)?,
        Some("system" | "result") => tagged(members)?,
        _ => return Err(format!("no such type: {kind}")),
    };
    written["type"] = kind;
    Ok(written)
}

fn tagged(mut members: Map<String, Value>) -> Result<Value, String> {
    let subtype = members.remove("subtype").unwrap_or_default();
    let mut written = match subtype.as_str() {
        Some("init") => again::<Init>(members)?,
        Some("compact_boundary" | "input_required") => again::<Nothing>(members)?,
        Some("success") => again::<Success>(members)?,
        Some("error") => again::<Failure>(members)?,
        _ => return Err(format!("no such subtype: {subtype}")),
    };
    written["subtype"] = subtype;
    Ok(written)
}

/// Control frames: the specification shows only their envelope, an id and a subtype, side by side.
fn control(members: Map<String, Value>) -> Result<Value, String> {
    for key in ["request_id", "subtype"] {
        if !members.get(key).is_some_and(Value::is_string) {
            return Err(format!("no {key}"));
        }
    }
    for key in ["request", "response"] {
        if members.contains_key(key) {
            return Err(format!("nested in {key}"));
        }
    }
    Ok(Value::Object(members))
}

fn again<T: Serialize + DeserializeOwned>(members: Map<String, Value>) -> Result<Value, String> {
    let read: T = serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
    serde_json::to_value(read).map_err(|error| error.to_string())
}

#[test]
fn the_strict_reader_is_strict() {
    let usage = r#"{"type":"result","subtype":"success","result":"","usage":{"input_tokens":1,"output_tokens":2,"a":3}}"#;
    assert!(through(usage).is_err());
    assert!(through(r#"{"type":"assistant","message":{"role":"assistant","content":"text"}}"#).is_err());
    let user = r#"{"type":"user","message":{"role":"user","content":[]}}"#;
    assert_eq!(through(user), Ok(json!({"type": "user", "message": {"role": "user", "content": []}})));
}
