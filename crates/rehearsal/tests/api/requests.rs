//! Requests: the turn that answers them, probes, the log and the report.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Stand, ask};

#[tokio::test]
async fn a_turn_answers_the_request_that_it_is_meant_for() {
    let script = r#"
[[turn]]
text = "first"
[[turn]]
when = { contains = '"command":"ls"', last_contains = "a.txt", has_tool = "Bash", model_contains = "x" }
text = "after the tool"
[[turn]]
when = { lacks_tool = "Bash", last_contains = "title" }
text = "a title"
"#;
    let stand = Stand::new(script).await;
    let with_result = json!({
        "model": "claude-x", "max_tokens": 9, "tools": [{"name": "Bash"}],
        "messages": [
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt"}]},
        ],
    });
    for (body, expected) in [(ask("a title"), 2), (with_result, 1), (ask("go"), 0)] {
        stand.post(&body).await;
        assert_eq!(stand.log().last().unwrap()["turn"], expected);
    }
}

#[tokio::test]
async fn probes_cost_no_turn_and_break_no_expectation() {
    let script = "[[turn]]\ntext = \"hi\"\n[[expect]]\nrequest = {}\ntimes = 1";
    let stand = Stand::new(script).await;
    let probe =
        json!({"model": "claude-x", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]});
    let message: Value = stand.post(&probe).await.json().await.unwrap();
    assert_eq!(message["stop_reason"], "max_tokens");
    stand.post(&ask("go")).await;
    let log = stand.log();
    assert_eq!((&log[0]["turn"], &log[1]["turn"]), (&json!("probe"), &json!(0)));
    let report = stand.server.stop().await;
    assert!(report.expectations_met() && report.turns_fit(), "{report}");
}

/// The API refuses such a request before a model sees it, and so no turn of the script is used up.
#[tokio::test]
async fn d22_a_tool_whose_input_is_no_object_is_refused() {
    let stand = Stand::new("[[turn]]\ntext = \"hi\"").await;
    let alternatives = "input_schema does not support oneOf, allOf, or anyOf at the top level";
    for (schema, expected) in [
        (json!({"type": "array"}), "tools.1.custom.input_schema.type: Input should be 'object'".to_owned()),
        (json!({"enum": ["a"]}), "tools.1.custom.input_schema.type: Field required".to_owned()),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"]}]}),
            format!("tools.1.custom.input_schema: {alternatives}"),
        ),
    ] {
        let mut body = ask("go");
        body["tools"] = json!([
            {"type": "web_search_20250305", "name": "web_search"},
            {"name": "StructuredOutput", "input_schema": schema},
        ]);
        let answer = stand.post(&body).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        assert_eq!(answer.json::<Value>().await.unwrap()["error"]["message"], expected);
    }
    let mut body = ask("go");
    body["tools"] = json!([{"name": "Bash", "input_schema": {"type": "object"}}]);
    assert!(stand.post(&body).await.status().is_success());
    assert_eq!(stand.log().last().unwrap()["turn"], 0);
}

#[tokio::test]
async fn the_other_routes_answer_in_the_apis_shapes() {
    let stand = Stand::new("").await;
    let counted = stand.call(Method::POST, "/v1/messages/count_tokens", &ask("twelve chars")).await.unwrap();
    assert_eq!(counted.json::<Value>().await.unwrap(), json!({"input_tokens": 3}));

    let models: Value =
        stand.call(Method::GET, "/v1/models?limit=5", &json!({})).await.unwrap().json().await.unwrap();
    assert_eq!(models["data"][0]["type"], "model");
    let model: Value =
        stand.call(Method::GET, "/v1/models/mine", &json!({})).await.unwrap().json().await.unwrap();
    assert_eq!(model["id"], "mine");

    assert_eq!(stand.call(Method::HEAD, "/", &json!({})).await.unwrap().status(), StatusCode::OK);
    assert_eq!(stand.call(Method::GET, "/", &json!({})).await.unwrap().status(), StatusCode::OK);

    let unknown = stand.call(Method::GET, "/v1/messages", &json!({})).await.unwrap();
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    assert!(unknown.headers().contains_key("request-id"));
    let error: Value = unknown.json().await.unwrap();
    assert_eq!((&error["type"], &error["error"]["type"]), (&json!("error"), &json!("not_found_error")));
    assert!(error["request_id"].is_string());

    let url = format!("{}/v1/messages", stand.server.url());
    let broken = stand.client.post(url).body("{").send().await.unwrap();
    assert_eq!(broken.status(), StatusCode::BAD_REQUEST);
    assert_eq!(stand.log().last().unwrap()["body"], "{");
}

#[tokio::test]
async fn the_log_says_what_a_request_looks_like() {
    let stand = Stand::new("[[turn]]\ntext = \"hi\"").await;
    let mut body = ask("go");
    body["tools"] = json!([{"name": "Bash"}]);
    let answer = stand.post(&body).await;
    let expected = json!({
        "n": 1, "method": "POST", "path": "/v1/messages?beta=true", "model": "claude-x", "stream": true,
        "max_tokens": 1000, "tools": ["Bash"], "messages": [{"role": "user", "blocks": ["text"]}],
        "betas": ["one", "two"], "turn": 0, "status": 200,
        "request_id": answer.headers()["request-id"].to_str().unwrap(), "body": body,
    });
    assert_eq!(stand.log(), [expected]);
}

#[tokio::test]
async fn the_report_tells_what_did_not_fit() {
    let script = r#"
[[turn]]
text = "first"
[[turn]]
when = { contains = "never said" }
text = "this one waits in vain,\nfor ever"
[[turn]]
optional = true
error = { status = 500 }
[[expect]]
name = "a greeting"
request = { last_contains = "hello" }
[[expect]]
name = "no small model"
request = { model_contains = "haiku" }
times = 0
[[expect]]
request = { last_contains = "hello" }
times = 2
[[expect]]
stdin = { type = "user" }
"#;
    let stand = Stand::new(script).await;
    for text in ["hello", "again", "and again"] {
        stand.post(&ask(text)).await;
    }
    let report = stand.server.stop().await;
    assert_eq!((&report.unused_turns[..], report.exhausted), (&[1][..], 1));
    assert!(!report.expectations_met() && !report.turns_fit());
    insta::assert_snapshot!(report, @r"
    2 answered of 3 requests; for 1 the script had no turn
      unused  turn 2 of 3: this one waits in vain,…
      ok      a greeting: expected at least once, came once
      ok      no small model: expected never, came never
      FAILED  expectation 3: expected 2 times, came once
    ");
}
