//! Questions to the user, and replies to the CLI.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidings::Decision;
use tidings_agent::AskKey;
use tidings_agent::questions::{
    CliReply, Inquiry, InteractionError, InvalidCode, Replied, Reply, UserInteractionRegistry,
    check_questions,
};
use tidings_protocol::control::{CanUseTool, Elicitation};
use tidings_protocol::json::Json;
use tidings_protocol::ui::{AnsweredBy, AskUserQuestionsRequest, QuestionType, RequestOutcome};

fn person() -> AnsweredBy {
    AnsweredBy::Person("phone".into())
}

fn key() -> AskKey {
    AskKey::new(1, "toolu_1")
}

/// As sent by the CLI.
fn databases() -> Value {
    json!({"questions": [
        {"question": "Which database should be used?", "header": "Database", "options": [
            {"label": "SQLite", "description": "One file"}, {"label": "Postgres", "description": "A server"}], "multiSelect": false},
        {"question": "Which extras?", "header": "Extras", "options": [
            {"label": "Cache", "description": "Add a cache"}, {"label": "Search", "description": "Add search"}], "multiSelect": true}
    ]})
}

fn from_model(input: Value) -> Inquiry {
    Inquiry::from_call(1, "r", &CanUseTool::new("AskUserQuestion", input.into(), "toolu_1"), None).unwrap()
}

fn plan() -> Inquiry {
    let call = CanUseTool::new("ExitPlanMode", json!({}).into(), "toolu_1");
    Inquiry::from_call(1, "r", &call, Some("1. Write it")).unwrap()
}

fn elicitation(value: Value) -> Inquiry {
    let call: Elicitation = serde_json::from_value(value).unwrap();
    Inquiry::from_elicitation(1, "toolu_1", &call)
}

fn form(property: &Value) -> Inquiry {
    elicitation(json!({
        "mcp_server_name": "demo", "message": "Tell me", "mode": "form",
        "requested_schema": {"type": "object", "properties": {"x": property}, "required": ["x"]}
    }))
}

fn answered(answers: Vec<Reply>) -> RequestOutcome<Replied> {
    RequestOutcome::by_person(Replied::Answers(answers), "phone")
}

/// The reply to the CLI, as JSON.
fn sent(inquiry: &Inquiry, outcome: &RequestOutcome<Replied>) -> Value {
    match inquiry.cli_reply(outcome) {
        CliReply::Tool(Decision::Allow(allow)) => json!({ "allow": allow }),
        CliReply::Tool(Decision::Deny(deny)) => json!({ "deny": deny.message }),
        CliReply::Elicitation(answer) => serde_json::to_value(answer).unwrap(),
        CliReply::Tool(other) => panic!("{other:?}"),
    }
}

fn codes(inquiry: &Inquiry, answers: &[Reply]) -> Vec<InvalidCode> {
    inquiry.check(answers).into_iter().map(|invalid| invalid.code).collect()
}

#[test]
fn s3_20_questions_of_the_model_become_events_and_answers() {
    let inquiry = from_model(databases());
    let request = inquiry.request();
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({"questions": [
            {"id": "q1", "text": "Which database should be used?", "question_type": "SingleChoice",
             "options": ["SQLite", "Postgres"], "required": true},
            {"id": "q2", "text": "Which extras?", "question_type": "MultiChoice", "options": ["Cache", "Search"], "required": true}
        ]})
    );
    assert_eq!(inquiry.fields[0].header.as_deref(), Some("Database"));
    assert_eq!(inquiry.fields[0].choices[1].description.as_deref(), Some("A server"));

    let mut expected = databases();
    expected["answers"] =
        json!({"Which database should be used?": "SQLite", "Which extras?": "Cache, Search"});
    let by_id = vec![Reply::new("q1", ["SQLite"]), Reply::new("q2", ["Cache", "Search"])];
    let by_text = vec![
        Reply::new("Which database should be used?", ["SQLite"]),
        Reply::new("Which extras?", ["Cache", "Search"]),
    ];
    for answers in [by_id, by_text] {
        assert_eq!(sent(&inquiry, &answered(answers)), json!({"allow": {"updatedInput": expected}}));
    }
}

