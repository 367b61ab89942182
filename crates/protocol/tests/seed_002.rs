//! The message schema of the SDK, items S2.1 to S2.9 of its specification.
//!
//! The phone messages of that page are tested in `seed_002_mobile.rs`.

use serde_json::json;
use tidings_protocol::Outcome;
use tidings_protocol::json::Raw;
use tidings_protocol::messages::{
    ApiStopReason, AssistantMessage, ContentBlock, Message, ResultMessage, ResultSubtype, SystemMessage,
    TaskStatus,
};
use tidings_protocol::permissions::PermissionMode;

use crate::lines::{frame, typed};

/// An example of the specification, or a line with exactly the fields of its schema.
macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("fixtures/seed/002-", $name))
    };
}

#[track_caller]
fn assistant(line: &str) -> AssistantMessage {
    match typed(line) {
        Message::Assistant(assistant) => assistant,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s2_1_assistant_has_a_message_and_a_session() {
    let message = assistant(example!("assistant.json"));
    assert_eq!(message.session_id.as_deref(), Some("sess_123"));
    assert_eq!(message.message.content.joined_text(), "I'll run the tests.");
    assert!(message.extra.is_empty(), "{message:?}");
}

#[test]
fn s2_1_the_worked_example_is_read_without_id_model_role_or_usage() {
    let message = assistant(example!("assistant-text.json"));
    assert_eq!(message.session_id.as_deref(), Some("sess_123"));
    assert_eq!(message.message.content.joined_text(), "I'll run the test suite now. Running test 5 of 20...");
    assert_eq!((message.message.id, message.message.model, message.message.usage), (None, None, None));
    assert_eq!(message.message.role, "assistant");
}

#[test]
fn s2_2_user_input_comes_back_with_the_session() {
    let Message::User(user) = typed(example!("user.json")) else { panic!("no user message") };
    assert_eq!(user.session_id.as_deref(), Some("sess_123"));
    assert_eq!(user.message.role, "user");
    assert_eq!(user.message.content.joined_text(), "Run the tests");
    let list = r#"{"type":"user","session_id":"s","message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#;
    assert_eq!(typed(list).content_blocks(), [ContentBlock::Text { text: "a".to_owned() }]);
}

#[test]
fn s2_3_success_has_metrics_and_cost() {
    let line = example!("result-success.json");
    let Message::Result(ResultMessage::Success {
        result,
        duration_ms,
        num_turns,
        session_id,
        total_cost_usd,
        details,
        ..
    }) = typed(line)
    else {
        panic!("no success");
    };
    assert_eq!(result, "All tests pass");
    assert_eq!(duration_ms, Some(5230));
    assert_eq!(num_turns, Some(3));
    assert_eq!(session_id.as_deref(), Some("sess_123"));
    assert_eq!(total_cost_usd, Some(0.0125));
    assert_eq!(details.is_error, Some(false));
    assert_eq!(frame(line).get("duration_api_ms").and_then(Raw::f64), Some(4100.0));
    assert_eq!(frame(line).outcome(), Some(Outcome::Completed));
}

#[test]
fn s2_3_a_fraction_of_a_millisecond_costs_nothing() {
    let line = example!("result-success.json").replace("5230.0", "5230.25");
    let frame = frame(&line);
    let typed = frame.typed();
    assert!(matches!(typed.message, Message::Result(ResultMessage::Success { num_turns: Some(3), .. })));
    // The Rust field holds whole milliseconds; the exact number stays accessible.
    assert!(typed.message.to_line().contains("5230.25"), "{}", typed.message.to_line());
    assert_eq!(frame.get("duration_ms").and_then(Raw::f64), Some(5230.25));
}

#[test]
fn s2_4_errors_have_metrics_and_no_text() {
    let cases = [
        (
            example!("result-error-max-turns.json"),
            ResultSubtype::ERROR_MAX_TURNS,
            Outcome::MaxTurns,
            10,
            0.25,
        ),
        (
            example!("result-error-during-execution.json"),
            ResultSubtype::ERROR_DURING_EXECUTION,
            Outcome::Failed,
            1,
            0.004,
        ),
    ];
    for (line, subtype, outcome, turns, cost) in cases {
        let Message::Result(ResultMessage::Failed(error)) = typed(line) else { panic!("{line}") };
        assert_eq!(error.subtype, subtype);
        assert_eq!(error.num_turns, Some(turns));
        assert_eq!(error.session_id.as_deref(), Some("sess_123"));
        assert_eq!(error.details.is_error, Some(true));
        assert!(error.errors.is_empty());
        let frame = frame(line);
        assert_eq!(frame.get("result"), None);
        assert!(frame.is_error());
        assert_eq!(frame.outcome(), Some(outcome));
        assert_eq!(frame.cost_usd(), Some(cost));
        assert!(frame.error_text().is_some_and(|text| !text.is_empty()), "a text is made up");
    }
}

#[test]
fn s2_5_init_says_what_the_session_is() {
    let Message::System(init) = typed(example!("init.json")) else { panic!("no system message") };
    let details = init.init_details().unwrap();
    assert_eq!(details.api_key_source.as_deref(), Some("user"));
    assert_eq!(details.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(details.model.as_deref(), Some("claude-sonnet-4"));
    assert_eq!(details.permission_mode, Some(PermissionMode::ACCEPT_EDITS));
    let SystemMessage::Init { session_id, tools, mcp_servers, .. } = init else { panic!("no init") };
    assert_eq!(session_id, "sess_123");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Read", "Edit"]);
    assert_eq!(mcp_servers[0].name, "filesystem");
    assert_eq!(mcp_servers[0].extra, json!({"status": "connected"}));
}

#[test]
fn s2_5_four_permission_modes_are_known_and_any_other_is_kept() {
    let mode = |mode: &str| {
        let line = example!("init.json").replace("acceptEdits", mode);
        match typed(&line) {
            Message::System(init) => init.init_details().and_then(|details| details.permission_mode).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mode("default"), PermissionMode::DEFAULT);
    assert_eq!(mode("acceptEdits"), PermissionMode::ACCEPT_EDITS);
    assert_eq!(mode("bypassPermissions"), PermissionMode::BYPASS_PERMISSIONS);
    assert_eq!(mode("plan"), PermissionMode::PLAN);
    let new = mode("dontEvenLook");
    assert_eq!(new.as_str(), "dontEvenLook");
    assert!(!new.is_known());
}

#[test]
fn s2_6_the_api_message_has_all_its_fields() {
    let message = assistant(example!("assistant.json")).message;
    assert_eq!(message.id.as_deref(), Some("msg_01"));
    assert_eq!(message.role, "assistant");
    assert_eq!(message.model.as_deref(), Some("claude-sonnet-4"));
    assert_eq!(message.stop_reason, Some(ApiStopReason::TOOL_USE));
    assert_eq!(message.stop_sequence, None);
    assert_eq!(message.extra.get("type").unwrap().text().unwrap(), "message");
    let usage = message.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (120, 45));
}

#[test]
fn s2_6_every_stop_reason_is_read_and_written_back() {
    let line = |reason: &str| example!("assistant.json").replace(r#""stop_reason": "tool_use""#, reason);
    let reason = |text: &str| assistant(&line(text)).message.stop_reason;
    assert_eq!(reason(r#""stop_reason":"end_turn""#), Some(ApiStopReason::END_TURN));
    assert_eq!(reason(r#""stop_reason":"max_tokens""#), Some(ApiStopReason::MAX_TOKENS));
    assert_eq!(reason(r#""stop_reason":"stop_sequence""#), Some(ApiStopReason::STOP_SEQUENCE));
    assert_eq!(reason(r#""stop_reason":"tool_use""#), Some(ApiStopReason::TOOL_USE));
    assert_eq!(reason(r#""stop_reason":null"#), None);
    let sequence = line(r#""stop_reason":"stop_sequence""#)
        .replace("\"stop_sequence\": null", "\"stop_sequence\":\"END\"");
    assert_eq!(assistant(&sequence).message.stop_sequence.as_deref(), Some("END"));
}

#[test]
fn s2_7_text_block_has_its_text() {
    let message = assistant(example!("assistant.json"));
    assert_eq!(message.message.content[0], ContentBlock::Text { text: "I'll run the tests.".to_owned() });
    assert_eq!(message.message.content[0].as_text(), Some("I'll run the tests."));
}

#[test]
fn s2_8_tool_use_block_has_id_name_and_input() {
    let message = typed(example!("assistant.json"));
    let input = json!({"command": "cargo test"});
    assert_eq!(message.tool_calls(), [("toolu_01", "Bash", &input)]);
    assert_eq!(
        message.content_blocks()[1],
        ContentBlock::ToolUse { id: "toolu_01".to_owned(), name: "Bash".to_owned(), input }
    );
}

#[test]
fn s2_9_every_message_names_its_session_and_results_count() {
    let examples = [
        example!("assistant.json"),
        example!("assistant-text.json"),
        example!("user.json"),
        example!("result-success.json"),
        example!("result-error-max-turns.json"),
        example!("result-error-during-execution.json"),
        example!("init.json"),
    ];
    for line in examples {
        assert_eq!(frame(line).session_id().as_deref(), Some("sess_123"), "{line}");
        let counts = frame(line).get("num_turns").and_then(Raw::u64).zip(frame(line).cost_usd());
        assert_eq!(counts.is_some(), frame(line).is_final(), "{line}");
    }
}

/// The specification has no structured progress; the CLI has it by now.
#[test]
fn s2_9_tasks_tell_of_their_progress() {
    let line = r#"{"type":"system","subtype":"task_progress","task_id":"t1","description":"Running tests",
        "usage":{"total_tokens":900,"tool_uses":5,"duration_ms":1200},"last_tool_name":"Bash","session_id":"s"}"#;
    let Message::System(SystemMessage::TaskProgress(progress)) = typed(line) else { panic!("no progress") };
    assert_eq!(progress.usage.unwrap().tool_uses, 5);
    let line = r#"{"type":"system","subtype":"task_notification","task_id":"t1","status":"completed","summary":"ok"}"#;
    let Message::System(SystemMessage::TaskNotification(end)) = typed(line) else {
        panic!("no notification")
    };
    assert_eq!(end.status, Some(TaskStatus::COMPLETED));
}

/// The specification has two kinds of block; there are more, and more to come.
#[test]
fn s2_6_other_blocks_stand_beside_text_and_tool_use() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm","signature":"sig"},
        {"type":"redacted_thinking","data":"x"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},
        {"type":"hologram","depth":3},{"type":"text","text":"done"}]}}"#;
    let message = typed(line);
    let kinds: Vec<&str> = message.content_blocks().iter().map(ContentBlock::kind).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "server_tool_use", "hologram", "text"]);
}
