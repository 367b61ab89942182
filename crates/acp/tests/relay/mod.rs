//! The relay between an editor and a server that restarts.

use serde_json::{Value, json};
use tidings_acp::relay::{Relay, RelayOutput};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn methods(output: &RelayOutput) -> Vec<String> {
    parsed(&output.to_server)
        .iter()
        .map(|line| line["method"].as_str().unwrap_or("response").to_owned())
        .collect()
}

/// A relay with one open session.
fn opened() -> Relay {
    let mut relay = Relay::new("r");
    assert!(relay.connected().to_server.is_empty());
    assert_eq!(relay.from_editor(INITIALIZE).to_server.len(), 1);
    relay.from_server(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#);
    let new = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/p","mcpServers":[]}}"#;
    let sent = parsed(&relay.from_editor(new).to_server);
    assert_eq!(sent[0]["params"]["_meta"]["tidings"]["clientId"], "r/1");
    let answer =
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","_meta":{"tidings":{"cursor":"e:0"}}}}"#;
    assert_eq!(relay.from_server(answer).to_editor.len(), 1);
    relay
}

#[test]
fn r9_every_request_gets_an_answer_with_its_id() {
    let mut relay = opened();
    let id_of = |line: &str, relay: &mut Relay| {
        let told = parsed(&relay.from_editor(line).to_editor);
        assert!(told.len() == 1 && told[0].get("error").is_some(), "{told:?}");
        told[0]["id"].clone()
    };
    assert_eq!(id_of(r#"{"jsonrpc":"2.0","id":7,"method":8}"#, &mut relay), 7);
    assert_eq!(id_of(r#"{"method":"session/prompt","params":{"prompt":[what]},"id":"a"}"#, &mut relay), "a");
    // Brackets that do not match, and one that is missing.
    assert_eq!(id_of(r#"{"method":"session/prompt","params":{"prompt":[what},"id":"b"}"#, &mut relay), "b");
    let unclosed = r#"{"method":"session/prompt","params":{"prompt":[{"text":"x"]},"id":"c"}"#;
    assert_eq!(id_of(unclosed, &mut relay), "c");
    assert_eq!(id_of(r#"{"id":10,"method":"session/prompt","params":{"prompt":["#, &mut relay), 10);
    assert_eq!(id_of(r#"{"method":"session/list","params":{},"id":11"#, &mut relay), 11);
    assert_eq!(id_of("nonsense", &mut relay), Value::Null);
    // With the idempotency key it is longer than what a server takes.
    let prompt = |text: &str| {
        let blocks = json!([{"type": "text", "text": text}]);
        json!({"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {"sessionId": "s", "prompt": blocks}})
            .to_string()
    };
    let longest = "x".repeat(tidings_acp::limits::MESSAGE_BYTES_MAX - prompt("").len());
    assert_eq!(id_of(&prompt(&longest), &mut relay), 9);
    assert_eq!(relay.from_editor(&prompt("short")).to_server.len(), 1, "the id is free again");
}

#[test]
fn a_restart_repeats_what_is_open_and_resumes_after_the_last_update() {
    let mut relay = opened();
    let prompt =
        r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
    let sent = relay.from_editor(prompt).to_server;
    let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {}, "_meta": {"tidings": {"cursor": "e:7"}}}});
    assert_eq!(relay.from_server(&update.to_string()).to_editor, [update.to_string()]);
    let ask = |id: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "s"}}).to_string()
    };
    assert_eq!(relay.from_server(&ask("s/a")).to_editor.len(), 1);
    assert_eq!(relay.from_server(&ask("s/b")).to_editor.len(), 1);
    relay.disconnected();
    let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    assert_eq!(relay.from_editor(cancel), RelayOutput::default());
    let again = relay.connected();
    assert_eq!(methods(&again), ["initialize", "session/resume", "session/prompt", "session/cancel"]);
    let lines = parsed(&again.to_server);
    assert_eq!(lines[1]["params"]["_meta"]["tidings"]["after"], "e:7");
    assert_eq!(again.to_server[2], sent[0], "the same idempotency key");
    // The server still has one of the two requests.
    let id = lines[1]["id"].clone();
    let resumed = json!({"jsonrpc": "2.0", "id": id, "result": {"_meta": {"tidings": {"pending": ["s/a"]}}}});
    let told = parsed(&relay.from_server(&resumed.to_string()).to_editor);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["method"], "$/cancel_request");
    assert_eq!(told[0]["params"]["requestId"], "s/b");
    assert_eq!(relay.from_server(&ask("s/a")), RelayOutput::default(), "the editor shows it already");
    assert_eq!(relay.from_editor(r#"{"jsonrpc":"2.0","id":"s/a","result":{}}"#).to_server.len(), 1);
    let ended = r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}"#;
    assert_eq!(relay.from_server(ended).to_editor, [ended]);
    assert!(!relay.has_calls());
}

#[test]
fn a_session_that_is_gone_ends_its_prompts() {
    let mut relay = opened();
    relay.from_editor(
        r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
    );
    relay.disconnected();
    let lines = parsed(&relay.connected().to_server);
    let refused =
        json!({"jsonrpc": "2.0", "id": lines[1]["id"], "error": {"code": -32002, "message": "gone"}});
    let told = parsed(&relay.from_server(&refused.to_string()).to_editor);
    assert_eq!(told[0]["id"], 2);
    assert_eq!(told[0]["error"]["code"], -32002);
}

#[test]
fn hostile_lines_get_an_error_and_change_nothing() {
    let mut relay = opened();
    for (line, code) in [("nonsense", -32700), ("[]", -32600), (r#"{"id":{},"method":"a"}"#, -32600)] {
        let answer = parsed(&relay.from_editor(line).to_editor);
        assert_eq!(answer[0]["error"]["code"], code, "{line}");
    }
    let twice = r#"{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}"#;
    assert_eq!(relay.from_editor(twice).to_server.len(), 1);
    assert_eq!(
        parsed(&relay.from_editor(twice).to_editor)[0]["error"]["code"],
        -32600,
        "an id that is in use"
    );
    assert_eq!(relay.from_editor(r#"{"jsonrpc":"2.0","id":"unknown","result":{}}"#), RelayOutput::default());
    assert_eq!(relay.from_server("nonsense"), RelayOutput::default());
    assert_eq!(parsed(&relay.give_up("gone"))[0]["id"], 9);
}