#[test]
fn s3_33_an_answer_of_ones_own_is_always_taken() {
    let inquiry = from_model(databases());
    let answers = vec![Reply::new("q1", ["DuckDB"]), Reply::new("q2", ["Cache", "something else"])];
    assert_eq!(codes(&inquiry, &answers), []);
    let reply = sent(&inquiry, &answered(answers));
    assert_eq!(reply["allow"]["updatedInput"]["answers"]["Which database should be used?"], "DuckDB");
}

#[test]
fn s3_33_wrong_answers_have_codes() {
    use InvalidCode::{RequiredFieldEmpty, TooManySelections, UnknownQuestion};
    let inquiry = from_model(databases());
    let fine = || Reply::new("q2", ["Cache"]);
    for (answers, expected) in [
        (vec![fine()], vec![RequiredFieldEmpty]),
        (vec![Reply::new("q1", [" "]), fine()], vec![RequiredFieldEmpty]),
        (vec![Reply::new("q1", ["SQLite", "Postgres"]), fine()], vec![TooManySelections]),
        (vec![Reply::new("q1", ["SQLite"]), Reply::new("q1", ["Postgres"]), fine()], vec![TooManySelections]),
        (vec![Reply::new("q1", ["SQLite"]), fine(), Reply::new("q9", ["x"])], vec![UnknownQuestion]),
        (vec![], vec![RequiredFieldEmpty, RequiredFieldEmpty]),
    ] {
        assert_eq!(codes(&inquiry, &answers), expected, "{answers:?}");
        // Invalid answers are not sent.
        assert!(sent(&inquiry, &answered(answers)).get("deny").is_some());
    }
    let mut request = inquiry.request();
    request.questions[0].options = Some(Vec::new());
    let wrong = check_questions(&AskUserQuestionsRequest { questions: request.questions });
    assert_eq!(wrong[0].code, InvalidCode::EmptyChoices);
    assert_eq!(serde_json::to_value(&wrong[0]).unwrap()["code"], "empty_choices");
}

#[test]
fn a_question_without_choices_can_be_answered_in_words() {
    let inquiry = from_model(json!({"questions": [{"question": "Name?"}]}));
    assert_eq!(inquiry.fields[0].question.question_type, QuestionType::FreeText);
    let call = CanUseTool::new("AskUserQuestion", json!({"questions": []}).into(), "t");
    assert!(Inquiry::from_call(1, "r", &call, None).is_none());
}

#[test]
fn f64_silence_is_not_told_as_a_refusal() {
    let inquiry = from_model(databases());
    let declined = RequestOutcome::by_person(Replied::Declined, "phone");
    assert_eq!(sent(&inquiry, &declined), json!({"deny": "The user declined to answer"}));
    for outcome in [
        RequestOutcome::TimedOut,
        RequestOutcome::Disconnected,
        RequestOutcome::Cancelled,
        RequestOutcome::Lost,
    ] {
        let words = sent(&inquiry, &outcome)["deny"].as_str().unwrap().to_owned();
        assert!(!words.contains("user"), "{words}");
    }
}

