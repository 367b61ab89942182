//! Messages that no agent should send.

use serde_json::json;

use super::{Wire, described, options, settings};

#[test]
fn lines_that_are_no_messages_are_shown_and_change_nothing() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let lines = [
        "not json",
        "{\"jsonrpc\":\"2.0\"",
        "[]",
        "{}",
        "null",
        r#"{"id":{},"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"own-1","update":7}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"own-1","update":{"sessionUpdate":"of_the_future","new":true}}}"#,
        r#"{"jsonrpc":"2.0","method":"_own/notification","params":{}}"#,
        &deep,
    ];
    for line in lines {
        let before = wire.host.len();
        wire.agent_line(line);
        let shown = &wire.host[before..];
        let is_kept =
            shown.iter().any(|frame| frame["subtype"] == "acp_update" || frame.get("unreadable").is_some());
        assert!(is_kept, "{}: {shown:?}", line.get(..80).unwrap_or(line));
    }
    wire.adapter.from_agent_too_long("{\"jsonrpc\"", 99 << 20);
    wire.collect();
    wire.text("Fine.");
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(wire.result()["result"], "Fine.");
}

/// A lone surrogate is valid JSON, and no text.
#[test]
fn a_lone_surrogate_keeps_the_delta() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.agent_line(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"own-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\ud800b"}}}}"#,
    );
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(wire.result()["result"], "a\u{fffd}b");
}

#[test]
fn late_text_begins_no_turn() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    wire.host.clear();
    wire.text("late");
    wire.update(
        &json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "late", "status": "completed"}),
    );
    let call = json!({"toolCallId": "d", "kind": "execute", "rawInput": {"command": "ls"}});
    wire.request(5, "session/request_permission", &json!({"toolCall": call, "options": options()}));
    wire.request(6, "terminal/create", &json!({"command": "ls"}));
    assert!(wire.blocks("text").is_empty() && wire.blocks("tool_use").is_empty());
    assert_eq!(wire.response(5)["result"]["outcome"]["outcome"], "cancelled");
    assert!(wire.response(6)["error"].is_object());
    assert!(wire.other.is_empty());
}

#[test]
fn ids_of_an_agent_are_not_trusted() {
    for id in ["", "../../etc", "a b", &"x".repeat(300), ".."] {
        let mut wire = Wire::new(settings());
        wire.host(
            &json!({"type": "control_request", "request_id": "h", "request": {"subtype": "initialize"}}),
        );
        wire.answer("initialize", &described(&json!({})));
        wire.answer("session/new", &json!({"sessionId": id}));
        assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "error", "{id}");
    }
    let mut wire = Wire::open();
    wire.prompt("hi");
    let id = format!("{}/../..", "y".repeat(500));
    wire.update(
        &json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "t", "status": "in_progress"}),
    );
    assert_eq!(wire.blocks("tool_use")[0]["id"], "call-1");
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    let mut wire = Wire::new(settings());
    wire.host(&json!({"type": "control_request", "request_id": "h", "request": {"subtype": "initialize"}}));
    wire.answer("initialize", &described(&json!({"protocolVersion": 9})));
    let error = wire.host.last().unwrap()["response"]["error"].as_str().unwrap();
    assert!(error.contains("version 9"), "{error}");
}

#[test]
fn a_text_without_end_is_cut_into_blocks() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let part = "z".repeat(300 << 10);
    for _ in 0..8 {
        wire.text(&part);
    }
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    let blocks = wire.blocks("text");
    assert!(blocks.len() >= 2);
    let total: usize = blocks.iter().map(|block| block["text"].as_str().unwrap().len()).sum();
    assert_eq!(total, 8 * part.len());
}

#[test]
fn unknown_requests_get_an_error() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.request(3, "fs/delete_everything", &json!({}));
    assert_eq!(wire.response(3)["error"]["code"], -32601);
    wire.agent(&json!({"jsonrpc": "2.0", "id": 4, "method": "fs/read_text_file", "params": {"sessionId": "other", "path": "/a"}}));
    assert_eq!(wire.response(4)["error"]["code"], -32602);
    assert!(wire.other.is_empty());
}

/// A host would wait for ever.
#[test]
fn a_control_request_that_does_not_fit_is_refused() {
    let mut wire = Wire::open();
    let request = json!({"subtype": "cancel_async_message", "message_uuid": 7});
    wire.host(&json!({"type": "control_request", "request_id": "c", "request": request}));
    let response = &wire.host.last().unwrap()["response"];
    assert_eq!((&response["subtype"], &response["request_id"]), (&json!("error"), &json!("c")));
    assert_eq!(response["error_code"], "invalid_request");
    assert!(response["error"].as_str().unwrap().contains("message_uuid"), "{response}");
}
