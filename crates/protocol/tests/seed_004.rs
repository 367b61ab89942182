//! `ClaudeAgentSDK.Message` of the Elixir SDK, items S4.1 to S4.18 of its documentation.
//!
//! The documentation shows Elixir structs; the fixtures are the corresponding lines of the wire.

use serde_json::{Value, json};
use tidings_protocol::messages::{
    AssistantError, ContentBlock, Message, RateLimitStatus, RateLimitType, ResultMessage, SystemMessage,
};
use tidings_protocol::view::Block;
use tidings_protocol::{DecodeErrorKind, Frame, FrameRef, Kind, Outcome};

use crate::lines::{frame, typed};

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("fixtures/seed/004-", $name))
    };
}

/// A line of every type, and of an unknown one.
const ONE_OF_EACH: &[&str] = &[
    r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"mcp_servers":[]}"#,
    r#"{"type":"user","message":{"content":"hi"},"session_id":"s","uuid":"u"}"#,
    r#"{"type":"assistant","message":{"content":"hi"},"session_id":"s","uuid":"u"}"#,
    r#"{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s","uuid":"u"}"#,
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"},"session_id":"s","uuid":"u"}"#,
    r#"{"type":"result","subtype":"success","result":"hi","session_id":"s","uuid":"u"}"#,
    r#"{"type":"shiny_new_frame","session_id":"s","uuid":"u"}"#,
];

#[test]
fn s4_1_a_message_has_type_subtype_data_and_raw() {
    let line =
        "  {\"subtype\":\"success\", \"type\":\"result\",\"total_cost_usd\":1.50,\"caf\\u00e9\":[ ]}\n";
    let frame = frame(line);
    assert_eq!(frame.type_name().as_deref(), Some("result"));
    assert_eq!(frame.subtype().as_deref(), Some("success"));
    let data = frame.data().unwrap();
    assert_eq!(data.as_object().unwrap().len(), 2);
    assert_eq!(data["total_cost_usd"].as_f64(), Some(1.5));
    assert_eq!(data["café"], json!([]));
    assert_eq!(frame.raw(), line.trim().as_bytes());
}

