//! Events as updates, requests and answers, and prompts with their turns.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tidings_acp::agent::{
    AgentCall, ClientFeatures, EditorAnswer, OpenPrompts, PendingRequest, PromptEnd, SessionState, Translator,
};
use tidings_api::{Choice, PermissionScope};
use tidings_protocol::ui::UiMessage;

fn event(json: Value) -> UiMessage {
    serde_json::from_value(json).unwrap()
}

fn translator(features: ClientFeatures) -> Translator {
    Translator::new("s", "/home", features, SessionState::default())
}

/// The updates of some events, without their cursors.
fn updates(translator: &mut Translator, events: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for (at, json) in events.iter().enumerate() {
        for line in translator.translate(&event(json.clone()), &format!("e:{at}"), at as u64) {
            let mut message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["method"], "session/update");
            assert_eq!(message["params"]["sessionId"], "s");
            assert_eq!(message["params"]["_meta"]["tidings"]["cursor"], format!("e:{at}"));
            all.push(message["params"]["update"].take());
        }
    }
    all
}

fn kinds(updates: &[Value]) -> Vec<&str> {
    updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect()
}

fn turn(role: &str, sequence: u64) -> Value {
    json!({"role": role, "sequence": sequence})
}

#[test]
fn deltas_of_one_text_share_a_message_and_a_tool_ends_it() {
    let mut translator = translator(ClientFeatures::default());
    let text =
        |text: &str| json!({"TextChunk": {"text": text, "session_id": 1, "turn_id": turn("Assistant", 1)}});
    let updates = updates(
        &mut translator,
        &[
            json!({"Thinking": {"text": "hm", "session_id": 1, "turn_id": turn("Assistant", 1)}}),
            text("Hel"),
            text("lo"),
            json!({"ToolExecuting": {"tool_use_id": "t", "tool_name": "Read", "input": {"file_path": "/a", "offset": 3}, "session_id": 1}}),
            json!({"ToolCompleted": {"tool_use_id": "t", "result": "1 a", "session_id": 1}}),
            text("Done"),
        ],
    );
    assert_eq!(
        kinds(&updates),
        [
            "agent_thought_chunk",
            "agent_message_chunk",
            "agent_message_chunk",
            "tool_call",
            "tool_call_update",
            "tool_call_update",
            "agent_message_chunk"
        ]
    );
    assert_eq!(updates[1]["messageId"], updates[2]["messageId"]);
    assert_ne!(updates[1]["messageId"], updates[6]["messageId"]);
    assert_eq!(updates[3]["kind"], "read");
    assert_eq!(updates[4]["locations"], json!([{"path": "/a", "line": 3}]));
    assert_eq!(updates[4]["status"], "in_progress");
    assert_eq!(updates[5]["status"], "completed");
    assert_eq!(updates[5]["content"][0]["content"]["text"], "1 a");
}

#[test]
fn output_of_commands_is_a_terminal_where_the_editor_shows_one() {
    let features = ClientFeatures { terminal_output: true, ..ClientFeatures::default() };
    let mut translator = translator(features);
    let updates = updates(
        &mut translator,
        &[
            json!({"ToolExecuting": {"tool_use_id": "t", "tool_name": "Bash", "input": {"command": "ls"}, "session_id": 1}}),
            json!({"ToolDetails": {"session_id": 1, "tool_use_id": "t", "is_error": true}}),
            json!({"ToolCompleted": {"tool_use_id": "t", "result": "no\n", "session_id": 1}}),
        ],
    );
    assert_eq!(updates[1]["content"], json!([{"type": "terminal", "terminalId": "t"}]));
    assert_eq!(updates[1]["_meta"]["terminal_info"], json!({"terminal_id": "t", "cwd": "/home"}));
    assert_eq!(updates[2]["status"], "failed");
    assert_eq!(updates[2]["_meta"]["terminal_output"]["data"], "no\n");
    assert_eq!(updates[2]["_meta"]["terminal_exit"]["exit_code"], 1);
}

