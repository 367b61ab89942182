//! S0.9 to S0.11: `system` frames.

use serde_json::json;
use tidings_protocol::messages::{Message, SystemMessage};

use super::{lacks, typed};

#[test]
fn s0_9_init_keeps_every_other_key_in_extra() {
    let line = r#"{"type":"system","subtype":"init","session_id":"s","tools":[{"name":"bash"}],
        "mcp_servers":[{"name":"fs","status":"connected"}],"cwd":"/tmp","model":"m","later":{"a":[1,2]}}"#;
    let Message::System(SystemMessage::Init { session_id, tools, mcp_servers, extra }) = typed(line) else {
        panic!("no init");
    };
    assert_eq!(session_id, "s");
    assert_eq!(tools[0].name, "bash");
    assert_eq!(mcp_servers[0].name, "fs");
    assert_eq!(mcp_servers[0].extra, json!({"status": "connected"}));
    assert_eq!(extra, json!({"cwd": "/tmp", "model": "m", "later": {"a": [1, 2]}}));
}

#[test]
fn s0_9_init_needs_its_three_fields() {
    let init = |body: &str| lacks(&format!(r#"{{"type":"system","subtype":"init",{body}}}"#));
    assert_eq!(init(r#""tools":[],"mcp_servers":[]"#), "session_id");
    assert_eq!(init(r#""session_id":"s","mcp_servers":[]"#), "tools");
    assert_eq!(init(r#""session_id":"s","tools":[]"#), "mcp_servers");
    assert_eq!(init(r#""session_id":"s","tools":[7],"mcp_servers":[]"#), "tools[0]");
}

#[test]
fn s0_10_the_pages_init_is_read_as_described() {
    let Message::System(SystemMessage::Init { session_id, tools, mcp_servers, extra }) =
        typed(example!("init.json"))
    else {
        panic!("no init");
    };
    assert_eq!(session_id, "sess_abc123");
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "bash");
    assert_eq!(tools[0].description.as_deref(), Some("Run shell commands"));
    let schema = tools[0].input_schema.as_ref().unwrap();
    assert_eq!(schema["properties"]["command"]["type"], "string");
    assert_eq!(mcp_servers.len(), 1);
    assert_eq!(mcp_servers[0].name, "filesystem");
    assert_eq!(mcp_servers[0].extra, json!({}));
    assert_eq!(extra, json!({}));
}

#[test]
fn s0_11_compact_boundary_is_a_bare_mark() {
    for example in [example!("compact-boundary.json"), example!("compact-boundary.ndjson")] {
        assert_eq!(typed(example), Message::System(SystemMessage::CompactBoundary));
    }
    let written = Message::System(SystemMessage::CompactBoundary).to_line();
    assert_eq!(written, r#"{"type":"system","subtype":"compact_boundary"}"#);
}
