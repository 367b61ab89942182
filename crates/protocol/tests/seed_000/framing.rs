//! S0.1 to S0.8: lines, the outer enum, and the frames that are only envelopes.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tidings_protocol::control::{Call, ControlOutcome, ControlRequest, ControlResponse, ControlStyle};
use tidings_protocol::messages::{
    ApiMessage, AssistantMessage, Content, ContentBlock, McpServerInfo, Message, ResultMessage, StreamEvent,
    SystemMessage, ToolInfo, UsageInfo, UserMessage,
};
use tidings_protocol::ndjson::{Line, Splitter};
use tidings_protocol::{DecodeErrorKind, Frame, Kind, Outcome};

use super::{frame, read, same, typed, value};

#[test]
fn s0_1_one_object_per_line_comes_in() {
    let session = example!("tool-use.ndjson");
    let mut splitter = Splitter::default();
    let mut lines = Vec::new();
    for chunk in session.as_bytes().chunks(7) {
        splitter.push(chunk);
        while let Some(line) = splitter.next() {
            match line {
                Line::Json(line) => lines.push(line.to_vec()),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(splitter.finish(), None);
    assert_eq!(lines.len(), 5);
    assert_eq!(lines.concat(), session.as_bytes());
    assert!(lines.iter().all(|line| Frame::decode(line).is_ok()));

    let refused = |line: &str| Frame::from_json(line).unwrap_err().kind;
    assert_eq!(refused(r#"{"type":"keep_alive"}{"type":"keep_alive"}"#), DecodeErrorKind::Trailing);
    assert_eq!(refused(r#"[{"type":"keep_alive"}]"#), DecodeErrorKind::NotAnObject);
    assert!(matches!(refused(r#"{"type":"keep_alive""#), DecodeErrorKind::Syntax(_)));
}

#[test]
fn s0_1_one_object_per_line_goes_out() {
    let prompt = Message::User(UserMessage::prompt(Content::text("first\nsecond\r\nthird")));
    let line = prompt.to_line();
    assert!(!line.contains(['\n', '\r']), "{line}");
    assert_eq!(read(&line), prompt);
}

#[test]
fn s0_2_type_tells_the_eight_variants_apart() {
    let body = r#""message":{"role":"user","content":[]},"subtype":"success","result":"","request_id":"r""#;
    let variant = |kind: &str| read(&format!(r#"{{"type":"{kind}",{body}}}"#));
    assert!(matches!(variant("assistant"), Message::Assistant(_)));
    assert!(matches!(variant("user"), Message::User(_)));
    assert!(matches!(variant("result"), Message::Result(_)));
    assert!(matches!(variant("control_response"), Message::ControlResponse { .. }));
    assert!(matches!(variant("rate_limit_event"), Message::RateLimitEvent(_)));
    assert!(matches!(variant("mcp_message"), Message::McpMessage(_)));
    assert!(matches!(typed(example!("compact-boundary.ndjson")), Message::System(_)));
    assert!(matches!(typed(example!("can-use-tool.ndjson")), Message::ControlRequest { .. }));
    // Only the tag matters, and its spelling is snake case.
    assert!(matches!(variant("RateLimitEvent"), Message::Unknown(_)));
}

/// Compiles only if the type has all four traits; also runs them.
#[track_caller]
fn has_all_four<T: Debug + Clone + Serialize + DeserializeOwned>(text: &str) {
    let read: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    let written = serde_json::to_string(&read.clone()).expect("writes");
    assert!(same(text, &written), "read {text}\nwrote {written}");
    assert!(!format!("{read:?}").is_empty());
}

#[test]
fn s0_3_every_type_is_debug_clone_serialize_and_deserialize() {
    has_all_four::<Message>(example!("assistant.json"));
    has_all_four::<SystemMessage>(
        r#"{"subtype":"init","session_id":"s","tools":[],"mcp_servers":[],"new":1}"#,
    );
    has_all_four::<SystemMessage>(r#"{"subtype":"compact_boundary"}"#);
    has_all_four::<AssistantMessage>(
        r#"{"message":{"role":"assistant","content":[]},"parent_tool_use_id":null}"#,
    );
    has_all_four::<UserMessage>(r#"{"message":{"role":"user","content":[]}}"#);
    has_all_four::<ApiMessage>(r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#);
    has_all_four::<ContentBlock>(example!("block-tool-use.json"));
    has_all_four::<ResultMessage>(r#"{"subtype":"success","result":"done","duration_ms":1}"#);
    has_all_four::<ResultMessage>(r#"{"subtype":"error","error":"no","error_code":"E"}"#);
    has_all_four::<ResultMessage>(r#"{"subtype":"input_required"}"#);
    has_all_four::<UsageInfo>(example!("usage.json"));
    has_all_four::<ToolInfo>(example!("tool-full.json"));
    has_all_four::<McpServerInfo>(example!("mcp-server.json"));
    has_all_four::<StreamEvent>(example!("stream-event.json"));
    has_all_four::<ControlRequest>(r#"{"subtype":"initialize","can_use_tool":true}"#);
    has_all_four::<ControlResponse>(r#"{"subtype":"success"}"#);
    assert!(serde_json::from_str::<ResultMessage>(r#"{"result":"no tag"}"#).is_err());
}

#[test]
fn s0_4_a_session_runs_from_init_to_one_result() {
    let session: Vec<Frame> = example!("tool-use.ndjson").lines().map(frame).collect();
    let kinds: Vec<Kind> = session.iter().map(Frame::kind).collect();
    let expected = [Kind::System, Kind::Assistant, Kind::User, Kind::Assistant, Kind::Result];
    assert_eq!(kinds, expected);
    assert_eq!(session[0].name(), "system/init");
    let ends: Vec<bool> = session.iter().map(Frame::is_final).collect();
    assert_eq!(ends, [false, false, false, false, true]);

    let ending = |line: &str| frame(line).outcome();
    assert_eq!(ending(r#"{"type":"result","subtype":"success","result":""}"#), Some(Outcome::Completed));
    assert_eq!(ending(example!("error-result.ndjson")), Some(Outcome::Failed));
    assert_eq!(ending(example!("input-required.ndjson")), Some(Outcome::InputRequired));
    assert_eq!(ending(example!("compact-boundary.ndjson")), None);
}

#[test]
fn s0_4_control_and_compaction_may_come_anywhere() {
    let session: Vec<&str> = example!("tool-use.ndjson").lines().collect();
    let strangers = [
        example!("can-use-tool.ndjson"),
        example!("control-success.ndjson"),
        example!("compact-boundary.ndjson"),
    ];
    let alone: Vec<Message> = session.iter().map(|line| typed(line)).collect();
    for at in 0..=session.len() {
        let mut mixed = session.clone();
        mixed.splice(at..at, strangers);
        let mut messages: Vec<Message> = mixed.into_iter().map(typed).collect();
        let between: Vec<Message> = messages.splice(at..at + strangers.len(), []).collect();
        assert_eq!(messages, alone, "strangers at {at}");
        assert_eq!(between[2], Message::System(SystemMessage::CompactBoundary), "at {at}");
    }
}

#[test]
fn s0_5_control_request_is_flat() {
    let Message::ControlRequest { request_id, request } = typed(example!("control-initialize.ndjson")) else {
        panic!("no control request");
    };
    assert_eq!(request_id, "req_001");
    assert_eq!(request.style, ControlStyle::Flat);
    let Call::Initialize(initialize) = &request.call else { panic!("{request:?}") };
    assert_eq!(initialize.can_use_tool, Some(true));

    let written = value(&Message::ControlRequest { request_id: "req_9".to_owned(), request }.to_line());
    let expected = json!({
        "type": "control_request", "request_id": "req_9", "subtype": "initialize", "can_use_tool": true
    });
    assert_eq!(written, expected);
}

#[test]
fn s0_6_control_response_is_flat() {
    let Message::ControlResponse { request_id, response } = typed(example!("control-success.ndjson")) else {
        panic!("no control response");
    };
    assert_eq!(request_id, "req_001");
    assert_eq!(response.style, ControlStyle::Flat);
    assert!(matches!(response.outcome, ControlOutcome::Success(_)));

    let written = value(&Message::ControlResponse { request_id: "req_9".to_owned(), response }.to_line());
    assert_eq!(written, json!({"type": "control_response", "request_id": "req_9", "subtype": "success"}));
}

#[test]
fn s0_7_rate_limit_event_keeps_its_whole_payload() {
    let line = r#"{"type":"rate_limit_event","anything":[1,{"deep":null}],"retry_after":30}"#;
    let Message::RateLimitEvent(payload) = typed(line) else { panic!("no rate limit event") };
    assert_eq!(payload, json!({"anything": [1, {"deep": null}], "retry_after": 30}));
}

#[test]
fn s0_8_mcp_message_keeps_its_whole_payload() {
    let line = r#"{"type":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#;
    let Message::McpMessage(payload) = typed(line) else { panic!("no MCP message") };
    assert_eq!(payload["server_name"], "calc");
    assert_eq!(payload["message"]["method"], "tools/list");
    assert_eq!(payload.get("type"), None);
}