#[test]
fn s4_2_types_are_known_or_kept_as_they_are() {
    let kinds: Vec<Kind> = ONE_OF_EACH.iter().map(|line| frame(line).kind()).collect();
    let expected = [
        Kind::System,
        Kind::User,
        Kind::Assistant,
        Kind::StreamEvent,
        Kind::RateLimitEvent,
        Kind::Result,
        Kind::Unknown,
    ];
    assert_eq!(kinds, expected);
    assert_eq!(frame(ONE_OF_EACH[6]).type_name().as_deref(), Some("shiny_new_frame"));
    assert_eq!(frame(r#"{"type":7}"#).type_name(), None);
    assert_eq!(frame(r#"{"type":7}"#).kind(), Kind::Unknown);
}

#[test]
fn s4_3_every_frame_of_the_cli_is_surfaced() {
    let mut lines = 0;
    for line in include_str!("fixtures/demo.ndjson").lines() {
        assert_eq!(frame(line).raw(), line.as_bytes());
        typed(line);
        lines += 1;
    }
    assert_eq!(lines, 90);
    // Other SDKs drop these silently.
    for line in [
        r#"{"type":"keep_alive"}"#,
        r#"{"type":"tool_progress","tool_use_id":"t","elapsed_time_seconds":30}"#,
        r#"{"type":"auth_status","isAuthenticating":true,"output":[]}"#,
        r#"{"type":"control_cancel_request","request_id":"r"}"#,
    ] {
        assert_eq!(typed(line).type_name(), frame(line).type_name().unwrap());
    }
    let Message::Unknown(unknown) = frame(ONE_OF_EACH[6]).message() else { panic!("known") };
    assert_eq!(unknown.raw.raw().as_str(), ONE_OF_EACH[6]);
}

#[test]
fn s4_4_result_subtypes_are_known_or_kept_as_they_are() {
    let subtype = |subtype: &str| match typed(&format!(r#"{{"type":"result","subtype":"{subtype}"}}"#)) {
        Message::Result(result) => {
            (matches!(result, ResultMessage::Success { .. }), result.subtype().to_owned())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(subtype("success"), (true, "success".to_owned()));
    for name in ["error_max_turns", "error_during_execution", "paused_by_comet"] {
        assert_eq!(subtype(name), (false, name.to_owned()));
    }
}

#[test]
fn s4_5_system_subtypes_are_known_or_kept_as_they_are() {
    assert!(matches!(typed(ONE_OF_EACH[0]), Message::System(SystemMessage::Init { .. })));
    let line = r#"{"type":"system","subtype":"weather","rain":true}"#;
    let frame = frame(line);
    assert_eq!(frame.kind(), Kind::System);
    assert_eq!(frame.subtype().as_deref(), Some("weather"));
    assert_eq!(frame.name(), "system/weather");
    assert_eq!(frame.data().unwrap(), json!({"rain": true}));
}

#[test]
fn s4_6_assistant_data_has_a_message_and_may_have_the_rest() {
    let with =
        |body: &str| match typed(&format!(r#"{{"type":"assistant","message":{{"content":"hi"}}{body}}}"#)) {
            Message::Assistant(message) => (message.session_id, message.parent_tool_use_id, message.error),
            other => panic!("{other:?}"),
        };
    assert_eq!(with(""), (None, None, None));
    assert_eq!(with(r#","session_id":null,"parent_tool_use_id":null,"error":null"#), (None, None, None));
    let full = with(r#","session_id":"s","parent_tool_use_id":"p","error":"rate_limit""#);
    assert_eq!(full, (Some("s".to_owned()), Some("p".to_owned()), Some(AssistantError::RATE_LIMIT)));
}

#[test]
fn s4_7_error_codes_are_known_or_kept_as_they_are() {
    let code = |code: &str| match typed(&format!(
        r#"{{"type":"assistant","message":{{"content":""}},"error":"{code}"}}"#
    )) {
        Message::Assistant(message) => message.error.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code("rate_limit"), AssistantError::RATE_LIMIT);
    assert_eq!(code("authentication_failed"), AssistantError::AUTHENTICATION_FAILED);
    // The union of the types of the Rust and the Elixir SDK.
    for known in
        ["billing_error", "invalid_request", "server_error", "overloaded", "model_not_found", "unknown"]
    {
        assert!(code(known).is_known(), "{known}");
    }
    assert_eq!(code("cosmic_ray").as_str(), "cosmic_ray");
}

#[test]
fn s4_8_rate_limit_event_has_info_uuid_and_session() {
    let line = example!("rate-limit.json");
    assert!(matches!(typed(line), Message::RateLimitEvent(_)));
    let frame = frame(line);
    assert_eq!(frame.rate_limit().unwrap().status, RateLimitStatus::ALLOWED_WARNING);
    assert_eq!(frame.uuid().as_deref(), Some("5d0a1c3e-0000-4000-8000-000000000001"));
    assert_eq!(frame.session_id().as_deref(), Some("session-123"));

    // Neither an event without ids nor one in an unknown shape is lost.
    let bare = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}"#;
    typed(bare);
    assert_eq!(Frame::from_json(bare).unwrap().rate_limit().unwrap().status, RateLimitStatus::REJECTED);
    let other = r#"{"type":"rate_limit_event","retry_after":30}"#;
    typed(other);
    assert_eq!(Frame::from_json(other).unwrap().rate_limit(), None);
}

#[test]
fn s4_9_rate_limit_info_is_read_in_both_spellings() {
    let page = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resets_at":1735689600,
        "rate_limit_type":"five_hour","utilization":0.91,"is_using_overage":false,"overage_status":"rejected",
        "overage_resets_at":1735776000,"overage_disabled_reason":"out_of_credits"}}"#;
    for line in [example!("rate-limit.json"), page] {
        let info = frame(line).rate_limit().unwrap();
        assert_eq!(info.resets_at, Some(1_735_689_600));
        assert_eq!(info.rate_limit_type, Some(RateLimitType::FIVE_HOUR));
        assert_eq!(info.utilization, Some(0.91));
        assert_eq!(info.is_using_overage, Some(false));
        assert_eq!(info.overage_status, Some(RateLimitStatus::REJECTED));
        assert_eq!(info.overage_resets_at, Some(1_735_776_000));
        assert_eq!(info.overage_disabled_reason.as_deref(), Some("out_of_credits"));
        assert!(info.extra.is_empty(), "{info:?}");
    }
}

#[test]
fn s4_9_all_but_the_status_may_be_missing_and_the_rest_is_kept() {
    let info = |body: &str| {
        frame(&format!(r#"{{"type":"rate_limit_event","rate_limit_info":{{{body}}}}}"#)).rate_limit()
    };
    let bare = info(r#""status":"allowed""#).unwrap();
    assert_eq!((bare.resets_at, bare.utilization, bare.is_using_overage), (None, None, None));
    assert_eq!(info(r#""status":"allowed","utilization":1"#).unwrap().utilization, Some(1.0));
    assert_eq!(info(r#""status":"allowed","resets_at":null"#).unwrap().resets_at, None);
    let new = info(r#""status":"throttled","window":{"hours":5}"#).unwrap();
    assert_eq!(new.status.as_str(), "throttled");
    assert_eq!(new.extra.get("window").unwrap().value().unwrap(), json!({"hours": 5}));
    assert_eq!(info(r#""utilization":1"#), None);
}

#[test]
fn s4_10_the_assistant_example_is_read() {
    let line = example!("assistant.json");
    let Message::Assistant(message) = typed(line) else { panic!("no assistant message") };
    assert_eq!(frame(line).subtype(), None);
    assert_eq!(message.message.content.joined_text(), "Hello! How can I help?");
    assert_eq!(message.session_id.as_deref(), Some("session-123"));
    assert_eq!(message.error, None);
}

#[test]
fn s4_11_the_assistant_example_with_an_error_is_read() {
    let line = example!("assistant-error.json");
    let Message::Assistant(message) = typed(line) else { panic!("no assistant message") };
    assert_eq!(message.message.content.joined_text(), "Please try again later.");
    assert_eq!(message.error, Some(AssistantError::RATE_LIMIT));
    // It is not a failed turn: only a result ends one.
    assert!(!frame(line).is_error());
}

#[test]
fn s4_12_the_result_example_is_read_though_it_has_no_text() {
    let line = example!("result.json");
    let Message::Result(ResultMessage::Success {
        result,
        duration_ms,
        num_turns,
        session_id,
        total_cost_usd,
        ..
    }) = typed(line)
    else {
        panic!("no success");
    };
    assert_eq!(result, "");
    assert_eq!((duration_ms, num_turns), (Some(1500), Some(2)));
    assert_eq!(session_id.as_deref(), Some("session-123"));
    assert_eq!(total_cost_usd, Some(0.001));
    assert_eq!(frame(line).cost_usd(), Some(0.001));
}

#[test]
fn s4_13_from_json_gives_a_message_or_says_why_not() {
    let Message::Assistant(message) = typed(example!("from-json.json")) else {
        panic!("no assistant message")
    };
    assert_eq!(message.message.content.joined_text(), "Hello");
    assert_eq!(FrameRef::from_json(example!("from-json.json")).unwrap().kind(), Kind::Assistant);

    let kind = |line: &str| Frame::from_json(line).unwrap_err().kind;
    assert_eq!(kind("hello"), DecodeErrorKind::NotAnObject);
    assert_eq!(kind(r#""type""#), DecodeErrorKind::NotAnObject);
    assert_eq!(kind(""), DecodeErrorKind::NotAnObject);
    let cut = Frame::from_json(r#"{"type":"assistant","message":"#).unwrap_err();
    assert!(matches!(cut.kind, DecodeErrorKind::Syntax(_)), "{cut}");
    assert_eq!(cut.at, 30);
    assert!(!cut.to_string().is_empty() && !cut.hint().is_empty());
}

#[test]
fn s4_14_content_blocks_of_users_and_assistants() {
    let text = |line: &str| match frame(line).content_blocks().next() {
        Some(Block::Text(text)) => text.get().into_owned(),
        other => panic!("{other:?}"),
    };
    for kind in ["user", "assistant"] {
        let plain = format!(r#"{{"type":"{kind}","message":{{"content":"a \u00e9"}}}}"#);
        let list = format!(r#"{{"type":"{kind}","message":{{"content":[{{"type":"text","text":"a é"}}]}}}}"#);
        for line in [plain, list] {
            assert_eq!(text(&line), "a é");
            assert_eq!(frame(&line).content_blocks().count(), 1);
            assert_eq!(typed(&line).content_blocks(), [ContentBlock::Text { text: "a é".to_owned() }]);
        }
    }
    for line in [ONE_OF_EACH[0], ONE_OF_EACH[3], ONE_OF_EACH[5], ONE_OF_EACH[6]] {
        assert_eq!(frame(line).content_blocks().count(), 0, "{line}");
        assert!(frame(line).message().content_blocks().is_empty(), "{line}");
    }
    let stranger = r#"{"type":"result","subtype":"success","result":"","message":{"content":"hidden"}}"#;
    assert_eq!(frame(stranger).content_blocks().count(), 0);
}

#[test]
fn s4_15_is_error_is_true_for_failed_results_only() {
    let is_error = |body: &str| frame(&format!(r#"{{"type":{body}}}"#)).is_error();
    assert!(is_error(r#""result","subtype":"error_max_turns""#));
    assert!(is_error(r#""result","subtype":"error_during_execution""#));
    assert!(!is_error(r#""result","subtype":"success""#));
    assert!(!is_error(r#""result","subtype":"success","is_error":false"#));
    assert!(!is_error(r#""assistant","subtype":"error_max_turns","is_error":true"#));
    // Newer kinds of failure.
    assert!(is_error(r#""result","subtype":"error_max_budget_usd""#));
    assert!(is_error(r#""result","subtype":"success","is_error":true"#));
}

/// The Elixir SDK relabels such a result; here the label stays and the outcome differs.
#[test]
fn s4_15_a_failed_success_keeps_its_subtype() {
    let line = r#"{"type":"result","subtype":"success","is_error":true,"result":"boom"}"#;
    let Message::Result(result) = typed(line) else { panic!("no result") };
    assert_eq!(result.subtype(), "success");
    assert_eq!(frame(line).outcome(), Some(Outcome::Failed));
}

#[test]
fn s4_16_only_results_are_final() {
    let finals: Vec<bool> = ONE_OF_EACH.iter().map(|line| frame(line).is_final()).collect();
    assert_eq!(finals, [false, false, false, false, false, true, false]);
    assert!(frame(r#"{"type":"result"}"#).is_final());
    assert!(!frame(r#"{"type":"assistant"}"#).is_final());
}

#[test]
fn s4_17_session_id_of_any_frame_or_nothing() {
    for line in ONE_OF_EACH {
        assert_eq!(frame(line).session_id().as_deref(), Some("s"), "{line}");
    }
    assert_eq!(frame(r#"{"type":"keep_alive"}"#).session_id(), None);
    assert_eq!(frame(r#"{"type":"user","session_id":null}"#).session_id(), None);
    // A nested one is not the frame's.
    assert_eq!(frame(r#"{"type":"user","message":{"session_id":"x"}}"#).session_id(), None);
}

#[test]
fn s4_18_user_uuid_is_the_checkpoint_of_a_user_frame() {
    let uuids: Vec<Value> = ONE_OF_EACH.iter().map(|line| json!(frame(line).user_uuid())).collect();
    assert_eq!(json!(uuids), json!([null, "u", null, null, null, null, null]));
    assert_eq!(frame(r#"{"type":"user","message":{"content":""}}"#).user_uuid(), None);
}