#[test]
fn sub_agents_show_their_calls_and_keep_their_text() {
    let mut translator = translator(ClientFeatures::default());
    let lane = |event: Value| json!({"Lane": {"session_id": 1, "agent_id": "a", "event": event}});
    let updates = updates(
        &mut translator,
        &[
            json!({"ToolExecuting": {"tool_use_id": "a", "tool_name": "Task", "input": {"description": "look", "prompt": "p"}, "session_id": 1}}),
            lane(json!({"TextChunk": {"text": "x", "session_id": 1, "turn_id": turn("Assistant", 1)}})),
            lane(
                json!({"ToolExecuting": {"tool_use_id": "b", "tool_name": "Grep", "input": {"pattern": "x"}, "session_id": 1}}),
            ),
            json!({"SubAgentEnded": {"session_id": 1, "agent_id": "a", "outcome": "Completed", "summary": "found"}}),
        ],
    );
    assert_eq!(
        kinds(&updates),
        ["tool_call", "tool_call_update", "tool_call", "tool_call_update", "tool_call_update"]
    );
    assert_eq!(updates[2]["_meta"]["tidings"]["parentToolCallId"], "a");
    assert_eq!(updates[4]["content"][0]["content"]["text"], "found");
}

#[test]
fn lists_settings_and_costs_have_updates_of_their_own() {
    let features = ClientFeatures { notices: true, compaction: true, ..ClientFeatures::default() };
    let mut translator = translator(features);
    let updates = updates(
        &mut translator,
        &[
            json!({"SessionStarted": {"session_id": 1, "cli_session_id": "c", "model": "m", "permission_mode": "plan", "slash_commands": ["review"]}}),
            json!({"TodoList": {"session_id": 1, "items": [{"content": "one", "status": "InProgress"}, {"content": "two", "status": "Cancelled"}]}}),
            json!({"SessionTitle": {"session_id": 1, "title": "Name"}}),
            json!({"SessionStateChanged": {"session_id": 1, "state": "Compacting"}}),
            json!({"Compacted": {"session_id": 1, "tokens_after": 10}}),
            json!({"Error": {"message": "no", "session_id": 1}}),
            json!({"TokenUpdate": {"session_id": 1, "input_tokens": 3, "output_tokens": 4}}),
            json!({"TurnResult": {"session_id": 1, "turn_id": turn("Assistant", 1), "subtype": "success", "is_error": false, "cost_usd": 0.5,
                "usage": {"input_tokens": 3, "output_tokens": 4}, "model_usage": {"m": {"contextWindow": 200_000}}}}),
        ],
    );
    assert_eq!(
        kinds(&updates),
        [
            "current_mode_update",
            "config_option_update",
            "available_commands_update",
            "plan",
            "session_info_update",
            "compaction_update",
            "compaction_update",
            "notice",
            "usage_update"
        ]
    );
    assert_eq!(
        updates[3]["entries"],
        json!([{"content": "one", "priority": "medium", "status": "in_progress"}])
    );
    assert_eq!(updates[5]["compactionId"], updates[6]["compactionId"]);
    assert_eq!(
        updates[8],
        json!({"sessionUpdate": "usage_update", "used": 7, "size": 200_000, "cost": {"amount": 0.5, "currency": "USD"}})
    );
}