/// The API rejects a conversation from then on because of a lone surrogate.
#[test]
fn f9_what_is_sent_back_has_no_lone_surrogates() {
    let input =
        Json::parse(r#"{"questions":[{"question":"Which \ud83d?","options":[{"label":"A"}]}],"x":1e400}"#)
            .unwrap();
    let inquiry = Inquiry::from_call(1, "r", &CanUseTool::new("AskUserQuestion", input, "t"), None).unwrap();
    let CliReply::Tool(Decision::Allow(allow)) = inquiry.cli_reply(&answered(vec![Reply::new("q1", ["A"])]))
    else {
        panic!("it was answered");
    };
    let text = allow.updated_input.unwrap().to_string();
    assert!(!text.contains("\\ud83d") && text.contains("1e400"), "{text}");
    assert!(text.ends_with("\"answers\":{\"Which \u{fffd}?\":\"A\"}}"), "{text}");
}

#[test]
fn a_plan_is_approved_with_or_without_edits_or_worked_on() {
    let inquiry = plan();
    assert!(inquiry.fields[0].question.text.ends_with("1. Write it"));
    let mode = |mode: &str| {
        let update = json!([{"type": "setMode", "mode": mode, "destination": "session"}]);
        json!({"allow": {"updatedInput": {}, "updatedPermissions": update}})
    };
    let deny = |words: &str| json!({ "deny": words });
    for (answers, expected) in [
        (vec![Reply::new("plan", ["Approve"])], mode("default")),
        (vec![Reply::new("plan", ["Approve and accept edits"])], mode("acceptEdits")),
        (vec![Reply::new("plan", ["Keep planning"])], deny("The user wants to keep planning")),
        (
            vec![Reply::new("plan", ["Keep planning"]), Reply::new("feedback", ["Use SQLite"])],
            deny("The user wants to keep planning: Use SQLite"),
        ),
        (vec![Reply::new("plan", ["Use SQLite"])], deny("The user wants to keep planning: Use SQLite")),
    ] {
        assert_eq!(sent(&inquiry, &answered(answers)), expected);
    }
}

#[test]
fn a_form_is_filled_in_as_its_schema_says() {
    let inquiry = elicitation(json!({
        "mcp_server_name": "demo", "message": "What is your name?", "mode": "form",
        "requested_schema": {"type": "object", "required": ["name"], "properties": {
            "age": {"type": "integer"}, "name": {"type": "string", "title": "Name"}}},
        "property_order": ["name", "age"]
    }));
    let ids: Vec<&str> = inquiry.fields.iter().map(|field| field.question.id.as_str()).collect();
    assert_eq!(ids, ["name", "age"]);
    assert_eq!(inquiry.fields[0].question.text, "What is your name?\nName");
    let answers = vec![Reply::new("name", ["Ada"]), Reply::new("age", ["36"])];
    assert_eq!(
        sent(&inquiry, &answered(answers)),
        json!({"action": "accept", "content": {"name": "Ada", "age": 36}})
    );
    let answers = vec![Reply::new("name", ["Ada"])];
    assert_eq!(sent(&inquiry, &answered(answers)), json!({"action": "accept", "content": {"name": "Ada"}}));
    let declined = RequestOutcome::by_person(Replied::Declined, "phone");
    assert_eq!(sent(&inquiry, &declined), json!({"action": "decline"}));
    assert_eq!(sent(&inquiry, &RequestOutcome::TimedOut), json!({"action": "cancel"}));
}

#[test]
fn the_fields_of_a_form_are_checked() {
    use InvalidCode::{
        NotAFlag, NotANumber, NotAnInteger, OutOfRange, TooFewSelections, TooManySelections, UnknownChoice,
        WrongFormat, WrongLength,
    };
    let colours = json!({"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]});
    let several = json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}});
    for (property, answer, expected) in [
        (json!({"type": "string"}), vec!["x"], Ok(json!("x"))),
        (json!({"type": "string", "minLength": 2}), vec!["x"], Err(WrongLength)),
        (json!({"type": "string", "maxLength": 2}), vec!["äöü"], Err(WrongLength)),
        (json!({"type": "string", "maxLength": 3}), vec!["äöü"], Ok(json!("äöü"))),
        (json!({"type": "string", "format": "email"}), vec!["a@b.c"], Ok(json!("a@b.c"))),
        (json!({"type": "string", "format": "email"}), vec!["ab.c"], Err(WrongFormat)),
        (json!({"type": "string", "format": "uri"}), vec!["https://a.b"], Ok(json!("https://a.b"))),
        (json!({"type": "string", "format": "uri"}), vec!["a b"], Err(WrongFormat)),
        (json!({"type": "string", "format": "date"}), vec!["2026-02-30"], Err(WrongFormat)),
        (json!({"type": "string", "format": "date"}), vec!["2026-02-28"], Ok(json!("2026-02-28"))),
        (
            json!({"type": "string", "format": "date-time"}),
            vec!["2026-02-28T10:00:00Z"],
            Ok(json!("2026-02-28T10:00:00Z")),
        ),
        (json!({"type": "string", "format": "date-time"}), vec!["noon"], Err(WrongFormat)),
        (json!({"type": "string", "format": "unheard-of"}), vec!["x"], Ok(json!("x"))),
        (json!({"type": "string", "pattern": "^[a-z]+$"}), vec!["A"], Err(WrongFormat)),
        (json!({"type": "string", "pattern": "(?<=broken"}), vec!["A"], Ok(json!("A"))),
        (json!({"type": "integer"}), vec!["7"], Ok(json!(7))),
        (json!({"type": "integer"}), vec!["007"], Ok(json!(7))),
        (json!({"type": "integer"}), vec!["7.5"], Err(NotAnInteger)),
        (json!({"type": "integer"}), vec!["seven"], Err(NotANumber)),
        (json!({"type": "number"}), vec!["7.5"], Ok(json!(7.5))),
        (json!({"type": "number"}), vec!["inf"], Err(NotANumber)),
        (json!({"type": "number"}), vec!["NaN"], Err(NotANumber)),
        (json!({"type": "number"}), vec!["1e400"], Err(NotANumber)),
        (json!({"type": "number", "minimum": 1, "maximum": 2}), vec!["3"], Err(OutOfRange)),
        (json!({"type": "number", "minimum": 1, "maximum": 2}), vec!["2"], Ok(json!(2))),
        (json!({"type": "boolean"}), vec!["Yes"], Ok(json!(true))),
        (json!({"type": "boolean"}), vec!["false"], Ok(json!(false))),
        (json!({"type": "boolean"}), vec!["perhaps"], Err(NotAFlag)),
        (json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}), vec!["B"], Ok(json!("b"))),
        (json!({"type": "string", "enum": ["a", "b"]}), vec!["c"], Err(UnknownChoice)),
        (json!({"type": "string", "enum": ["a", "b"]}), vec!["a", "b"], Err(TooManySelections)),
        (colours.clone(), vec!["Green"], Ok(json!("#0f0"))),
        (colours, vec!["#f00"], Ok(json!("#f00"))),
        (several.clone(), vec!["a", "c"], Ok(json!(["a", "c"]))),
        (several.clone(), vec!["a", "b", "c"], Err(TooManySelections)),
        (several, vec!["x"], Err(UnknownChoice)),
        (
            json!({"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}),
            vec!["a"],
            Err(TooFewSelections),
        ),
    ] {
        let inquiry = form(&property);
        let answers = vec![Reply::new("x", answer)];
        match expected {
            Ok(value) => {
                assert_eq!(codes(&inquiry, &answers), [], "{property} {answers:?}");
                let reply = sent(&inquiry, &answered(answers));
                assert_eq!(reply, json!({"action": "accept", "content": {"x": value}}), "{property}");
            }
            Err(code) => assert_eq!(codes(&inquiry, &answers), [code], "{property} {answers:?}"),
        }
    }
}

