//! Differences between the real wire and the `rusty_claw` wire format: both are read, and each is written
//! back unchanged.

use serde_json::{Value, json};
use tidings_protocol::control::{Call, CanUseTool, ControlOutcome, ControlStyle};
use tidings_protocol::messages::{ContentBlock, Message, ResultMessage, ResultSubtype, SystemMessage};
use tidings_protocol::stream::Event;
use tidings_protocol::view::{self, View};
use tidings_protocol::{Kind, Outcome};

use super::{frame, typed};

#[track_caller]
fn request(line: &str) -> (String, Call, ControlStyle) {
    match typed(line) {
        Message::ControlRequest { request_id, request } => (request_id, request.call, request.style),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s0_5_nested_and_flat_requests_ask_for_the_same() {
    let flat = request(r#"{"type":"control_request","request_id":"r","subtype":"set_model","model":"m"}"#);
    let nested = request(
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"set_model","model":"m"}}"#,
    );
    assert_eq!((&flat.0, &flat.1), (&nested.0, &nested.1));
    assert!(matches!(&flat.1, Call::SetModel(call) if call.model.as_deref() == Some("m")), "{flat:?}");
    assert_eq!((flat.2, nested.2), (ControlStyle::Flat, ControlStyle::Nested));
}

#[test]
fn s0_6_nested_and_flat_responses_answer_the_same() {
    let lines = [
        r#"{"type":"control_response","request_id":"r","subtype":"error","error":"no"}"#,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}"#,
    ];
    for line in lines {
        assert_eq!(frame(line).request_id().as_deref(), Some("r"));
        assert_eq!(frame(line).name(), "control_response/error");
        let Message::ControlResponse { request_id, response } = typed(line) else { panic!("no response") };
        assert_eq!(request_id, "r");
        assert!(
            matches!(&response.outcome, ControlOutcome::Error(failure) if failure.error == "no"),
            "{line}"
        );
    }
}

#[test]
fn s0_32_a_tools_input_and_the_decision_have_two_spellings() {
    let asks = [
        r#"{"type":"control_request","request_id":"r","subtype":"can_use_tool","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_1"}}"#,
    ];
    for line in asks {
        let (_, Call::CanUseTool(ask), _) = request(line) else { panic!("{line}") };
        assert_eq!(ask.input().unwrap().raw().value().unwrap(), json!({"command": "ls"}), "{line}");
    }
    let answers = [
        (r#"{"type":"control_response","request_id":"r","subtype":"success","allowed":true}"#, true, None),
        (
            r#"{"type":"control_response","request_id":"r","subtype":"success","allowed":false,"reason":"no"}"#,
            false,
            Some("no"),
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{}}}}"#,
            true,
            None,
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no"}}}"#,
            false,
            Some("no"),
        ),
    ];
    for (line, allowed, message) in answers {
        let Message::ControlResponse { response, .. } = typed(line) else { panic!("{line}") };
        let ControlOutcome::Success(success) = &response.outcome else { panic!("{line}") };
        let decision = success.reply::<CanUseTool>().unwrap();
        assert_eq!((decision.is_allowed(), decision.message()), (Some(allowed), message), "{line}");
    }
}

#[test]
fn s0_33_a_hooks_id_and_input_have_two_spellings() {
    let calls = [
        r#"{"type":"control_request","request_id":"r","subtype":"hook_callback","hook_id":"h1","hook_event":"Stop","hook_input":{"session_id":"s"}}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"h1","input":{"session_id":"s","hook_event_name":"Stop"},"tool_use_id":"t"}}"#,
    ];
    for line in calls {
        let (_, Call::HookCallback(hook), _) = request(line) else { panic!("{line}") };
        assert_eq!(hook.callback_id(), Some("h1"), "{line}");
        assert_eq!(hook.event().unwrap().as_str(), "Stop", "{line}");
        assert_eq!(hook.input().unwrap().base.session_id.as_deref(), Some("s"), "{line}");
    }
}

#[test]
fn s0_24_tools_are_objects_or_bare_names() {
    let line = r#"{"type":"system","subtype":"init","session_id":"s","mcp_servers":[],
        "tools":["Bash",{"name":"bash"},{"name":"Read","description":"Reads"},"Edit"]}"#;
    // `typed` checks the form of each tool by comparing what is written.
    let Message::System(SystemMessage::Init { tools, .. }) = typed(line) else { panic!("no init") };
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Bash", "bash", "Read", "Edit"]);
    assert_eq!(tools[2].description.as_deref(), Some("Reads"));
}

