//! The check of tool calls in auto mode.

use serde_json::{Value, json};

use super::{Stand, ask};

const CALLS: &str = r#"
[[turn]]
repeat = true
[[turn.block]]
text = "Both."
[[turn.block]]
tool = "Bash"
id = "toolu_1"
input = { command = "ls" }
[[turn.block]]
tool = "Bash"
id = "toolu_2"
input = { command = "rm -rf /" }
flagged = "deletes everything"
[[turn.block]]
raw = { type = "tool_use", id = "toolu_3", name = "Bash", input = { command = "pwd" } }
[[turn.block]]
raw = { type = "server_tool_use", id = "srvtoolu_1", name = "web_search", input = { query = "x" } }
"#;

/// A request of the CLI in auto mode.
fn checked(text: &str) -> Value {
    let mut request = ask(text);
    request["safeguards"] = json!([{"type": "dangerous_tool_use", "model": "any"}]);
    request
}

fn expected() -> Value {
    let tool_uses = json!({
        "toolu_1": {"type": "evaluated", "outcome": "not_flagged"},
        "toolu_2": {"type": "evaluated", "outcome": "flagged", "explanation": "deletes everything"},
        "toolu_3": {"type": "evaluated", "outcome": "not_flagged"},
    });
    json!([{"type": "dangerous_tool_use", "status": {"type": "available", "tool_uses": tool_uses}}])
}

fn end_of(events: &[Value]) -> &Value {
    &events.iter().find(|event| event["type"] == "message_delta").unwrap()["delta"]
}

#[tokio::test]
async fn every_tool_call_gets_an_outcome_if_the_request_asks_for_the_check() {
    let stand = Stand::new(CALLS).await;
    assert_eq!(end_of(&stand.events(&checked("go")).await)["safeguard_results"], expected());

    let mut whole = checked("go");
    whole["stream"] = json!(false);
    let message: Value = stand.post(&whole).await.json().await.unwrap();
    assert_eq!(message["safeguard_results"], expected());
}

#[tokio::test]
async fn an_answer_without_tool_calls_has_an_empty_check() {
    let stand = Stand::new("[[turn]]\ntext = \"Hello\"\n").await;
    let results = json!([{"type": "dangerous_tool_use", "status": {"type": "available", "tool_uses": {}}}]);
    assert_eq!(end_of(&stand.events(&checked("go")).await)["safeguard_results"], results);
}

#[tokio::test]
async fn a_request_without_the_check_gets_no_outcomes() {
    let stand = Stand::new(CALLS).await;
    let mut other = ask("go");
    other["safeguards"] = json!([{"type": "another"}]);
    for request in [ask("go"), other] {
        assert_eq!(end_of(&stand.events(&request).await).get("safeguard_results"), None);
    }
}

#[tokio::test]
async fn a_script_may_replace_the_outcomes() {
    let script = "[[turn]]\ntext = \"Hello\"\nmessage = { safeguard_results = [] }\n";
    let stand = Stand::new(script).await;
    assert_eq!(end_of(&stand.events(&checked("go")).await)["safeguard_results"], json!([]));
}
