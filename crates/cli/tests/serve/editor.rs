//! `tidings acp` with an editor on its standard streams.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::machine::Machine;

/// An editor that waits for an answer which never comes looks as if it hung.
#[test]
fn r9_a_message_of_any_length_is_answered_with_its_id() {
    let machine = Machine::new();
    let mut command = machine.tidings(&["acp", "--standalone"]);
    let mut editor = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = editor.stdin.take().unwrap();
    let mut answers = BufReader::new(editor.stdout.take().unwrap()).lines();
    let mut ask = |line: String| {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        serde_json::from_str::<Value>(&answers.next().unwrap().unwrap()).unwrap()
    };
    let initialize =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
    assert_eq!(ask(initialize.to_string())["id"], 0);
    let long = "x".repeat(20 << 20);
    let params = json!({"sessionId": "s", "prompt": [{"type": "text", "text": long}]});
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","method":"session/prompt","params":{params},"id":"last"}}"#),
    ] {
        let id: Value = if line.contains("\"last\"") { "last".into() } else { 7.into() };
        let answer = ask(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
    }
    let unread = ask(r#"{"jsonrpc":"2.0","id":8,"method":9}"#.to_owned());
    assert_eq!((&unread["id"], &unread["error"]["code"]), (&json!(8), &json!(-32600)));
    drop(input);
    assert!(editor.wait().unwrap().success());
}
