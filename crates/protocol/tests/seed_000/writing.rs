//! Writer for the `rusty_claw` wire format: `seed::to_seed`, and the constructors.
//!
//! [`super::page`], which has only the types of that format, reads the output.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_protocol::control::{
    CanUseTool, ControlRequest, ControlResponse, HookCallback, Initialize, McpMessage, SetModel,
};
use tidings_protocol::json::Json;
use tidings_protocol::messages::{
    Content, Message, ResultMessage, SystemMessage, ToolInfo, UsageInfo, UserMessage,
};
use tidings_protocol::permissions::PermissionResult;
use tidings_protocol::seed::to_seed;

use super::{page, read, typed, value};

/// The message in the `rusty_claw` wire format, read by the independent types.
#[track_caller]
fn seed(message: &Message) -> Value {
    let line = to_seed(message).expect("the format has a shape for it");
    page::through(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
    value(&line)
}

#[test]
fn s0_32_the_pages_examples_pass_unchanged() {
    let examples = [
        example!("init.json"),
        example!("simple-query.ndjson"),
        example!("tool-use.ndjson"),
        example!("result-success.json"),
        example!("error-result.ndjson"),
        example!("thinking.ndjson"),
        example!("control-initialize.ndjson"),
        example!("control-success.ndjson"),
        example!("can-use-tool.ndjson"),
        example!("deny-tool.ndjson"),
        example!("input-required.ndjson"),
        example!("compact-boundary.ndjson"),
        r#"{"type":"rate_limit_event","retry_after":30}"#,
        r#"{"type":"mcp_message","server_name":"calc","message":{"id":1}}"#,
    ];
    for example in examples {
        // Single examples span several lines, sessions have one object per line.
        let lines: Vec<&str> = if example.lines().count() > 1 && example.starts_with("{\n") {
            vec![example]
        } else {
            example.lines().collect()
        };
        for line in lines {
            assert_eq!(seed(&typed(line)), value(line), "{line}");
        }
    }
}

#[test]
fn s0_3_what_the_pages_types_write_is_read() {
    for line in example!("tool-use.ndjson").lines().chain(example!("thinking.ndjson").lines()) {
        let written = page::through(line).unwrap().to_string();
        // Absent options come back as `null`, absent flags as `false`: the same message.
        assert_eq!(page::through(&typed(&written).to_line()), page::through(line), "{written}");
    }
}

#[test]
fn s0_9_bare_tool_names_become_objects() {
    let init = read(
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"cwd":"/tmp",
            "mcp_servers":[{"name":"fs","status":"failed"}]}"#,
    );
    let expected = json!({
        "type": "system", "subtype": "init", "session_id": "s", "tools": [{"name": "Bash"}],
        "mcp_servers": [{"name": "fs", "status": "failed"}], "cwd": "/tmp"
    });
    assert_eq!(seed(&init), expected);

    let built = Message::System(SystemMessage::Init {
        session_id: "s".to_owned(),
        tools: vec![ToolInfo::new("Bash").into_object()],
        mcp_servers: Vec::new(),
        extra: json!({"cwd": "/tmp"}),
    });
    assert_eq!(value(&built.to_line())["tools"], json!([{"name": "Bash"}]));
    assert_eq!(seed(&built), value(&built.to_line()));
}

#[test]
fn s0_11_compaction_becomes_the_bare_mark() {
    let real = read(
        r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"pre_tokens":9},"uuid":"u"}"#,
    );
    assert_eq!(seed(&real), json!({"type": "system", "subtype": "compact_boundary"}));
}

#[test]
fn s0_12_what_the_page_has_no_place_for_is_left_out() {
    let real = read(
        r#"{"type":"assistant","uuid":"u","session_id":"s","parent_tool_use_id":"toolu_1","message":{"id":"msg_1",
            "model":"m","content":[{"type":"thinking","thinking":"hm","signature":"x"},
            {"type":"redacted_thinking","data":"x"},{"type":"text","text":"Hi","citations":null}]}}"#,
    );
    let expected = json!({
        "type": "assistant", "parent_tool_use_id": "toolu_1", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}
        ]}
    });
    assert_eq!(seed(&real), expected);

    let nothing =
        read(r#"{"type":"assistant","message":{"content":[{"type":"redacted_thinking","data":"x"}]}}"#);
    assert_eq!(to_seed(&nothing), None);
}

#[test]
fn s0_18_a_tool_result_always_has_content_and_is_error() {
    let real = read(r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#);
    let expected = json!([{"type": "tool_result", "tool_use_id": "t", "content": null, "is_error": false}]);
    assert_eq!(seed(&real)["message"]["content"], expected);
}

#[test]
fn s0_13_a_prompt_becomes_a_list_of_blocks() {
    let prompt = Message::User(UserMessage::prompt(Content::text("Hi")));
    assert_eq!(value(&prompt.to_line())["message"]["content"], "Hi");
    let expected =
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]}});
    assert_eq!(seed(&prompt), expected);
}

