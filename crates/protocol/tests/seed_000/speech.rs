//! S0.12 to S0.15: messages of the model and to it.

use serde_json::json;
use tidings_protocol::messages::{ApiMessage, ContentBlock, Message, UserMessage};

use super::{lacks, typed, value};

#[test]
fn s0_12_assistant_message_has_one_required_and_two_optional_fields() {
    let Message::Assistant(assistant) = typed(example!("assistant.json")) else {
        panic!("no assistant message");
    };
    assert_eq!(assistant.message.role, "assistant");
    assert_eq!(assistant.message.content.len(), 2);
    assert_eq!(assistant.parent_tool_use_id, None);
    assert_eq!(assistant.duration_ms, Some(250));

    let with = |body: &str| {
        let line = format!(r#"{{"type":"assistant","message":{{"role":"assistant","content":[]}}{body}}}"#);
        match typed(&line) {
            Message::Assistant(assistant) => (assistant.parent_tool_use_id, assistant.duration_ms),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(""), (None, None));
    assert_eq!(with(r#","parent_tool_use_id":null,"duration_ms":null"#), (None, None));
    let parent = with(r#","parent_tool_use_id":"toolu_1","duration_ms":18446744073709551615"#);
    assert_eq!(parent, (Some("toolu_1".to_owned()), Some(u64::MAX)));

    assert_eq!(lacks(r#"{"type":"assistant","duration_ms":250}"#), "message");
    assert_eq!(lacks(r#"{"type":"assistant","message":{"role":"assistant"}}"#), "message.content");
}

#[test]
fn s0_13_user_message_is_a_message_and_no_more() {
    let mut user = UserMessage::default();
    user.message = ApiMessage::new("user", vec![ContentBlock::Text { text: "hi".to_owned() }]);
    let expected = json!({
        "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    });
    assert_eq!(value(&Message::User(user).to_line()), expected);
    assert_eq!(lacks(r#"{"type":"user"}"#), "message");
}

#[test]
fn s0_14_content_keeps_its_order_and_the_role_follows_the_type() {
    let line = r#"{"type":"assistant","message":{"role":"assistant","content":[
        {"type":"text","text":"b"},{"type":"thinking","thinking":"c"},{"type":"text","text":"a"},
        {"type":"tool_use","id":"t","name":"n","input":{}},{"type":"text","text":"b"}]}}"#;
    let Message::Assistant(assistant) = typed(line) else { panic!("no assistant message") };
    let kinds: Vec<&str> = assistant.message.content.iter().map(ContentBlock::kind).collect();
    assert_eq!(kinds, ["text", "thinking", "text", "tool_use", "text"]);
    assert_eq!(assistant.message.content.joined_text(), "bab");
    assert_eq!(assistant.message.role, "assistant");

    let Message::User(user) = typed(example!("user-tool-result.json")) else { panic!("no user message") };
    assert_eq!(user.message.role, "user");
}

#[test]
fn s0_15_user_frame_brings_back_what_a_tool_said() {
    let Message::User(user) = typed(example!("user-tool-result.json")) else { panic!("no user message") };
    let [ContentBlock::ToolResult { tool_use_id, content, is_error }] = &user.message.content[..] else {
        panic!("{user:?}");
    };
    assert_eq!(tool_use_id, "toolu_01ABC");
    assert!(!is_error);
    let text = content.as_str().unwrap();
    assert!(text.starts_with("total 42\ndrwxr-xr-x") && text.ends_with("Cargo.toml"), "{text}");
}
