//! S0.27 to S0.32: use of the types, and the wire examples.
//!
//! The functions of the specification run unchanged in the tests of the `tidings` crate, with their own
//! fixtures.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};
use tidings_protocol::control::{Call, CanUseTool, ControlOutcome};
use tidings_protocol::messages::{ContentBlock, Message, ResultMessage, SystemMessage};
use tidings_protocol::permissions::PermissionResult;

use super::{frame, typed};

#[test]
fn s0_27_serde_reads_one_line() {
    let line =
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello!"}]}}"#;
    let message: Message = serde_json::from_str(line).unwrap();
    assert_eq!(message.content_blocks(), [ContentBlock::Text { text: "Hello!".to_owned() }]);
    assert_eq!(serde_json::to_string(&message).unwrap(), line);
    assert!(serde_json::from_str::<Message>("[]").is_err());
    assert!(serde_json::from_str::<Message>(r#"{"type":"assistant""#).is_err());
}

fn parse_ndjson(reader: impl Read) -> Vec<Message> {
    let lines = BufReader::new(reader).lines();
    lines.map(|line| serde_json::from_str(&line.expect("reads")).expect("parses")).collect()
}

#[test]
fn s0_28_a_stream_of_lines_becomes_a_list_of_messages() {
    let messages = parse_ndjson(example!("tool-use.ndjson").as_bytes());
    let kinds: Vec<&str> = messages.iter().map(Message::type_name).collect();
    assert_eq!(kinds, ["system", "assistant", "user", "assistant", "result"]);
}

#[test]
fn s0_29_the_four_sessions_load() {
    let sessions = [
        (example!("simple-query.ndjson"), 3),
        (example!("tool-use.ndjson"), 5),
        (example!("error-result.ndjson"), 1),
        (example!("thinking.ndjson"), 1),
    ];
    for (session, count) in sessions {
        assert_eq!(session.lines().map(typed).count(), count, "{session}");
    }
}

/// Every variant and every field of the match in the specification; only the last arms are ours.
fn arm(message: Message) -> &'static str {
    match message {
        Message::System(system) => match system {
            SystemMessage::Init { session_id: _, tools: _, mcp_servers: _, extra: _ } => "init",
            SystemMessage::CompactBoundary => "compact boundary",
            _ => "other system message",
        },
        Message::Assistant(assistant) => match &assistant.message.content[0] {
            ContentBlock::Text { text: _ } => "text",
            ContentBlock::ToolUse { id: _, name: _, input: _ } => "tool use",
            ContentBlock::ToolResult { tool_use_id: _, content: _, is_error: _ } => "tool result",
            ContentBlock::Thinking { thinking: _ } => "thinking",
            _ => "other block",
        },
        Message::User(_) => "user",
        Message::Result(result) => match result {
            ResultMessage::Success { result: _, duration_ms: _, num_turns: _, usage: _, .. } => "success",
            ResultMessage::Error { error: _, extra: _ } => "error",
            ResultMessage::InputRequired => "input required",
            _ => "other result",
        },
        Message::ControlRequest { request_id: _, request: _ } => "control request",
        Message::ControlResponse { request_id: _, response: _ } => "control response",
        Message::RateLimitEvent(_) => "rate limit event",
        Message::McpMessage(_) => "mcp message",
        _ => "other message",
    }
}

#[test]
fn s0_30_the_pages_match_has_an_arm_for_each_of_its_messages() {
    let examples = [
        (example!("init.json"), "init"),
        (example!("compact-boundary.json"), "compact boundary"),
        (example!("assistant.json"), "text"),
        (example!("thinking.ndjson"), "thinking"),
        (example!("user-tool-result.json"), "user"),
        (example!("result-success.json"), "success"),
        (example!("result-error.json"), "error"),
        (example!("result-input-required.json"), "input required"),
        (example!("can-use-tool.ndjson"), "control request"),
        (example!("deny-tool.ndjson"), "control response"),
        (r#"{"type":"rate_limit_event","a":1}"#, "rate limit event"),
        (r#"{"type":"mcp_message","a":1}"#, "mcp message"),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"","name":"","input":0}]}}"#,
            "tool use",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"tool_result","tool_use_id":""}]}}"#,
            "tool result",
        ),
    ];
    for (example, expected) in examples {
        assert_eq!(arm(typed(example)), expected, "{example}");
    }
}

#[test]
fn s0_31_tool_calls_come_from_assistant_messages_only() {
    let assistant = typed(example!("assistant.json"));
    let calls: Vec<(&str, &str, &Value)> = assistant.tool_calls();
    assert_eq!(calls, [("toolu_01ABC", "bash", &json!({"command": "ls -la"}))]);
    let in_place = frame(example!("assistant.json"));
    assert_eq!(in_place.tool_calls()[0].name, "bash");

    let as_user = example!("assistant.json").replacen("assistant", "user", 1);
    assert!(typed(&as_user).tool_calls().is_empty());
    for other in [example!("user-tool-result.json"), example!("init.json"), example!("result-error.json")] {
        assert!(typed(other).tool_calls().is_empty(), "{other}");
        assert!(frame(other).tool_calls().is_empty(), "{other}");
    }
}

#[test]
fn s0_32_the_control_examples_are_read() {
    let Message::ControlRequest { request_id, request } = typed(example!("can-use-tool.ndjson")) else {
        panic!("no control request");
    };
    assert_eq!(request_id, "req_002");
    let Call::CanUseTool(ask) = &request.call else { panic!("{request:?}") };
    assert_eq!(ask.tool_name, "Bash");
    assert_eq!(ask.input().unwrap().raw().value().unwrap(), json!({"command": "rm -rf /"}));

    let Message::ControlResponse { request_id, response } = typed(example!("deny-tool.ndjson")) else {
        panic!("no control response");
    };
    assert_eq!(request_id, "req_002");
    let ControlOutcome::Success(success) = &response.outcome else { panic!("{response:?}") };
    let decision: PermissionResult = success.reply::<CanUseTool>().unwrap();
    assert_eq!(decision.is_allowed(), Some(false));
    assert_eq!(decision.message(), Some("Dangerous command blocked"));
}

#[test]
fn s0_32_every_wire_example_is_typed_and_written_back() {
    let examples = [
        (example!("simple-query.ndjson"), "system/init assistant result/success"),
        (example!("tool-use.ndjson"), "system/init assistant user assistant result/success"),
        (example!("error-result.ndjson"), "result/error"),
        (example!("thinking.ndjson"), "assistant"),
        (example!("control-initialize.ndjson"), "control_request/initialize"),
        (example!("control-success.ndjson"), "control_response/success"),
        (example!("can-use-tool.ndjson"), "control_request/can_use_tool"),
        (example!("deny-tool.ndjson"), "control_response/success"),
        (example!("input-required.ndjson"), "result/input_required"),
        (example!("compact-boundary.ndjson"), "system/compact_boundary"),
    ];
    for (example, expected) in examples {
        let names: Vec<String> = example.lines().map(|line| frame(line).name().into_owned()).collect();
        assert_eq!(names.join(" "), expected);
        assert_eq!(example.lines().map(typed).count(), names.len());
    }
}