#[test]
fn s0_20_a_success_is_built_and_written() {
    let mut success = ResultMessage::success("done");
    let ResultMessage::Success { num_turns, usage, .. } = &mut success else { panic!("no success") };
    let mut tokens = UsageInfo::default();
    tokens.input_tokens = 45;
    tokens.cache_read_input_tokens = Some(7);
    (*num_turns, *usage) = (Some(1), Some(tokens));
    let expected = json!({
        "type": "result", "subtype": "success", "result": "done", "num_turns": 1,
        "usage": {"input_tokens": 45, "output_tokens": 0}
    });
    assert_eq!(seed(&Message::Result(success)), expected);
    let silent = read(r#"{"type":"result","subtype":"success","num_turns":2}"#);
    assert_eq!(seed(&silent)["result"], "");
}

#[test]
fn s0_21_every_failure_becomes_the_pages_error() {
    let api = read(
        r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error","session_id":"s"}"#,
    );
    let expected = json!({
        "type": "result", "subtype": "error", "error": "API Error", "error_code": "api_error", "session_id": "s"
    });
    assert_eq!(seed(&api), expected);
    let turns =
        read(r#"{"type":"result","subtype":"error_max_turns","errors":["Reached 3 turns"],"num_turns":3}"#);
    let expected = json!({
        "type": "result", "subtype": "error", "error": "Reached 3 turns", "error_code": "error_max_turns"
    });
    assert_eq!(seed(&turns), expected);
    let input = Message::Result(ResultMessage::InputRequired);
    assert_eq!(seed(&input), json!({"type": "result", "subtype": "input_required"}));
}

#[test]
fn s0_5_requests_are_written_flat_and_in_the_pages_words() {
    let mut initialize = Initialize::default();
    initialize.can_use_tool = Some(true);
    let ask = CanUseTool::new("Bash", Json::from(json!({"command": "rm -rf /"})), "toolu_1");
    let hook = r#"{"subtype":"hook_callback","callback_id":"h1","input":{"hook_event_name":"Stop","session_id":"s"}}"#;
    let mut model = SetModel::default();
    model.model = Some("m".to_owned());
    let written =
        |request: ControlRequest| seed(&Message::ControlRequest { request_id: "r".to_owned(), request });

    let flat = |body: Value| {
        let mut frame = json!({"type": "control_request", "request_id": "r"});
        frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        frame
    };
    assert_eq!(
        written(ControlRequest::new(initialize)),
        flat(json!({"subtype": "initialize", "can_use_tool": true}))
    );
    assert_eq!(written(ControlRequest::new(model)), flat(json!({"subtype": "set_model", "model": "m"})));
    let expected = json!({
        "subtype": "can_use_tool", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "toolu_1"
    });
    assert_eq!(written(ControlRequest::new(ask)), flat(expected));
    let hook: HookCallback = serde_json::from_str(hook).unwrap();
    let hook = written(ControlRequest::new(hook));
    assert_eq!((&hook["hook_id"], &hook["hook_event"]), (&json!("h1"), &json!("Stop")));
    assert_eq!(hook["hook_input"]["session_id"], "s");
    assert_eq!((hook.get("callback_id"), hook.get("input")), (None, None));
}

#[test]
fn s0_8_a_routed_mcp_message_becomes_a_frame_of_its_own() {
    let mut routed = McpMessage::default();
    routed.server_name = "calc".to_owned();
    routed.message = Json::from(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let request = ControlRequest::new(routed);
    let expected = json!({
        "type": "mcp_message", "request_id": "r", "server_name": "calc",
        "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    });
    assert_eq!(seed(&Message::ControlRequest { request_id: "r".to_owned(), request }), expected);
}

#[test]
fn s0_6_responses_are_written_flat_and_in_the_pages_words() {
    let written =
        |response: ControlResponse| seed(&Message::ControlResponse { request_id: "r".to_owned(), response });
    let success = json!({"type": "control_response", "request_id": "r", "subtype": "success"});
    assert_eq!(written(ControlResponse::ack()), success);

    let mut allowed = success.clone();
    allowed["allowed"] = json!(true);
    assert_eq!(written(ControlResponse::success(&PermissionResult::allow(None))), allowed);

    let mut denied = success.clone();
    denied["allowed"] = json!(false);
    denied["reason"] = json!("Dangerous command blocked");
    let deny = PermissionResult::deny("Dangerous command blocked");
    assert_eq!(written(ControlResponse::success(&deny)), denied);

    let error =
        json!({"type": "control_response", "request_id": "r", "subtype": "error", "error": "no such model"});
    assert_eq!(written(ControlResponse::error("no such model")), error);
}

#[test]
fn s0_26_stream_events_take_the_pages_shape() {
    let start = read(r#"{"type":"stream_event","uuid":"u","event":{"type":"content_block_stop","index":2}}"#);
    assert_eq!(seed(&start), json!({"event_type": "content_block_stop", "data": {"index": 2}}));
    let new = read(r#"{"type":"stream_event","event":{"type":"content_block_hum","pitch":440}}"#);
    assert_eq!(seed(&new), json!({"event_type": "content_block_hum", "data": {"pitch": 440}}));
}

#[test]
fn s0_2_a_real_recording_becomes_a_session_of_the_page() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for line in include_str!("../fixtures/demo.ndjson").lines() {
        let message = typed(line);
        match to_seed(&message) {
            Some(_) => {
                let written = seed(&message);
                let kind = written.get("type").and_then(Value::as_str).unwrap_or("stream event");
                *kinds.entry(kind.to_owned()).or_default() += 1;
            }
            // Lifecycle events are the only ones that the format does not have.
            None => assert!(matches!(message, Message::System(_)), "{line}"),
        }
    }
    let expected = [
        "assistant",
        "control_request",
        "control_response",
        "rate_limit_event",
        "result",
        "stream event",
        "system",
        "user",
    ];
    assert_eq!(kinds.keys().collect::<Vec<_>>(), expected);
}
