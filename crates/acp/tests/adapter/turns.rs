//! Turns: texts, tool calls, permissions and their ends.

use serde_json::{Value, json};
use tidings_acp::adapter::{Effect, TerminalRequest};

use super::{Wire, options};

#[test]
fn a_turn_has_the_frames_of_claude_code_and_the_bytes_of_the_agent() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let thought = json!({"type": "text", "text": "Hm."});
    wire.update(&json!({"sessionUpdate": "agent_thought_chunk", "content": thought}));
    wire.text("Hel");
    wire.text("lo");
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(
        wire.shape(),
        [
            "command_lifecycle queued",
            "command_lifecycle started",
            "system init",
            "system status",
            "assistant thinking",
            "assistant text",
            "result success",
            "command_lifecycle completed",
            "system session_state_changed",
        ]
    );
    assert_eq!(wire.blocks("text")[0]["text"], "Hello");
    let result = wire.result();
    assert_eq!(result["result"], "Hello");
    assert_eq!(result["user_message_uuids"], json!(["u-hi"]));
    assert_eq!(result.get("total_cost_usd"), None, "unknown is not zero");
    assert!(result["duration_ms"].as_u64().unwrap() > 0);
    let deltas: Vec<&Value> =
        wire.host.iter().filter(|frame| frame["event"]["delta"]["type"] == "text_delta").collect();
    assert_eq!(deltas.len(), 2);
    assert_eq!(deltas[0]["acp"]["params"]["update"]["content"]["text"], "Hel", "the line of the agent");
    let sent = wire.agent.iter().find(|message| message["method"] == "session/prompt").unwrap();
    assert_eq!(sent["params"], json!({"sessionId": "own-1", "prompt": [{"type": "text", "text": "hi"}]}));
}

#[test]
fn a_call_is_shown_once_its_input_is_known_and_ends_with_its_result() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit", "kind": "edit", "status": "pending", "rawInput": {}});
    wire.update(&call);
    assert!(wire.blocks("tool_use").is_empty(), "its input is not known yet");
    let announced = |frame: &Value| frame["event"]["content_block"]["id"] == "c1";
    assert!(wire.host.iter().any(announced), "but it is announced");
    let diff = json!([{"type": "diff", "path": "/home/ada/shop/a.rs", "oldText": "one", "newText": "two"}]);
    wire.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress", "content": diff}));
    wire.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed", "rawOutput": {"output": "Edited"}}));
    // Late and repeated updates change nothing, and are kept.
    wire.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}));
    wire.update(&call);
    let calls = wire.blocks("tool_use");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["name"], "Edit");
    let input = json!({"file_path": "/home/ada/shop/a.rs", "old_string": "one", "new_string": "two"});
    assert_eq!(calls[0]["input"], input);
    let results = wire.blocks("tool_result");
    assert_eq!(results.len(), 1);
    assert_eq!((&results[0]["content"], &results[0]["is_error"]), (&json!("Edited"), &json!(false)));
    assert_eq!(wire.host.iter().filter(|frame| frame["subtype"] == "acp_update").count(), 2);
}

#[test]
fn a_plan_becomes_a_list_of_tasks() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let entries = json!([{"content": "Read", "priority": "high", "status": "in_progress"}]);
    wire.update(&json!({"sessionUpdate": "plan", "entries": entries}));
    let call = wire.blocks("tool_use")[0];
    assert_eq!(call["name"], "TodoWrite");
    let todo = json!({"content": "Read", "status": "in_progress", "activeForm": "Read"});
    assert_eq!(call["input"], json!({"todos": [todo]}));
}

/// Asks about a command, and answers.
fn ask_and_decide(decision: &Value) -> Wire {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = json!({"toolCallId": "c1", "title": "Run the tests", "kind": "execute", "rawInput": {"command": "npm test"}});
    wire.request(7, "session/request_permission", &json!({"toolCall": call, "options": options()}));
    wire.decide(decision);
    wire
}

