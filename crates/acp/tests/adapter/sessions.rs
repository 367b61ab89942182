//! The start of sessions, their settings, and their end.

use serde_json::{Value, json};
use tidings_acp::adapter::{AdapterSettings, Effect};

use super::{Wire, described, settings};

fn handshake(wire: &mut Wire) {
    wire.host(&json!({"type": "control_request", "request_id": "h", "request": {"subtype": "initialize"}}));
}

fn error(wire: &Wire) -> &str {
    let response = wire.host.iter().find(|frame| frame["type"] == "control_response").unwrap();
    assert_eq!(response["response"]["subtype"], "error", "{response}");
    response["response"]["error"].as_str().unwrap()
}

fn modes() -> Value {
    let ids = ["plan", "build", "yolo"];
    let all: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": id})).collect();
    json!({"sessionId": "own-1", "modes": {"currentModeId": "yolo", "availableModes": all},
           "configOptions": [{"id": "m", "category": "model", "type": "select", "currentValue": "a",
                              "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}]})
}

#[test]
fn an_agent_that_needs_a_login_says_how() {
    let mut wire = Wire::new(settings());
    handshake(&mut wire);
    let methods = json!([{"id": "api-key", "name": "API key", "description": "Set SAMPLE_KEY"}]);
    wire.answer("initialize", &described(&json!({"authMethods": methods})));
    wire.refuse("session/new", &json!({"code": -32000, "message": "Authentication required"}));
    let error = error(&wire);
    assert!(error.contains("sample") && error.contains("`api-key` (API key: Set SAMPLE_KEY)"), "{error}");
    assert!(matches!(wire.other.as_slice(), [Effect::Exit(1)]));
}

#[test]
fn a_configured_method_logs_in_before_the_session() {
    let mut wire = Wire::new(AdapterSettings { authenticate: Some("api-key".to_owned()), ..settings() });
    wire.answer("initialize", &described(&json!({})));
    wire.answer("authenticate", &json!({}));
    wire.answer("session/new", &json!({"sessionId": "own-1"}));
    handshake(&mut wire);
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "success");
}

/// An agent may begin in a mode that asks for nothing.
#[test]
fn the_mode_of_the_host_is_set_before_the_first_prompt() {
    let wanted = AdapterSettings { mode: Some("default".to_owned()), ..settings() };
    let mut wire = Wire::open_with(wanted, &json!({}), &modes());
    let set = wire.agent.iter().find(|message| message["method"] == "session/set_mode").unwrap();
    assert_eq!(set["params"]["modeId"], "build");
    wire.prompt("hi");
    assert!(!wire.agent.iter().any(|message| message["method"] == "session/prompt"), "not before the answer");
    wire.answer("session/set_mode", &json!({}));
    assert!(wire.agent.iter().any(|message| message["method"] == "session/prompt"));
    let init = wire.host.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!((&init["permissionMode"], &init["model"]), (&json!("default"), &json!("a")));
}

#[test]
fn a_mode_that_fits_none_of_the_agent_is_refused() {
    let wanted = AdapterSettings { mode: Some("acceptEdits".to_owned()), ..settings() };
    let mut wire = Wire::new(wanted);
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    wire.answer("session/new", &modes());
    assert!(error(&wire).contains("plan, build, yolo"));

    // One that always asks for nothing is refused, too.
    let mut wire = Wire::new(AdapterSettings { mode: Some("default".to_owned()), ..settings() });
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    let only = json!({"currentModeId": "yolo", "availableModes": [{"id": "yolo"}]});
    wire.answer("session/new", &json!({"sessionId": "own-1", "modes": only}));
    assert!(error(&wire).contains("asks for nothing"));
}

/// The mode that an agent claims does not let it write unasked.
#[test]
fn an_agent_cannot_give_itself_a_mode() {
    let mut wire = Wire::open_with(settings(), &json!({}), &modes());
    wire.prompt("hi");
    wire.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}));
    wire.request(1, "terminal/create", &json!({"command": "ls"}));
    wire.request(2, "fs/write_text_file", &json!({"path": "/home/ada/shop/a", "content": ""}));
    assert!(wire.other.is_empty(), "both are asked about");
    let set = json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"});
    wire.host(&json!({"type": "control_request", "request_id": "m", "request": set}));
    wire.answer("session/set_mode", &json!({}));
    wire.request(3, "terminal/create", &json!({"command": "ls"}));
    assert!(matches!(wire.other.as_slice(), [Effect::Terminal(_)]), "the host has set it");
}

#[test]
fn models_are_set_by_the_option_of_the_agent() {
    let mut wire = Wire::open_with(settings(), &json!({}), &modes());
    let set = json!({"subtype": "set_model", "model": "b"});
    wire.host(&json!({"type": "control_request", "request_id": "m", "request": set}));
    let request = wire.agent.last().unwrap();
    assert_eq!(request["params"], json!({"sessionId": "own-1", "configId": "m", "value": "b"}));
    wire.answer("session/set_config_option", &json!({"configOptions": []}));
    let answered = wire.host.iter().find(|frame| frame["type"] == "control_response").unwrap();
    assert_eq!(answered["response"]["response"]["model"], "b");
    let unknown = json!({"subtype": "set_model", "model": "c"});
    wire.host(&json!({"type": "control_request", "request_id": "n", "request": unknown}));
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "error");
}