#[test]
fn a_form_without_fields_is_confirmed_or_declined() {
    let inquiry = elicitation(json!({"mcp_server_name": "demo", "message": "Go on?", "mode": "form"}));
    let accept = sent(&inquiry, &answered(vec![Reply::new("confirm", ["Accept"])]));
    assert_eq!(accept, json!({"action": "accept", "content": {}}));
    let decline = sent(&inquiry, &answered(vec![Reply::new("confirm", ["Decline"])]));
    assert_eq!(decline, json!({"action": "decline"}));
}

/// Only web addresses can be opened: others start programs.
#[test]
fn t7_an_address_is_opened_or_declined() {
    let at = |url: &str| {
        elicitation(
            json!({"mcp_server_name": "demo", "message": "Please sign in", "mode": "url", "url": url, "elicitation_id": "e"}),
        )
    };
    let inquiry = at("https://example.com/login");
    assert_eq!(inquiry.fields[0].question.text, "Please sign in\nhttps://example.com/login");
    let opened = vec![Reply::new("confirm", ["I have opened it"])];
    assert_eq!(sent(&inquiry, &answered(opened.clone())), json!({"action": "accept"}));
    for url in ["javascript:alert(1)", "file:///etc/passwd", "", "httpsx://a"] {
        let inquiry = at(url);
        assert_eq!(inquiry.fields[0].question.options, Some(vec!["Decline".to_owned()]), "{url}");
        assert_eq!(codes(&inquiry, &opened), [InvalidCode::UnknownChoice], "{url}");
    }
}