#[test]
fn a_permission_request_is_that_of_a_known_tool_with_the_options_of_the_agent() {
    let wire = ask_and_decide(
        &json!({"behavior": "allow", "updatedInput": {"command": "npm test", "description": "Run the tests"}}),
    );
    let (_, request) = wire.permission();
    assert_eq!(request["tool_name"], "Bash");
    assert_eq!(request["input"]["command"], "npm test");
    assert_eq!(request["tool_use_id"], "c1");
    assert_eq!(request["acp_options"], options());
    let rule = &request["permission_suggestions"][0]["rules"][0];
    assert_eq!(rule["ruleContent"], "Always allow npm test");
    let calls = wire.blocks("tool_use");
    assert_eq!((calls.len(), &calls[0]["id"]), (1, &json!("c1")), "the call is shown before the request");
    assert_eq!(wire.response(7)["result"]["outcome"], json!({"outcome": "selected", "optionId": "yes"}));
}

#[test]
fn decisions_choose_the_option_of_their_kind_and_never_a_wider_one() {
    let outcome = |decision: Value| ask_and_decide(&decision).response(7)["result"]["outcome"].clone();
    let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
    let always = json!({"behavior": "allow", "updatedPermissions": [{"type": "addRules"}]});
    assert_eq!(outcome(always), selected("always"));
    assert_eq!(outcome(json!({"behavior": "deny", "message": "No"})), selected("no"));
    assert_eq!(outcome(json!({"behavior": "perhaps"})), selected("no"), "anything else is a denial");
    let edited = json!({"behavior": "allow", "updatedInput": {"command": "rm -rf /"}});
    assert_eq!(outcome(edited), selected("no"), "the agent cannot take another input");
    let denied = ask_and_decide(&json!({"behavior": "deny", "message": "No", "interrupt": true}));
    assert!(denied.agent.iter().any(|message| message["method"] == "session/cancel"));
}

#[test]
fn an_agent_without_a_single_permission_gets_none() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = json!({"toolCallId": "c1", "kind": "execute", "rawInput": {"command": "ls"}});
    let only_always = json!([{"optionId": "always", "name": "Always", "kind": "allow_always"}]);
    wire.request(7, "session/request_permission", &json!({"toolCall": call, "options": only_always}));
    wire.decide(&json!({"behavior": "allow"}));
    assert_eq!(wire.response(7)["result"]["outcome"], json!({"outcome": "cancelled"}));
}

#[test]
fn an_interrupt_cancels_the_turn_and_its_requests() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = json!({"toolCallId": "c1", "kind": "execute", "rawInput": {"command": "ls"}});
    wire.request(7, "session/request_permission", &json!({"toolCall": call, "options": options()}));
    wire.host(&json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}));
    assert!(wire.agent.iter().any(|message| message["method"] == "session/cancel"));
    assert_eq!(wire.response(7)["result"]["outcome"], json!({"outcome": "cancelled"}));
    assert!(wire.host.iter().any(|frame| frame["type"] == "control_cancel_request"));
    wire.answer("session/prompt", &json!({"stopReason": "cancelled"}));
    let result = wire.result();
    assert_eq!(
        (&result["is_error"], &result["terminal_reason"]),
        (&json!(true), &json!("aborted_streaming"))
    );
}

/// An agent may ignore a cancellation; the session must not wait for ever.
#[test]
fn an_agent_that_does_not_stop_is_left_behind() {
    let mut wire = Wire::open();
    wire.prompt("one");
    let first = wire.asked("session/prompt");
    wire.host(&json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}));
    let deadline = wire.other.iter().find_map(|effect| match effect {
        Effect::CancelDeadline(turn) => Some(*turn),
        _ => None,
    });
    wire.adapter.cancel_overdue(deadline.unwrap());
    wire.collect();
    assert_eq!(wire.result()["terminal_reason"], "aborted_streaming");
    wire.text("still talking");
    assert!(wire.host.iter().any(|frame| frame["subtype"] == "acp_update"), "shown as it came");
    wire.prompt("two");
    wire.agent(&json!({"jsonrpc": "2.0", "id": first, "result": {"stopReason": "end_turn"}}));
    wire.text("Two.");
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(wire.result()["user_message_uuids"], json!(["u-two"]), "the late response ends no other turn");
}