fn with_effort(value: &str) -> Value {
    let levels: Vec<Value> = ["low", "high"].iter().map(|id| json!({"value": id, "name": id})).collect();
    json!({"sessionId": "own-1", "configOptions": [
        {"id": "effort", "name": "Effort", "category": "thought_level", "type": "select",
         "currentValue": value, "options": levels},
    ]})
}

fn control(wire: &mut Wire, request: &Value) {
    wire.host(&json!({"type": "control_request", "request_id": "c", "request": request}));
}

fn listed(wire: &mut Wire) -> Value {
    control(wire, &json!({"subtype": "list_models"}));
    wire.host.last().unwrap()["response"]["response"].clone()
}

#[test]
fn options_are_listed_as_they_are_now_and_set_by_the_settings_of_the_host() {
    let mut wire = Wire::open_with(settings(), &json!({}), &with_effort("low"));
    let all = listed(&mut wire);
    assert_eq!((&all["options"][0]["id"], &all["options"][0]["value"]), (&json!("effort"), &json!("low")));
    assert_eq!((&all["models"], &all["modes"]), (&json!([]), &json!([])));
    let set = |value: &str| json!({"subtype": "apply_flag_settings", "settings": {"configOptions": {"effort": value}}});
    control(&mut wire, &set("high"));
    let params = &wire.agent.last().unwrap()["params"];
    assert_eq!(*params, json!({"sessionId": "own-1", "configId": "effort", "value": "high"}));
    // An agent may answer without the options.
    wire.answer("session/set_config_option", &json!({}));
    assert!(wire.host.iter().any(|frame| frame["response"]["response"]["option"] == "effort"));
    assert_eq!(listed(&mut wire)["options"][0]["value"], "high");

    // The agent changes it by itself.
    let mut update = with_effort("low");
    update["sessionUpdate"] = json!("config_option_update");
    wire.update(&update);
    let status = wire.host.iter().rfind(|frame| frame["subtype"] == "status").unwrap();
    assert_eq!(status["configOptions"], json!({"effort": "low"}));
    assert_eq!(listed(&mut wire)["options"][0]["value"], "low");

    for (wrong, why) in [
        (set("huge"), "its values are: low, high"),
        (json!({"subtype": "apply_flag_settings", "settings": {"configOptions": {"sand": "off"}}}), "effort"),
        (json!({"subtype": "apply_flag_settings", "settings": {"model": "a"}}), "one option"),
    ] {
        control(&mut wire, &wrong);
        let refused = &wire.host.last().unwrap()["response"];
        assert_eq!(refused["subtype"], "error", "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
    }
}

#[test]
fn options_of_an_earlier_run_are_set_before_the_first_prompt_and_none_that_asks_for_nothing() {
    let options = [("effort", "high"), ("gone", "x"), ("sandbox", "yolo")];
    let options = options.map(|(id, value)| (id.to_owned(), value.to_owned())).into();
    let mut session = with_effort("low");
    let sandbox = json!({"id": "sandbox", "name": "Sandbox", "type": "select", "currentValue": "on",
                         "options": [{"value": "on", "name": "On"}, {"value": "yolo", "name": "Off"}]});
    session["configOptions"].as_array_mut().unwrap().push(sandbox);
    let mut wire = Wire::open_with(AdapterSettings { options, ..settings() }, &json!({}), &session);
    wire.prompt("hi");
    assert!(!wire.agent.iter().any(|message| message["method"] == "session/prompt"), "not before the answer");
    wire.refuse("session/set_config_option", &json!({"code": -32603, "message": "not today"}));
    let notes: Vec<&str> = wire.host.iter().filter_map(|frame| frame["content"].as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("not today")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("no option `gone`")), "{notes:?}");
    let set = wire.agent.iter().filter(|message| message["method"] == "session/set_config_option");
    assert_eq!(set.count(), 1, "the sandbox stays on");
    assert!(wire.agent.iter().any(|message| message["method"] == "session/prompt"), "it begins all the same");
}

