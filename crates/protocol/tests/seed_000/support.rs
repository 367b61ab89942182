//! S0.23 to S0.26: the supporting types.

use serde_json::json;
use tidings_protocol::messages::{McpServerInfo, StreamEvent, ToolInfo, UsageInfo};

use super::{same, value};

#[test]
fn s0_23_usage_counts_input_and_output() {
    let usage: UsageInfo = serde_json::from_str(example!("usage.json")).unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (1200, 350));
    assert!(usage.extra.is_empty());

    let mut built = UsageInfo::default();
    built.input_tokens = 1200;
    built.output_tokens = 350;
    assert_eq!(built, usage);
    assert!(same(&serde_json::to_string(&built).unwrap(), example!("usage.json")));
}

#[test]
fn s0_24_tool_needs_only_a_name() {
    let minimal: ToolInfo = serde_json::from_str(example!("tool-minimal.json")).unwrap();
    assert_eq!(minimal, ToolInfo::new("bash").into_object());
    assert_eq!((minimal.description, minimal.input_schema), (None, None));

    let full: ToolInfo = serde_json::from_str(example!("tool-full.json")).unwrap();
    assert_eq!(full.name, "bash");
    assert_eq!(full.description.as_deref(), Some("Run shell commands"));
    let schema = full.input_schema.clone().unwrap();
    assert_eq!(schema, json!({"type": "object", "properties": {"command": {"type": "string"}}}));
    assert!(same(&serde_json::to_string(&full).unwrap(), example!("tool-full.json")));

    assert!(serde_json::from_str::<ToolInfo>(r#"{"description":"nameless"}"#).is_err());
}

#[test]
fn s0_25_mcp_server_keeps_every_other_key_in_extra() {
    let server: McpServerInfo = serde_json::from_str(example!("mcp-server.json")).unwrap();
    assert_eq!(server.name, "filesystem");
    assert_eq!(server.extra.get("version").and_then(|version| version.as_str()), Some("1.0.0"));
    let written = serde_json::to_string(&server).unwrap();
    assert_eq!(value(&written), json!({"name": "filesystem", "version": "1.0.0"}));
    assert!(serde_json::from_str::<McpServerInfo>(r#"{"version":"1.0.0"}"#).is_err());
}

#[test]
fn s0_26_stream_event_is_a_name_and_data() {
    let event: StreamEvent = serde_json::from_str(example!("stream-event.json")).unwrap();
    assert_eq!(event.event_type, "message_start");
    assert_eq!(event.data, json!({"message_id": "msg_abc123"}));
    assert!(same(&serde_json::to_string(&event).unwrap(), example!("stream-event.json")));
    assert!(serde_json::from_str::<StreamEvent>(r#"{"event_type":"message_start"}"#).is_err());
}
