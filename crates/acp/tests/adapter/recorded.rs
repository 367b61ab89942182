//! Everything that the adapter writes, member by member: hosts and agents of other versions read it.

use serde_json::{Value, json};
use tidings_acp::adapter::{AdapterSettings, Effect, SOURCE};
use tidings_acp::rpc::Id;

use super::{Wire, described, options, settings};

/// `UPDATE_RECORDED=1` writes the lines again, after a change that is meant.
#[test]
fn every_message_has_the_members_that_were_recorded() {
    let mut lines = Vec::new();
    for wire in [start(), turn(), calls(), requests(), ends(), changes(), replay(), refused()] {
        lines.extend(wire.all);
    }
    for line in &mut lines {
        // The agent's own line, as it was sent to the adapter.
        if let Some(Value::Object(message)) = line.get_mut("host") {
            message.remove(SOURCE);
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/adapter.ndjson");
    if std::env::var_os("UPDATE_RECORDED").is_some() {
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        std::fs::write(path, text.join("\n") + "\n").unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    let recorded: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (number, (line, recorded)) in lines.iter().zip(&recorded).enumerate() {
        assert_eq!(line, recorded, "line {}", number + 1);
    }
    assert_eq!(lines.len(), recorded.len());
}

fn control(wire: &mut Wire, request: &Value) {
    wire.host(&json!({"type": "control_request", "request_id": "c", "request": request}));
}

fn choices() -> Value {
    let modes = json!([{"id": "plan", "name": "Plan"}, {"id": "build", "name": "Build"}]);
    let levels =
        json!([{"value": "low", "name": "Low"}, {"value": "high", "name": "High", "description": "Slow"}]);
    json!({"sessionId": "own-1", "modes": {"currentModeId": "build", "availableModes": modes},
           "models": {"currentModelId": "a", "availableModels": [
               {"modelId": "a", "name": "A", "description": "Small"}, {"modelId": "b"}]},
           "configOptions": [
               {"id": "effort", "name": "Effort", "category": "thought_level", "type": "select",
                "currentValue": "low", "options": levels},
               {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": false}]})
}

fn capable() -> Value {
    json!({"agentCapabilities": {
        "loadSession": true, "mcpCapabilities": {"http": true},
        "promptCapabilities": {"image": true, "embeddedContext": true},
        "sessionCapabilities": {"additionalDirectories": {}},
    }})
}

fn start() -> Wire {
    let mcp_servers = vec![
        ("box".to_owned(), json!({"command": "box", "args": ["-v"], "env": {"A": "1"}})),
        ("bare".to_owned(), json!({"type": "stdio", "command": "bare"})),
        ("web".to_owned(), json!({"type": "http", "url": "https://example.org", "headers": {"B": "2"}})),
        ("sse".to_owned(), json!({"type": "sse", "url": "https://example.org"})),
    ];
    let options = [("effort", "high"), ("fast", "true"), ("gone", "x")];
    let mut wire = Wire::new(AdapterSettings {
        folders: vec!["/home/ada/lib".to_owned()],
        mode: Some("plan".to_owned()),
        model: Some("b".to_owned()),
        options: options.map(|(id, value)| (id.to_owned(), value.to_owned())).into(),
        mcp_servers,
        authenticate: Some("api-key".to_owned()),
        version: "1.0".to_owned(),
        ..settings()
    });
    let initialize = json!({"subtype": "initialize", "appendSystemPrompt": "Be brief"});
    wire.host(&json!({"type": "control_request", "request_id": "h", "request": initialize}));
    wire.answer("initialize", &described(&capable()));
    wire.answer("authenticate", &json!({}));
    let commands =
        json!([{"name": "compact", "description": "Compact", "input": {"hint": "what"}}, {"name": "x"}]);
    let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
    wire.update(&update);
    wire.answer("session/new", &choices());
    wire.answer("session/set_mode", &json!({}));
    wire.answer("session/set_model", &json!({}));
    wire.answer("session/set_config_option", &json!({}));
    wire.refuse("session/set_config_option", &json!({"code": -32603, "message": "not today"}));
    wire.update(&update);
    wire
}

fn turn() -> Wire {
    let mut wire = Wire::open_with(settings(), &capable(), &json!({"sessionId": "own-1"}));
    let source = |kind: &str, media: &str| json!({"type": kind, "media_type": media, "data": "AA=="});
    let content = json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "source": source("base64", "image/png")},
        {"type": "document", "source": source("text", "text/plain"), "title": "my notes"},
        {"type": "document", "source": source("base64", "application/pdf"), "title": "a/b"},
        {"type": "document", "source": source("base64", "application/pdf")},
    ]);
    wire.host(&json!({"type": "user", "uuid": "u-1", "message": {"role": "user", "content": content}}));
    let thought = json!({"type": "text", "text": "Hm."});
    wire.update(&json!({"sessionUpdate": "agent_thought_chunk", "content": thought}));
    wire.text("Hel");
    wire.text("lo");
    let link = json!({"type": "resource_link", "name": "a", "uri": "file:///a"});
    wire.update(&json!({"sessionUpdate": "agent_message_chunk", "messageId": "m-2", "content": link}));
    let entries =
        json!([{"content": "Read", "status": "in_progress"}, {"content": "Write", "status": "pending"}]);
    wire.update(&json!({"sessionUpdate": "plan", "entries": entries}));
    wire.update(&json!({"sessionUpdate": "session_info_update", "title": "A title"}));
    wire.update(&json!({"sessionUpdate": "notice", "title": "Quota", "description": "low"}));
    wire.update(&json!({"sessionUpdate": "compaction_update", "status": "in_progress"}));
    wire.update(&json!({"sessionUpdate": "compaction_update", "status": "completed"}));
    wire.update(&json!({"sessionUpdate": "compaction_update", "status": "failed", "error": "no room"}));
    wire.update(&json!({"sessionUpdate": "usage_update", "cost": {"amount": 0.25, "currency": "USD"}}));
    wire.update(&json!({"sessionUpdate": "of_the_future"}));
    wire.agent(&json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {}}));
    wire.agent_line("not json");
    wire.text("Done");
    let usage = json!({"inputTokens": 0, "outputTokens": 5, "cachedReadTokens": 7});
    wire.answer("session/prompt", &json!({"stopReason": "max_tokens", "usage": usage}));
    // An agent that takes neither images nor resources.
    let mut plain =
        Wire::open_with(settings(), &json!({"agentCapabilities": {}}), &json!({"sessionId": "own-1"}));
    let image = json!({"type": "image", "source": source("base64", "image/png")});
    let notes = json!({"type": "document", "source": source("text", "text/plain"), "title": "notes"});
    let pdf = json!({"type": "document", "source": source("base64", "application/pdf")});
    let message = json!({"role": "user", "content": [image, notes, pdf]});
    plain.host(&json!({"type": "user", "message": message}));
    plain.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    wire.all.extend(plain.all);
    wire
}

fn calls() -> Wire {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let diff = |path: &str, old: &str, new: &str| json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    let text = |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
    let image =
        json!({"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "AA=="}});
    let link =
        json!({"type": "content", "content": {"type": "resource_link", "name": "a", "uri": "file:///a"}});
    let audio = json!({"type": "content", "content": {"type": "audio", "data": "AA=="}});
    let terminal = json!({"type": "terminal", "terminalId": "t"});
    let calls = [
        json!({"kind": "execute", "title": "List", "rawInput": {"command": ["bash", "-lc", "ls"]}, "content": [text("a b")]}),
        json!({"kind": "execute", "title": "ls", "rawInput": {"command": "ls"}, "rawOutput": "out"}),
        json!({"kind": "edit", "content": [diff("/a", "one", "two")], "rawOutput": {"output": "Edited"}}),
        json!({"kind": "edit", "content": [diff("/a", "one", "two"), diff("/a", "3", "4")]}),
        json!({"kind": "edit", "content": [diff("/a", "", "new")]}),
        json!({"kind": "edit", "rawInput": {"filePath": "/a", "oldString": "x", "newString": "y"}}),
        json!({"kind": "edit", "rawInput": {"path": "/a", "content": "all"}}),
        json!({"kind": "edit", "title": "Two", "content": [diff("/a", "1", "2"), diff("/b", "3", "4")]}),
        json!({"kind": "read", "rawInput": {"path": "/a", "line": 3, "limit": 9}, "content": [image, link]}),
        json!({"kind": "read", "locations": [{"path": "/b"}], "content": [audio, terminal]}),
        json!({"kind": "search", "rawInput": {"regex": "a+", "path": "/a"}, "rawOutput": {"other": 1}}),
        json!({"kind": "search", "rawInput": {"query": "b"}}),
        json!({"kind": "fetch", "title": "Page", "rawInput": {"url": "https://example.org"}}),
        json!({"kind": "think", "title": "T", "rawInput": 7, "locations": [{"path": "/a"}]}),
        json!({"kind": "other", "name": "own.tool", "title": "Own", "rawInput": {"a": 1}}),
    ];
    for (number, mut call) in calls.into_iter().enumerate() {
        call["toolCallId"] = json!(format!("c{number}"));
        call["sessionUpdate"] = json!("tool_call");
        call["status"] = json!("in_progress");
        wire.update(&call);
        let status = if number % 4 == 3 { "failed" } else { "completed" };
        wire.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": format!("c{number}"), "status": status}));
    }
    wire.update(
        &json!({"sessionUpdate": "tool_call", "toolCallId": "late", "title": "Late", "status": "pending"}),
    );
    wire.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    wire
}

fn requests() -> Wire {
    let mut wire = Wire::open();
    wire.prompt("hi");
    let call = |id: &str| json!({"toolCallId": id, "title": "Test", "kind": "execute", "rawInput": {"command": "npm test"}});
    let ask = |wire: &mut Wire, id: u64, options: &Value| {
        wire.request(id, "session/request_permission", &json!({"toolCall": call("c1"), "options": options}));
    };
    let only_always = json!([{"optionId": "always", "kind": "allow_always"}]);
    ask(&mut wire, 1, &options());
    wire.decide(&json!({"behavior": "allow"}));
    ask(&mut wire, 2, &options());
    wire.decide(&json!({"behavior": "deny", "message": "No"}));
    ask(&mut wire, 3, &only_always);
    wire.decide(&json!({"behavior": "allow"}));
    ask(&mut wire, 4, &json!([]));
    wire.decide(&json!({"behavior": "allow", "updatedInput": {"command": "rm"}}));
    wire.request(5, "fs/write_text_file", &json!({"path": "/home/ada/shop/a", "content": "new"}));
    wire.decide(&json!({"behavior": "deny", "message": ""}));
    wire.request(6, "terminal/create", &json!({"command": "ls", "cwd": "/tmp"}));
    wire.decide(&json!({"behavior": "allow"}));
    let id = Id::of_text("6");
    wire.adapter.answer(&id, &Ok(json!({"terminalId": "terminal-1"})));
    wire.collect();
    wire.request(7, "fs/write_text_file", &json!({"path": "/home/ada/shop/b", "content": "new"}));
    wire.decide(&json!({"behavior": "allow"}));
    let Some(Effect::WriteFile(request)) = wire.other.pop() else { panic!("no write") };
    wire.adapter.answer(&request.id, &Ok(json!({})));
    wire.collect();
    wire.request(8, "fs/read_text_file", &json!({"path": "/home/ada/shop/b"}));
    wire.request(9, "fs/unknown", &json!({}));
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let forms = [
        json!({"message": "Which?", "mode": "form", "requestedSchema": schema}),
        json!({"message": "Log in", "mode": "url", "url": "https://example.org", "elicitationId": "e"}),
        json!({}),
    ];
    let answers =
        [json!({"action": "accept", "content": {"name": "a"}}), json!({"action": "decline"}), json!({})];
    for (number, (form, answer)) in (10..).zip(forms.iter().zip(answers)) {
        wire.request(number, "elicitation/create", form);
        let id = wire.host.last().unwrap()["request_id"].clone();
        let response = json!({"subtype": "success", "request_id": id, "response": answer});
        wire.host(&json!({"type": "control_response", "response": response}));
    }
    ask(&mut wire, 20, &options());
    wire.agent(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 20}}));
    ask(&mut wire, 21, &options());
    wire.request(22, "elicitation/create", &forms[0]);
    wire.request(23, "terminal/create", &json!({"command": "ls"}));
    control(&mut wire, &json!({"subtype": "interrupt"}));
    ask(&mut wire, 24, &options());
    wire.request(25, "elicitation/create", &forms[0]);
    wire.answer("session/prompt", &json!({"stopReason": "cancelled"}));
    wire
}

fn ends() -> Wire {
    let mut wire = Wire::open();
    wire.prompt("one");
    wire.answer("session/prompt", &json!({"stopReason": "max_turn_requests"}));
    wire.prompt("two");
    let data = json!({"details": "no network"});
    wire.refuse("session/prompt", &json!({"code": -32603, "message": "Internal error", "data": data}));
    wire.prompt("three");
    wire.prompt("four");
    control(&mut wire, &json!({"subtype": "cancel_async_message", "message_uuid": "u-four"}));
    control(&mut wire, &json!({"subtype": "cancel_async_message", "message_uuid": "u-five"}));
    wire.adapter.agent_ended("by signal 9", 137);
    wire.collect();
    wire
}

fn changes() -> Wire {
    let mut wire = Wire::open_with(settings(), &json!({}), &choices());
    let option = |id: &str, value: &str| json!({"subtype": "apply_flag_settings", "settings": {"configOptions": {id: value}}});
    let requests = [
        (json!({"subtype": "set_permission_mode", "mode": "plan"}), "session/set_mode"),
        (json!({"subtype": "set_model", "model": "b"}), "session/set_model"),
        (option("effort", "high"), "session/set_config_option"),
        (option("fast", "true"), "session/set_config_option"),
    ];
    for (request, method) in &requests {
        control(&mut wire, request);
        wire.answer(method, &json!({}));
    }
    control(&mut wire, &requests[0].0);
    wire.refuse("session/set_mode", &json!({"code": -32603, "message": "not today"}));
    for request in [
        json!({"subtype": "list_models"}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "initialize"}),
        json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}),
        json!({"subtype": "set_model", "model": "c"}),
        json!({"subtype": "set_model"}),
        json!({"subtype": "apply_flag_settings", "settings": {"model": "a"}}),
        json!({"subtype": "rewind_files", "user_message_id": "u"}),
        json!({"subtype": "of_the_future"}),
    ] {
        control(&mut wire, &request);
    }
    wire.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "build"}));
    let mut update = choices();
    update["sessionUpdate"] = json!("config_option_update");
    wire.update(&update);
    control(&mut wire, &json!({"subtype": "end_session"}));
    // Modes and models as options.
    let as_options = json!({"sessionId": "own-1", "configOptions": [
        {"id": "m", "category": "mode", "type": "select", "currentValue": "build", "options": [{"value": "build"}, {"value": "plan"}]},
        {"id": "n", "category": "model", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]},
    ]});
    let mut other = Wire::open_with(settings(), &json!({}), &as_options);
    for request in [&requests[0].0, &json!({"subtype": "set_model", "model": "a"})] {
        control(&mut other, request);
        other.answer("session/set_config_option", &json!({}));
    }
    wire.all.extend(other.all);
    wire
}