#[test]
fn a_session_continues_without_the_conversation_that_the_host_has_seen() {
    let resume = AdapterSettings { resume: Some("own-1".to_owned()), ..settings() };
    let mut wire = Wire::new(resume.clone());
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    wire.text("Old text");
    wire.answer("session/load", &json!({}));
    assert!(wire.blocks("text").is_empty());
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "success");

    // One that the host has not seen is replayed.
    let mut wire = Wire::new(AdapterSettings { replay: true, ..resume.clone() });
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    let prompt = |text: &str| json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}});
    wire.update(&prompt("First"));
    wire.text("One.");
    wire.update(&prompt("Sec"));
    wire.update(&prompt("ond"));
    wire.text("Two.");
    wire.answer("session/load", &json!({}));
    let prompts: Vec<&Value> = wire
        .host
        .iter()
        .filter(|frame| frame["type"] == "user")
        .map(|frame| &frame["message"]["content"])
        .collect();
    assert_eq!(prompts, ["First", "Second"]);
    let texts: Vec<&Value> = wire.blocks("text").into_iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["One.", "Two."]);
    assert_eq!(wire.host.iter().filter(|frame| frame["type"] == "result").count(), 2);

    // An agent that cannot continue says so.
    let mut wire = Wire::new(resume);
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({"agentCapabilities": {}})));
    wire.answer("session/new", &json!({"sessionId": "own-2"}));
    assert!(wire.host.iter().any(|frame| frame["subtype"] == "informational"));
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "success");
}

/// The host passes the model of the last run, which for an agent without models is the agent's own name.
#[test]
fn a_session_continues_although_its_model_or_its_past_is_gone() {
    let resume = AdapterSettings { resume: Some("own-1".to_owned()), ..settings() };
    let mut wire = Wire::new(AdapterSettings { model: Some("sample 1.0".to_owned()), ..resume.clone() });
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    wire.answer("session/load", &json!({}));
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "success");

    let mut wire = Wire::new(resume);
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    let data = json!({"details": "no such file"});
    wire.refuse("session/load", &json!({"code": -32603, "message": "Internal error", "data": data}));
    wire.answer("session/new", &json!({"sessionId": "own-2"}));
    let note = wire.host.iter().find(|frame| frame["subtype"] == "informational").unwrap();
    assert!(note["content"].as_str().unwrap().contains("no such file"), "{note}");
    assert_eq!(wire.host.last().unwrap()["response"]["subtype"], "success");

    // A new session with a model that the agent does not have is refused.
    let mut wire = Wire::new(AdapterSettings { model: Some("other".to_owned()), ..settings() });
    handshake(&mut wire);
    wire.answer("initialize", &described(&json!({})));
    wire.answer("session/new", &modes());
    assert!(error(&wire).contains("its models are: a, b"));
}

#[test]
fn mcp_servers_are_passed_on_as_far_as_the_agent_takes_them() {
    let server = |config: Value| config;
    let mcp_servers = vec![
        ("box".to_owned(), server(json!({"command": "box", "args": ["-v"], "env": {"A": "1"}}))),
        ("web".to_owned(), server(json!({"type": "http", "url": "https://example.org"}))),
    ];
    let mut wire = Wire::new(AdapterSettings { mcp_servers, ..settings() });
    wire.answer("initialize", &described(&json!({})));
    let sent = wire.agent.last().unwrap()["params"]["mcpServers"].clone();
    let env = json!([{"name": "A", "value": "1"}]);
    assert_eq!(sent, json!([{"name": "box", "command": "box", "args": ["-v"], "env": env}]));
    assert!(wire.host.iter().any(|frame| frame["content"].as_str().is_some_and(|text| text.contains("web"))));
}

#[test]
fn the_end_of_an_agent_ends_its_turn_with_the_reason() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.text("Half");
    wire.adapter.agent_ended("by signal 9", 137);
    wire.collect();
    let result = wire.result();
    assert_eq!(result["is_error"], true);
    assert_eq!(result["errors"], json!(["sample ended by signal 9"]));
    assert!(matches!(wire.other.as_slice(), [Effect::Exit(137)]));
}

#[test]
fn an_agent_that_leaves_in_the_middle_of_a_turn_has_failed_although_it_says_success() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.adapter.agent_ended("with exit code 0", 0);
    wire.collect();
    assert!(matches!(wire.other.as_slice(), [Effect::Exit(1)]));
    let mut wire = Wire::open();
    wire.adapter.agent_ended("with exit code 0", 0);
    wire.collect();
    assert!(matches!(wire.other.as_slice(), [Effect::Exit(0)]), "between two turns it may leave");
}

#[test]
fn a_host_that_leaves_lets_the_turn_end() {
    let mut wire = Wire::open();
    wire.prompt("hi");
    wire.adapter.host_ended();
    wire.collect();
    assert!(wire.other.is_empty());
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert!(matches!(wire.other.as_slice(), [Effect::Exit(0)]));
}

#[test]
fn commands_and_costs_are_reported() {
    let mut wire = Wire::open();
    let commands = json!([{"name": "compact", "description": "Compact", "input": {"hint": "what"}}]);
    wire.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}));
    let changed = wire.host.iter().find(|frame| frame["subtype"] == "commands_changed").unwrap();
    assert_eq!(changed["commands"][0]["argumentHint"], "what");
    wire.prompt("hi");
    wire.update(&json!({"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": {"amount": 0.25, "currency": "USD"}}));
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    assert_eq!(wire.result()["total_cost_usd"], 0.25);
}