/// The usage of a turn is the sum of its requests, each of which repeats the context.
#[test]
fn r9_the_context_in_use_is_that_of_the_last_request() {
    let mut translator = translator(ClientFeatures::default());
    let started = |turn_number: u64| json!({"TurnStarted": {"session_id": 1, "turn_id": turn("Assistant", turn_number)}});
    let tokens = |input: u64, output: u64| json!({"TokenUpdate": {"session_id": 1, "input_tokens": input, "output_tokens": output}});
    let result = |input: u64, output: u64| {
        json!({"TurnResult": {"session_id": 1, "turn_id": turn("Assistant", 1), "subtype": "success", "is_error": false,
            "usage": {"input_tokens": input, "output_tokens": output}, "model_usage": {"m": {"contextWindow": 200_000}}}})
    };
    let mut used = |events: &[Value]| {
        let updates = updates(&mut translator, events);
        updates.iter().map(|update| update["used"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    // Two requests: 11,600 tokens with an answer of 50, then 11,660 with one of 40.
    let turn_of_two = [
        started(1),
        tokens(11_600, 1),
        tokens(11_600, 50),
        tokens(11_660, 51),
        tokens(11_660, 90),
        result(23_260, 90),
    ];
    assert_eq!(used(&turn_of_two), [11_700]);
    assert_eq!(
        used(&[started(2), tokens(11_720, 1), tokens(11_720, 30), result(11_720, 30)]),
        [11_721, 11_750, 11_750]
    );
    // A turn that was interrupted before its first request has no usage.
    assert_eq!(used(&[started(3), result(0, 0)]), [11_750]);
}

#[test]
fn r12_a_cancelled_turn_adds_no_text() {
    let mut translator = translator(ClientFeatures::default());
    let error = |message: &str| json!({"Error": {"message": message, "session_id": 1}});
    let updates = updates(&mut translator, &[error("The turn was interrupted"), error("The disk is full")]);
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert_eq!(updates[0]["content"]["text"], "Error: The disk is full\n");
}

#[test]
fn r12_images_of_a_prompt_are_chunks_of_its_message() {
    let translator = translator(ClientFeatures::default());
    let prompt = json!({"session_id": 1, "text": "look", "uuid": "u", "attachments": ["image", "document", "document"]});
    let attachments = json!([
        {"media_type": "image/png", "data": "AAAA"},
        {"media_type": "application/pdf", "data": "BBBB", "name": "a.pdf"},
    ]);
    let attachments: Vec<_> = serde_json::from_value(attachments).unwrap();
    let lines = translator.attachments(&serde_json::from_value(prompt).unwrap(), &attachments, "e:1");
    let updates: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["params"]["update"].take())
        .collect();
    assert_eq!(kinds(&updates), ["user_message_chunk"; 3]);
    assert!(updates.iter().all(|update| update["messageId"] == "u"));
    assert_eq!(updates[0]["content"], json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}));
    assert_eq!(
        updates[1]["content"]["resource"],
        json!({"uri": "a.pdf", "mimeType": "application/pdf", "blob": "BBBB"})
    );
    assert_eq!(updates[2]["content"]["text"], "[document]", "it is not kept any more");
}

#[test]
fn r12_options_of_the_agent_are_published_and_follow_its_changes() {
    let effort = json!({"id": "effort", "name": "Effort", "category": "thought_level", "value": "medium",
        "values": [{"value": "low", "name": "low"}, {"value": "medium", "name": "medium"}], "scope": "prompt"});
    let state =
        SessionState { options: vec![serde_json::from_value(effort).unwrap()], ..SessionState::default() };
    let mut translator = Translator::new("s", "/home", ClientFeatures::default(), state);
    let changed = json!({"SettingsChanged": {"session_id": 1, "options": {"effort": "low", "unknown": "x"}}});
    let updates = updates(&mut translator, &[changed.clone(), changed]);
    assert_eq!(kinds(&updates), ["config_option_update"], "the second one changes nothing");
    let options = updates[0]["configOptions"].as_array().unwrap();
    let effort = options.iter().find(|option| option["id"] == "effort").unwrap();
    assert_eq!((&effort["category"], &effort["currentValue"]), (&json!("thought_level"), &json!("low")));
}

#[test]
fn prompts_of_others_are_shown_and_own_ones_are_not() {
    let mut translator = translator(ClientFeatures::default());
    translator.note_own_prompt("mine");
    let prompt = |uuid: &str| json!({"UserPrompt": {"session_id": 1, "text": uuid, "uuid": uuid}});
    let updates = updates(&mut translator, &[prompt("mine"), prompt("theirs")]);
    assert_eq!(kinds(&updates), ["user_message_chunk"]);
    assert_eq!(updates[0]["content"]["text"], "theirs");
}

fn permission() -> PendingRequest {
    let details = json!({
        "session_id": 1, "tool_use_id": "t", "tool_name": "Bash", "input": {"command": "make"}, "risk": "LOW", "digest": "d",
        "suggestions": [{"type": "addRules", "behavior": "allow", "destination": "localSettings", "rules": [{"toolName": "Bash", "ruleContent": "make:*"}]}],
    });
    PendingRequest::Permission(Box::new(serde_json::from_value(details).unwrap()))
}

fn answer(ask: &PendingRequest, method: &str, result: &Value) -> EditorAnswer {
    ask.answer(method, &Ok(serde_json::value::to_raw_value(result).unwrap()))
}

#[test]
fn permission_options_have_the_kinds_of_the_protocol() {
    let kinds = |may_always| -> Vec<(String, String)> {
        let asked = permission().to_editor("s", &ClientFeatures::default(), may_always).unwrap();
        assert_eq!(asked.method, "session/request_permission");
        assert_eq!(asked.params["toolCall"]["title"], "`make`");
        let options = asked.params["options"].as_array().unwrap().iter();
        options
            .map(|one| (one["name"].as_str().unwrap().to_owned(), one["kind"].as_str().unwrap().to_owned()))
            .collect()
    };
    let pairs = |wanted: &[(&str, &str)]| -> Vec<(String, String)> {
        wanted.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
    };
    assert_eq!(kinds(false), pairs(&[("Allow", "allow_once"), ("Reject", "reject_once")]));
    assert_eq!(
        kinds(true),
        pairs(&[
            ("Allow", "allow_once"),
            ("Allow for this session", "allow_always"),
            ("Always allow Bash(make:*)", "allow_always"),
            ("Reject", "reject_once"),
        ])
    );
}