fn replay() -> Wire {
    let resume = AdapterSettings { resume: Some("own-1".to_owned()), replay: true, ..settings() };
    let mut wire = Wire::new(resume.clone());
    wire.answer("initialize", &described(&json!({})));
    let prompt = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "First"}});
    wire.update(&prompt);
    wire.text("One.");
    wire.answer("session/load", &json!({}));
    let resumes = json!({"agentCapabilities": {"sessionCapabilities": {"resume": {}}}});
    let mut other = Wire::new(AdapterSettings { replay: false, ..resume.clone() });
    other.answer("initialize", &described(&resumes));
    wire.all.extend(other.all);
    let mut other = Wire::new(AdapterSettings { replay: false, partial_messages: false, ..resume });
    other.answer("initialize", &described(&json!({"agentCapabilities": {}})));
    other.answer("session/new", &json!({"sessionId": "own-2"}));
    other.prompt("hi");
    other.text("Hello");
    other.answer("session/prompt", &json!({"stopReason": "end_turn"}));
    wire.all.extend(other.all);
    wire
}

fn refused() -> Wire {
    let mut wire = Wire::new(settings());
    control(&mut wire, &json!({"subtype": "initialize"}));
    wire.answer("initialize", &described(&json!({})));
    wire.refuse("session/new", &json!({"code": -32000, "message": "Authentication required"}));
    wire
}
