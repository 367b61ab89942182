//! Whole control frames, in both styles.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use tidings_protocol::FrameRef;
use tidings_protocol::control::{
    Call, CanUseTool, ControlOutcome, ControlRequest, ControlResponse, ControlStyle, McpMessageReply,
    SetModel, Success,
};
use tidings_protocol::json::{Misfit, Raw, same_json};
use tidings_protocol::messages::Message;
use tidings_protocol::permissions::PermissionResult;

/// Flat examples of control frames, from the description of the `rusty_claw` wire format.
const FLAT_INITIALIZE: &str =
    r#"{"type":"control_request","request_id":"req_001","subtype":"initialize","can_use_tool":true}"#;
const FLAT_SUCCESS: &str = r#"{"type":"control_response","request_id":"req_001","subtype":"success"}"#;
const FLAT_CAN_USE_TOOL: &str = r#"{"type":"control_request","request_id":"req_002","subtype":"can_use_tool","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
const FLAT_DENY: &str = r#"{"type":"control_response","request_id":"req_002","subtype":"success","allowed":false,"reason":"Dangerous command blocked"}"#;

#[test]
fn a_flat_request_is_the_same_call_as_a_nested_one() {
    let members = [
        r#""subtype":"initialize","hooks":{"Stop":[{"hookCallbackIds":["hook_0"]}]},"agents":{},"sdkMcpServers":["calc"]"#,
        r#""subtype":"interrupt""#,
        r#""subtype":"set_permission_mode","mode":"plan""#,
        r#""subtype":"set_model","model":"opus""#,
        r#""subtype":"mcp_status""#,
        r#""subtype":"rewind_files","user_message_id":"u""#,
        r#""subtype":"get_server_info""#,
        r#""subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t""#,
        r#""subtype":"hook_callback","callback_id":"hook_0","input":{"hook_event_name":"Stop"}"#,
        r#""subtype":"mcp_message","server_name":"calc","message":{"id":1}"#,
        r#""subtype":"new_request","a":{"b":1}"#,
    ];
    for members in members {
        let flat = format!(r#"{{"type":"control_request","request_id":"r",{members}}}"#);
        let nested = format!(r#"{{"type":"control_request","request_id":"r","request":{{{members}}}}}"#);
        let (flat_id, flat) = request_comes_back(&flat);
        let (nested_id, nested) = request_comes_back(&nested);
        assert_eq!((flat_id, flat.style), ("r".to_owned(), ControlStyle::Flat));
        assert_eq!((nested_id, nested.style), ("r".to_owned(), ControlStyle::Nested));
        assert_eq!(flat.call, nested.call);
        assert_eq!(flat.in_style(ControlStyle::Nested), nested);
    }
}

#[test]
fn the_flat_handshake_says_that_it_answers_questions() {
    let (id, request) = request_comes_back(FLAT_INITIALIZE);
    assert_eq!(id, "req_001");
    let Call::Initialize(initialize) = request.call else { panic!() };
    assert_eq!(initialize.can_use_tool, Some(true));
}

#[test]
fn both_spellings_of_a_question_read_alike() {
    let (_, flat) = request_comes_back(FLAT_CAN_USE_TOOL);
    let (_, nested) = request_comes_back(
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -rf /"},"tool_use_id":"t"}}"#,
    );
    let (Call::CanUseTool(flat), Call::CanUseTool(nested)) = (flat.call, nested.call) else { panic!() };
    assert_eq!(flat.tool_name, nested.tool_name);
    assert_eq!(flat.input().unwrap(), nested.input().unwrap());
}

#[test]
fn both_spellings_of_a_hook_read_alike() {
    let (_, flat) = request_comes_back(
        r#"{"type":"control_request","request_id":"r","subtype":"hook_callback","hook_id":"hook_0","hook_event":"Stop","hook_input":{"stop_hook_active":true}}"#,
    );
    let (_, nested) = request_comes_back(
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{"hook_event_name":"Stop","stop_hook_active":true}}}"#,
    );
    let (Call::HookCallback(flat), Call::HookCallback(nested)) = (flat.call, nested.call) else { panic!() };
    assert_eq!(flat.callback_id(), nested.callback_id());
    assert_eq!(flat.event(), nested.event());
    assert!(flat.input().is_some() && nested.input().is_some());
}

#[test]
fn a_flat_answer_has_its_body_beside_the_subtype() {
    let (id, ack) = response_comes_back(FLAT_SUCCESS);
    assert_eq!((id.as_str(), ack.style), ("req_001", ControlStyle::Flat));
    assert_eq!(ack.in_style(ControlStyle::Flat).outcome, ControlOutcome::Success(Success::default()));

    let (_, deny) = response_comes_back(FLAT_DENY);
    let ControlOutcome::Success(success) = &deny.outcome else { panic!() };
    let decision = success.reply::<CanUseTool>().unwrap();
    assert_eq!(decision.is_allowed(), Some(false));
    assert_eq!(decision.message(), Some("Dangerous command blocked"));
    assert_eq!(ControlResponse::success(&decision).in_style(ControlStyle::Flat), deny);
}

