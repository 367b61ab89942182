//! S0.16 to S0.19: content blocks.

use serde_json::{Value, json};
use tidings_protocol::messages::{ContentBlock, Message};

use super::typed;

/// A block inside a message, which writes back all members of the block.
#[track_caller]
fn block(text: &str) -> ContentBlock {
    let line = format!(r#"{{"type":"user","message":{{"role":"user","content":[{text}]}}}}"#);
    match typed(&line) {
        Message::User(user) => user.message.content[0].clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s0_16_text_may_be_empty() {
    let text = "Hello! I can help you with that.".to_owned();
    assert_eq!(block(example!("block-text.json")), ContentBlock::Text { text });
    assert_eq!(block(r#"{"type":"text","text":""}"#), ContentBlock::Text { text: String::new() });
}

#[test]
fn s0_17_tool_use_input_is_any_json() {
    let expected = ContentBlock::ToolUse {
        id: "toolu_01XYZ".to_owned(),
        name: "bash".to_owned(),
        input: json!({"command": "cat /etc/hostname"}),
    };
    assert_eq!(block(example!("block-tool-use.json")), expected);

    let inputs = [json!({}), json!([1, "two", [3]]), json!("text"), json!(-7), json!(true), Value::Null];
    for expected in inputs {
        let text = json!({"type": "tool_use", "id": "t", "name": "n", "input": expected}).to_string();
        match block(&text) {
            ContentBlock::ToolUse { input, .. } => assert_eq!(input, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn s0_18_tool_result_content_is_any_json_and_is_error_is_false_by_default() {
    let result = |text: &str| match block(text) {
        ContentBlock::ToolResult { tool_use_id, content, is_error } => (tool_use_id, content, is_error),
        other => panic!("{other:?}"),
    };
    let id = || "toolu_01XYZ".to_owned();
    let plain = result(example!("block-tool-result.json"));
    assert_eq!(plain, (id(), json!("my-hostname"), false));
    let failed = result(example!("block-tool-result-error.json"));
    assert_eq!(failed, (id(), json!({"output": "Permission denied"}), true));

    let bare = result(r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"}]}"#);
    assert_eq!(bare, ("t".to_owned(), json!([{"type": "text", "text": "a"}]), false));
}

#[test]
fn s0_18_explicit_and_missing_is_error_are_written_as_they_came() {
    for is_error in ["", r#","is_error":false"#, r#","is_error":true"#] {
        // `block` compares the written text with the read one.
        block(&format!(r#"{{"type":"tool_result","tool_use_id":"t","content":"c"{is_error}}}"#));
    }
}

#[test]
fn s0_19_thinking_is_text_of_its_own_kind() {
    let ContentBlock::Thinking { thinking } = block(example!("block-thinking.json")) else {
        panic!("no thinking");
    };
    assert!(thinking.starts_with("Let me analyze this request."), "{thinking}");
    assert_eq!(ContentBlock::Thinking { thinking }.as_text(), None);
}