#[test]
fn only_an_offered_approval_is_an_approval() {
    let method = "session/request_permission";
    let decision = |outcome: Value| match answer(&permission(), method, &json!({"outcome": outcome})) {
        EditorAnswer::Permission(answer) => (answer.decision, answer.scope, answer.interrupt),
        other => panic!("{other:?}"),
    };
    let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
    assert_eq!(decision(selected("allow_once")), (Choice::Allow, PermissionScope::Once, false));
    assert_eq!(decision(selected("allow_session")), (Choice::Allow, PermissionScope::Session, false));
    assert_eq!(decision(selected("allow_always")), (Choice::Allow, PermissionScope::Always, false));
    assert_eq!(decision(selected("reject_once")), (Choice::Deny, PermissionScope::Once, false));
    assert_eq!(decision(selected("allow everything")), (Choice::Deny, PermissionScope::Once, false));
    assert_eq!(decision(json!({"outcome": "cancelled"})), (Choice::Deny, PermissionScope::Once, true));
    assert_eq!(answer(&permission(), method, &json!({"outcome": "yes"})), EditorAnswer::None);
    assert_eq!(answer(&permission(), method, &json!(null)), EditorAnswer::None);
}

fn questions(kind: &str, types: &[&str]) -> PendingRequest {
    let questions: Vec<Value> = types
        .iter()
        .enumerate()
        .map(|(at, kind)| json!({"id": format!("q{at}"), "text": "Which?", "question_type": kind, "options": ["A", "B"], "required": true}))
        .collect();
    PendingRequest::Question {
        request: serde_json::from_value(json!({"questions": questions})).unwrap(),
        details: serde_json::from_value(json!({"session_id": 1, "tool_use_id": "t", "kind": kind})).unwrap(),
        plan: None,
    }
}

#[test]
fn mcp_servers_of_an_editor_have_the_format_of_the_cli() {
    let pair = json!([{"name": "A", "value": "1"}]);
    let servers = json!([
        {"name": "box", "command": "/bin/box", "args": ["-v"], "env": pair},
        {"name": "bare", "command": "bare", "args": [], "env": []},
        {"type": "http", "name": "web", "url": "https://a", "headers": pair},
        {"type": "sse", "name": "events", "url": "https://b", "headers": []},
    ]);
    let config = |servers: &Value| {
        let params = json!({"cwd": "/home", "mcpServers": servers}).to_string();
        match AgentCall::read("session/new", &RawValue::from_string(params).unwrap()).unwrap() {
            AgentCall::New(session) => session.mcp_config,
            other => panic!("{other:?}"),
        }
    };
    let wanted = json!({"mcpServers": {
        "box": {"type": "stdio", "command": "/bin/box", "args": ["-v"], "env": {"A": "1"}},
        "bare": {"type": "stdio", "command": "bare", "args": [], "env": {}},
        "web": {"type": "http", "url": "https://a", "headers": {"A": "1"}},
        "events": {"type": "sse", "url": "https://b", "headers": {}},
    }});
    assert_eq!(config(&servers), Some(wanted));
    assert_eq!(config(&json!([])), None);
}