#[test]
fn prompts_wait_for_each_other_and_can_be_withdrawn() {
    let mut wire = Wire::open();
    for text in ["one", "two", "three"] {
        wire.prompt(text);
    }
    let sent =
        |wire: &Wire| wire.agent.iter().filter(|message| message["method"] == "session/prompt").count();
    assert_eq!(sent(&wire), 1);
    let cancel = json!({"subtype": "cancel_async_message", "message_uuid": "u-two"});
    wire.host(&json!({"type": "control_request", "request_id": "c", "request": cancel}));
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(sent(&wire), 2);
    assert!(wire.agent.last().unwrap()["params"]["prompt"][0]["text"] == "three");
}

#[test]
fn files_and_commands_of_the_client_are_asked_about_unless_allowed_just_now() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.request(1, "fs/write_text_file", &json!({"path": "/home/ada/shop/a", "content": "new"}));
    assert_eq!(wire.permission().1["tool_name"], "Write");
    wire.decide(&json!({"behavior": "deny", "message": "Not there"}));
    assert_eq!(wire.response(1)["error"]["message"], "Not there");
    assert!(wire.other.is_empty(), "nothing was written");

    wire.request(
        2,
        "terminal/create",
        &json!({"command": "npm", "args": ["test", "a b"], "env": [{"name": "A", "value": "1"}]}),
    );
    assert_eq!(wire.permission().1["input"]["command"], "env A=1 npm test 'a b'");
    wire.decide(&json!({"behavior": "allow"}));
    assert!(matches!(wire.other.as_slice(), [Effect::Terminal(TerminalRequest::Create { .. })]));
    wire.other.clear();

    let diff = json!([{"type": "diff", "path": "/home/ada/shop/b", "oldText": "x", "newText": "y"}]);
    let call = json!({"toolCallId": "c1", "kind": "edit", "content": diff});
    wire.request(3, "session/request_permission", &json!({"toolCall": call, "options": options()}));
    wire.decide(&json!({"behavior": "allow"}));
    let asks = wire.host.iter().filter(|frame| frame["request"]["subtype"] == "can_use_tool").count();
    wire.request(4, "fs/write_text_file", &json!({"path": "/home/ada/shop/b", "content": "y"}));
    assert!(matches!(wire.other.as_slice(), [Effect::WriteFile(_)]), "the same text was allowed");
    wire.request(5, "fs/write_text_file", &json!({"path": "/home/ada/shop/b", "content": "y"}));
    let asked = wire.host.iter().filter(|frame| frame["request"]["subtype"] == "can_use_tool").count();
    assert_eq!(asked, asks + 1, "once");
}

/// Goose asks about a command, then runs it through the client with its session in the environment.
#[test]
fn an_allowed_command_is_not_asked_about_again_because_of_the_session_in_its_environment() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = json!({"toolCallId": "c1", "kind": "execute", "rawInput": {"command": "make test"}});
    wire.request(1, "session/request_permission", &json!({"toolCall": call, "options": options()}));
    wire.decide(&json!({"behavior": "allow"}));
    let run =
        |value: &str| json!({"command": "make test", "env": [{"name": "AGENT_SESSION_ID", "value": value}]});
    wire.request(2, "terminal/create", &run("own-1"));
    assert!(matches!(wire.other.as_slice(), [Effect::Terminal(TerminalRequest::Create { .. })]));
    wire.request(3, "terminal/create", &run("other"));
    assert_eq!(wire.permission().1["input"]["command"], "env AGENT_SESSION_ID=other make test");
}

#[test]
fn forms_are_questions_of_the_host() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    wire.request(
        9,
        "elicitation/create",
        &json!({"message": "Which?", "mode": "form", "requestedSchema": schema}),
    );
    let ask = wire.host.iter().find(|frame| frame["request"]["subtype"] == "elicitation").unwrap();
    assert_eq!(ask["request"]["requested_schema"], schema);
    let id = ask["request_id"].clone();
    let body = json!({"action": "accept", "content": {"name": "a"}});
    let response = json!({"subtype": "success", "request_id": id, "response": body});
    wire.host(&json!({"type": "control_response", "response": response}));
    assert_eq!(wire.response(9)["result"], json!({"action": "accept", "content": {"name": "a"}}));
}