#[test]
fn s0_14_content_is_a_list_or_a_string() {
    let text = || ContentBlock::Text { text: "Hi".to_owned() };
    let plain = typed(r#"{"type":"user","message":{"role":"user","content":"Hi"}}"#);
    let list = typed(r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Hi"}]}}"#);
    assert_eq!(plain.content_blocks(), [text()]);
    assert_eq!(list.content_blocks(), [text()]);
    let (Message::User(plain), Message::User(list)) = (plain, list) else { panic!("no user messages") };
    assert!(plain.message.content.is_plain());
    assert!(!list.message.content.is_plain());
}

#[test]
fn s0_14_a_missing_role_follows_from_the_type_and_stays_missing() {
    let role = |message: Message| match message {
        Message::Assistant(assistant) => assistant.message.role,
        Message::User(user) => user.message.role,
        other => panic!("{other:?}"),
    };
    assert_eq!(role(typed(r#"{"type":"assistant","message":{"content":"Hi"}}"#)), "assistant");
    assert_eq!(role(typed(r#"{"type":"user","message":{"content":"Hi"}}"#)), "user");
    let other = r#"{"type":"user","message":{"role":"system","content":"Hi"}}"#;
    assert_eq!(role(typed(other)), "system");
}

#[test]
fn s0_21_real_errors_have_subtypes_of_their_own() {
    let cases = [
        ("error_max_turns", "", Outcome::MaxTurns, "The turn reached its limit of rounds"),
        ("error_max_budget_usd", r#","errors":["over budget"]"#, Outcome::MaxBudget, "over budget"),
        (
            "error_during_execution",
            r#","errors":[],"terminal_reason":"aborted_tools""#,
            Outcome::Interrupted,
            "The turn was interrupted",
        ),
        ("error_max_structured_output_retries", "", Outcome::StructuredOutput, "No answer fitted the schema"),
        ("error_of_tomorrow", r#","errors":["new"]"#, Outcome::Failed, "new"),
    ];
    for (subtype, body, outcome, text) in cases {
        let line = format!(r#"{{"type":"result","subtype":"{subtype}","is_error":true{body}}}"#);
        let Message::Result(ResultMessage::Failed(error)) = typed(&line) else { panic!("{line}") };
        assert_eq!(error.subtype, ResultSubtype::from(subtype));
        let frame = frame(&line);
        assert!(frame.is_error(), "{line}");
        assert_eq!(frame.outcome(), Some(outcome), "{line}");
        assert_eq!(frame.error_text().as_deref(), Some(text), "{line}");
    }
}

#[test]
fn s0_20_a_success_may_have_failed() {
    let line = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error",
        "api_error_status":529,"result":"API Error: 529 Overloaded"}"#;
    let Message::Result(ResultMessage::Success { result, details, .. }) = typed(line) else {
        panic!("no success")
    };
    assert_eq!(result, "API Error: 529 Overloaded");
    assert_eq!(details.is_error, Some(true));
    let frame = frame(line);
    assert_eq!(frame.subtype().as_deref(), Some("success"));
    assert_eq!(frame.outcome(), Some(Outcome::ApiError { status: Some(529) }));
    assert_eq!(frame.error_text(), Some(result));
}

#[test]
fn s0_26_the_real_stream_event_is_a_frame() {
    let line = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,
        "delta":{"type":"text_delta","text":"Hel"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}"#;
    assert_eq!(frame(line).kind(), Kind::StreamEvent);
    let Message::StreamEvent(partial) = typed(line) else { panic!("no stream event") };
    assert_eq!(partial.event.kind(), "content_block_delta");
    assert!(matches!(&partial.event, Event::ContentBlockDelta(delta) if delta.index == 0));
    let frame = frame(line);
    let View::StreamEvent(view::EventView::BlockDelta { delta: view::DeltaView::Text(text), .. }) =
        frame.view()
    else {
        panic!("{:?}", frame.view());
    };
    assert_eq!(text, "Hel");
}

#[test]
fn s0_2_what_nobody_knows_is_kept_at_every_level() {
    let raw = r#"{"type":"telepathy","thought":[1.50,1e400]}"#;
    let Message::Unknown(unknown) = frame(raw).message() else { panic!("known") };
    assert_eq!(unknown.kind.as_deref(), Some("telepathy"));
    assert_eq!(unknown.reason, None);
    assert_eq!(unknown.raw.raw().as_str(), raw);

    let Message::Unknown(unknown) = frame(r#"{"type":"system","subtype":"mood","a":1}"#).message() else {
        panic!("known");
    };
    assert_eq!(unknown.subtype.as_deref(), Some("mood"));

    let block = r#"{"type":"assistant","message":{"content":[{"type":"scent","notes":["rose"]}]}}"#;
    let message = typed(block);
    assert!(matches!(message.content_blocks(), [ContentBlock::Unknown(block)] if block.kind == "scent"));

    let (_, call, _) =
        request(r#"{"type":"control_request","request_id":"r","request":{"subtype":"sing","key":"C"}}"#);
    assert!(matches!(&call, Call::Unknown(unknown) if unknown.subtype == "sing"), "{call:?}");
}

#[test]
fn s0_11_the_real_compact_boundary_says_how() {
    let line = r#"{"type":"system","subtype":"compact_boundary","session_id":"s","uuid":"u",
        "compact_metadata":{"trigger":"manual","pre_tokens":1200}}"#;
    let Message::System(SystemMessage::Compacted(boundary)) = typed(line) else { panic!("no boundary") };
    let metadata = boundary.compact_metadata.unwrap();
    assert_eq!((metadata.trigger.as_deref(), metadata.pre_tokens), (Some("manual"), Some(1200)));
}

#[test]
fn s0_23_usage_has_more_counters_and_larger_ones() {
    let line = r#"{"type":"result","subtype":"success","result":"","usage":{"input_tokens":5000000000,
        "output_tokens":2,"cache_read_input_tokens":7,"server_tool_use":{"web_search_requests":1},"new":{"a":1}}}"#;
    let Message::Result(ResultMessage::Success { usage, .. }) = typed(line) else { panic!("no success") };
    let usage = usage.unwrap();
    assert_eq!(usage.input_tokens, 5_000_000_000);
    assert_eq!(usage.cache_read_input_tokens, Some(7));
    assert_eq!(usage.server_tool_use.unwrap().web_search_requests, 1);
    let new: Value = usage.extra.get("new").unwrap().value().unwrap();
    assert_eq!(new, json!({"a": 1}));
}