#[test]
fn forms_have_the_members_that_editors_read() {
    let features = ClientFeatures { forms: true, urls: true, ..ClientFeatures::default() };
    let params = |ask: PendingRequest| ask.to_editor("s", &features, false).unwrap().params;
    let choices = json!([{"const": "A", "title": "A"}, {"const": "B", "title": "B"}]);
    let other = json!({"type": "string", "title": "Other", "description": "An answer of your own"});
    let properties = json!({
        "question_0": {"type": "string", "oneOf": choices, "description": "Which?"},
        "question_0_other": other,
        "question_1": {"type": "array", "items": {"anyOf": choices}, "description": "Which?"},
        "question_1_other": other,
        "question_2": {"type": "string", "description": "Which?"},
    });
    let form = |message: &str, schema: &Value| json!({"sessionId": "s", "toolCallId": "t", "mode": "form", "message": message, "requestedSchema": schema});
    let all = questions("Questions", &["SingleChoice", "MultiChoice", "FreeText"]);
    assert_eq!(params(all), form("Which?", &json!({"type": "object", "properties": properties})));

    let elicitation = |more: Value| {
        let mut ask = questions("Elicitation", &["FreeText"]);
        let PendingRequest::Question { details, .. } = &mut ask else { panic!() };
        let mut all = serde_json::to_value(&*details).unwrap();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        **details = serde_json::from_value(all).unwrap();
        ask
    };
    let fields = json!({"type": "object", "properties": {"q0": {"type": "string", "description": "Which?"}}});
    assert_eq!(params(elicitation(json!({}))), form("The agent has a question", &fields));
    let own = json!({"type": "object", "x-of-the-future": [1]});
    assert_eq!(params(elicitation(json!({"schema": own, "message": "M"}))), form("M", &own), "as it is");
    let page =
        json!({"sessionId": "s", "mode": "url", "message": "", "url": "https://a", "elicitationId": "t"});
    assert_eq!(params(elicitation(json!({"url": "https://a"}))), page);
}

#[test]
fn questions_are_a_form_or_a_choice_or_left_to_others() {
    let forms = ClientFeatures { forms: true, ..ClientFeatures::default() };
    let both = || questions("Questions", &["SingleChoice", "MultiChoice"]);
    let asked = both().to_editor("s", &forms, false).unwrap();
    assert_eq!(asked.method, "elicitation/create");
    assert_eq!(asked.params["requestedSchema"]["properties"]["question_0"]["oneOf"][1]["const"], "B");
    assert!(
        both().to_editor("s", &ClientFeatures::default(), false).is_none(),
        "no form, and more than one choice"
    );
    let one = questions("Questions", &["SingleChoice"]);
    let asked = one.clone().to_editor("s", &ClientFeatures::default(), false).unwrap();
    assert_eq!(asked.method, "session/request_permission");

    let replies = |answer: EditorAnswer| match answer {
        EditorAnswer::Question(answer) => {
            let replies: Vec<_> =
                answer.answers.into_iter().map(|reply| (reply.question_id, reply.answer)).collect();
            (replies, answer.cancel)
        }
        other => panic!("{other:?}"),
    };
    let accepted = json!({"action": "accept", "content": {"question_0": "A", "question_0_other": "C", "question_1": ["A", "B"]}});
    let (given, _) = replies(answer(&both(), "elicitation/create", &accepted));
    assert_eq!(given[0], ("q0".to_owned(), vec!["C".to_owned()]), "an own answer counts");
    assert_eq!(given[1], ("q1".to_owned(), vec!["A".to_owned(), "B".to_owned()]));
    assert!(replies(answer(&both(), "elicitation/create", &json!({"action": "decline"}))).1);
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": "B"}});
    assert_eq!(
        replies(answer(&one, "session/request_permission", &chosen)).0,
        [("q0".to_owned(), vec!["B".to_owned()])]
    );
    let unknown = json!({"outcome": {"outcome": "selected", "optionId": "Z"}});
    assert!(replies(answer(&one, "session/request_permission", &unknown)).1);
}