#[tokio::test]
async fn s3_33_the_registry_takes_one_valid_answer() {
    let registry = UserInteractionRegistry::default();
    let waiting = registry.register(from_model(databases()), None).unwrap();
    assert!(registry.has_pending(1) && !registry.has_pending(2));
    assert_eq!(registry.pending_for_session(1).len(), 1);
    let twice = registry.register(from_model(databases()), None).unwrap_err();
    assert_eq!(twice, InteractionError::AlreadyAsked);

    let invalid = registry.respond(&key(), vec![Reply::new("q1", ["SQLite"])], person()).unwrap_err();
    assert!(matches!(invalid, InteractionError::Invalid(_)));
    assert_eq!(registry.pending_count(), 1);

    let answers = vec![Reply::new("q1", ["SQLite"]), Reply::new("q2", ["Cache"])];
    registry.respond(&key(), answers.clone(), person()).unwrap();
    assert_eq!(waiting.await, answered(answers.clone()));
    let late = registry.respond(&key(), answers, AnsweredBy::Person("browser".into())).unwrap_err();
    assert!(matches!(late, InteractionError::AlreadyResponded(_)));
    assert_eq!(registry.decline(&AskKey::new(1, "x"), person()).unwrap_err(), InteractionError::NotFound);
}

#[tokio::test]
async fn s3_33_questions_end_by_being_declined_taken_back_or_out_of_time() {
    let registry = UserInteractionRegistry::default();
    let start = Instant::now();
    let ask = |id: &str| {
        let call = CanUseTool::new("ExitPlanMode", json!({}).into(), id);
        Inquiry::from_call(1, "r", &call, None).unwrap()
    };
    let declined = registry.register(ask("a"), None).unwrap();
    let cancelled = registry.register(ask("b"), None).unwrap();
    let late = registry.register(ask("c"), Some(start + Duration::from_secs(5))).unwrap();
    let rest = registry.register(ask("d"), None).unwrap();
    registry.decline(&AskKey::new(1, "a"), person()).unwrap();
    registry.cancel(&AskKey::new(1, "b")).unwrap();
    assert_eq!(registry.expire(start + Duration::from_secs(5)).len(), 1);
    assert_eq!(registry.cancel_session(1).len(), 1);
    assert_eq!(declined.await, RequestOutcome::by_person(Replied::Declined, "phone"));
    assert_eq!(cancelled.await, RequestOutcome::Cancelled);
    assert_eq!(late.await, RequestOutcome::TimedOut);
    assert_eq!(rest.await, RequestOutcome::Cancelled);

    drop(registry.register(ask("e"), None).unwrap());
    assert_eq!(registry.outcome(&AskKey::new(1, "e")), Some(RequestOutcome::Disconnected));
}