#[test]
fn an_answer_can_change_its_style_and_back() {
    let nested = ControlResponse::success(&PermissionResult::deny("no"));
    let flat = nested.clone().in_style(ControlStyle::Flat);
    assert_eq!(
        frame_of(&flat),
        r#"{"type":"control_response","request_id":"r","subtype":"success","behavior":"deny","message":"no"}"#
    );
    assert_eq!(flat.in_style(ControlStyle::Nested), nested);
}

#[test]
fn nested_answers_carry_the_id_inside() {
    for (response, frame) in [
        (
            ControlResponse::ack(),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#,
        ),
        (
            ControlResponse::success(&McpMessageReply::default()),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{}}}"#,
        ),
        (
            ControlResponse::unsupported("x"),
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"Unsupported control request subtype: x","error_code":"unsupported_request"}}"#,
        ),
    ] {
        assert_eq!(frame_of(&response), frame);
        assert_eq!(response_comes_back(frame), ("r".to_owned(), response));
    }
}

#[test]
fn a_request_is_written_in_the_order_that_the_cli_uses() {
    let request = ControlRequest::new(SetModel::new(Some("opus".to_owned())));
    assert_eq!(
        Message::ControlRequest { request_id: "r".to_owned(), request }.to_line(),
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"set_model","model":"opus"}}"#
    );
}

#[test]
fn what_stands_beside_the_payload_is_kept() {
    let (_, request) = request_comes_back(
        r#"{"trace":{"a":1},"type":"control_request","request_id":"r","request":{"subtype":"interrupt","new":1},"b":null}"#,
    );
    assert_eq!(request.envelope.iter().count(), 2);
    let (_, response) = response_comes_back(
        r#"{"trace":1,"type":"control_response","response":{"subtype":"error","request_id":"r","error":"e","model":"m"}}"#,
    );
    assert_eq!(response.envelope.iter().count(), 1);
    response_comes_back(
        r#"{"type":"control_response","response":{"subtype":"partial","request_id":"r","a":1}}"#,
    );
    response_comes_back(r#"{"type":"control_response","response":{"request_id":"r"}}"#);
    response_comes_back(
        r#"{"type":"control_response","request_id":"r","subtype":"success","response":{"a":1}}"#,
    );
}

#[test]
fn a_frame_without_what_it_needs_says_what_is_missing() {
    for (frame, message) in [
        (r#"{"type":"control_request","request":{"subtype":"interrupt"}}"#, "`request_id` is missing"),
        (r#"{"type":"control_request","request_id":"r"}"#, "`subtype` is missing"),
        (r#"{"type":"control_request","request_id":"r","request":{}}"#, "`request.subtype` is missing"),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":7}}"#,
            "`request.subtype` should be a string, found `7`",
        ),
        (
            r#"{"type":"control_request","request_id":7,"subtype":"interrupt"}"#,
            "`request_id` should be a string, found `7`",
        ),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"mcp_toggle","serverName":"m"}}"#,
            "`request.enabled` is missing",
        ),
    ] {
        assert_eq!(misfit(frame).to_string(), message);
    }
    for (frame, message) in [
        (
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"r"}}"#,
            "`response.error` is missing",
        ),
        (r#"{"type":"control_response","subtype":"success"}"#, "`request_id` is missing"),
    ] {
        assert_eq!(misfit(frame).to_string(), message);
    }
}

#[test]
fn an_answer_to_a_request_without_an_id_has_none_either() {
    let frame = r#"{"type":"control_response","response":{"subtype":"success","response":{}}}"#;
    assert_eq!(response_comes_back(frame).0, "");
    assert_eq!(read(frame).to_line(), frame);
}

#[test]
fn a_field_that_does_not_fit_is_refused_with_its_place_and_kept() {
    let frame = r#"{"type":"control_request","request_id":"r","request":{"subtype":"set_model","model":42}}"#;
    let refused = FrameRef::from_json(frame).unwrap().refused();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].to_string(), "`request.model` should be a string, found `42`");
    assert_eq!(request_comes_back(frame).1.subtype(), "set_model");
}

#[test]
fn a_call_is_small_enough_to_be_part_of_every_message() {
    assert!(size_of::<Call>() <= 200, "{}", size_of::<Call>());
}

fn read(frame: &str) -> Message {
    FrameRef::from_json(frame).unwrap().message()
}

/// The reason why a frame cannot be read.
fn misfit(frame: &str) -> Misfit {
    let Message::Unknown(unknown) = read(frame) else { panic!("{frame}") };
    unknown.reason.unwrap()
}

fn check_that_it_comes_back(frame: &str, message: &Message) {
    let out = message.to_line();
    assert!(same_json(Raw::parse(frame).unwrap(), Raw::parse(&out).unwrap()), "{frame}\n{out}");
}

fn request_comes_back(frame: &str) -> (String, ControlRequest) {
    let message = read(frame);
    check_that_it_comes_back(frame, &message);
    let Message::ControlRequest { request_id, request } = message else { panic!("{message:?}") };
    (request_id, request)
}

fn response_comes_back(frame: &str) -> (String, ControlResponse) {
    let message = read(frame);
    check_that_it_comes_back(frame, &message);
    let Message::ControlResponse { request_id, response } = message else { panic!("{message:?}") };
    (request_id, response)
}

fn frame_of(response: &ControlResponse) -> String {
    Message::ControlResponse { request_id: "r".to_owned(), response: response.clone() }.to_line()
}