/// F47: the agent starts turns by itself, and merges prompts.
#[test]
fn f47_each_prompt_ends_with_its_own_turn() {
    let queued = |uuid: &str, sequence| {
        event(
            json!({"PromptQueued": {"session_id": 1, "uuid": uuid, "text": "x", "turn_id": turn("User", sequence)}}),
        )
    };
    let sent = |uuid: &str, sequence| {
        event(
            json!({"UserPrompt": {"session_id": 1, "text": "x", "uuid": uuid, "turn_id": turn("User", sequence)}}),
        )
    };
    let started = |sequence, answers: Vec<Value>| {
        event(
            json!({"TurnStarted": {"session_id": 1, "turn_id": turn("Assistant", sequence), "answers": answers}}),
        )
    };
    let complete = |sequence| {
        event(
            json!({"Complete": {"session_id": 1, "turn_id": turn("Assistant", sequence), "stop_reason": "EndTurn"}}),
        )
    };
    let mut prompts = OpenPrompts::default();
    prompts.add("first", 10);
    prompts.add("second", 11);
    assert!(prompts.observe(10, &queued("a", 1)).is_empty());
    assert!(prompts.observe(11, &queued("b", 2)).is_empty());
    // A turn of its own, then one for the first prompt.
    assert!(prompts.observe(12, &started(1, vec![])).is_empty());
    assert!(prompts.observe(13, &complete(1)).is_empty());
    assert!(prompts.observe(14, &sent("a", 1)).is_empty());
    assert!(prompts.observe(15, &started(2, vec![turn("User", 1)])).is_empty());
    assert_eq!(prompts.observe(16, &complete(2)), [("first", PromptEnd::EndTurn)]);
    prompts.cancel();
    assert!(prompts.observe(17, &sent("b", 2)).is_empty());
    let begun = started(3, vec![turn("User", 2)]);
    assert!(prompts.observe(18, &begun).is_empty());
    assert!(prompts.must_interrupt(&begun), "it was cancelled before it began");
    assert_eq!(prompts.observe(19, &complete(3)), [("second", PromptEnd::Cancelled)]);
    prompts.add("third", 20);
    assert_eq!(
        prompts.take_all(&PromptEnd::Failed("gone".to_owned())),
        [("third", PromptEnd::Failed("gone".to_owned()))]
    );
}

/// A turn that ends with its agent is no answer: the caller takes its prompts when the agent has ended.
#[test]
fn r12_a_prompt_whose_agent_dies_has_not_ended_its_turn() {
    let mut prompts = OpenPrompts::default();
    prompts.add("it", 1);
    let events = [
        json!({"PromptQueued": {"session_id": 1, "uuid": "a", "text": "x", "turn_id": turn("User", 1)}}),
        json!({"TurnStarted": {"session_id": 1, "turn_id": turn("Assistant", 1), "answers": [turn("User", 1)]}}),
        json!({"Complete": {"session_id": 1, "turn_id": turn("Assistant", 1), "stop_reason": "exited"}}),
    ];
    for (at, json) in events.into_iter().enumerate() {
        assert!(prompts.observe(at as u64 + 1, &event(json)).is_empty());
    }
    let gone = PromptEnd::Failed("gone".to_owned());
    assert_eq!(prompts.take_all(&gone), [("it", gone.clone())]);
}

/// F46: a result is not the end while sub-agents work in the background.
#[test]
fn f46_a_prompt_stays_open_while_background_sub_agents_work() {
    let mut prompts = OpenPrompts::default();
    prompts.add("it", 1);
    let queued =
        json!({"PromptQueued": {"session_id": 1, "uuid": "a", "text": "x", "turn_id": turn("User", 1)}});
    let started = json!({"TurnStarted": {"session_id": 1, "turn_id": turn("Assistant", 1), "answers": [turn("User", 1)]}});
    let agent = json!({"SubAgentStarted": {"session_id": 1, "agent_id": "g", "background": true}});
    let complete =
        json!({"Complete": {"session_id": 1, "turn_id": turn("Assistant", 1), "stop_reason": "EndTurn"}});
    let ended = json!({"SubAgentEnded": {"session_id": 1, "agent_id": "g", "outcome": "Completed"}});
    for (at, json) in [queued, started, agent, complete].into_iter().enumerate() {
        assert!(prompts.observe(at as u64 + 1, &event(json)).is_empty());
    }
    assert_eq!(prompts.observe(9, &event(ended)), [("it", PromptEnd::EndTurn)]);
}

/// Samples of all events.
const SAMPLES: &str = include_str!("../../../protocol/tests/fixtures/ui/events.ndjson");

#[test]
fn an_editor_sees_the_events_for_which_the_table_of_events_says_so() {
    let features = ClientFeatures { notices: true, compaction: true, ..ClientFeatures::default() };
    let mut translator = translator(features);
    let mut seen = Vec::new();
    for (at, sample) in SAMPLES.lines().enumerate() {
        let event: UiMessage = serde_json::from_str(sample).unwrap();
        let before = format!("{translator:?}");
        let lines = translator.translate(&event, "e:1", at as u64);
        if (!lines.is_empty() || before != format!("{translator:?}")) && !seen.contains(&event.name()) {
            seen.push(event.name());
        }
    }
    let is_declared = |name: &&str| UiMessage::facts_of(name).unwrap().editor;
    let mut declared: Vec<&str> = UiMessage::NAMES.iter().copied().filter(is_declared).collect();
    seen.sort_unstable();
    declared.sort_unstable();
    assert_eq!(seen, declared);
}
