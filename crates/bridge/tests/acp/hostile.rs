//! Editors that send nonsense, or more than they may.

use serde_json::{Value, json};

use super::editor::{Editor, editor_server};
use super::{ASKS, HELLO};

#[tokio::test]
async fn nonsense_gets_an_error_and_the_connection_lives() {
    let server = editor_server(HELLO).await;
    let mut editor = Editor::connect(&server, "admin").await;
    assert_eq!(editor.refused("session/new", json!({"cwd": "/", "mcpServers": []})).await["code"], -32600);
    editor.initialize(json!({})).await;
    for (line, code) in [("nonsense", -32700), ("[{}]", -32600), (r#"{"jsonrpc":"2.0"}"#, -32600)] {
        editor.send_line(line).await;
        let answer = editor.wait(|message| message["id"].is_null() && message.get("error").is_some()).await;
        assert_eq!(answer["error"]["code"], code, "{line}");
    }
    let long = "a".repeat(1 << 20);
    for (method, params, code) in [
        ("session/fly", json!({}), -32601),
        ("logout", json!({}), -32601),
        ("authenticate", json!({"methodId": "x"}), -32602),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": "/nowhere/at/all", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": 7}), -32602),
        ("session/load", json!({"sessionId": "unknown", "cwd": "/", "mcpServers": []}), -32002),
        ("session/load", json!({"sessionId": "../../etc/passwd", "cwd": "/", "mcpServers": []}), -32002),
        ("session/prompt", json!({"sessionId": long, "prompt": []}), -32002),
        ("session/list", json!({"cursor": "x"}), -32602),
    ] {
        let error = editor.refused(method, params.clone()).await;
        assert_eq!(error["code"], code, "{method} {error}");
    }
    // Answers to requests that were never made, and notifications that are unknown.
    editor.send_line(r#"{"jsonrpc":"2.0","id":"a/b","result":{}}"#).await;
    editor.send_line(r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#).await;
    editor.notify("session/cancel", json!({"sessionId": "unknown"})).await;
    editor.notify("$/unknown", json!({})).await;
    let session = editor.new_session(&server).await;
    for prompt in [
        json!([]),
        json!([{"type": "smell", "data": "x"}]),
        json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]),
    ] {
        let error = editor.refused("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
        assert_eq!(error["code"], -32602, "{prompt}");
    }
    assert_eq!(editor.prompt(&session, "hello").await["stopReason"], "end_turn");
}

#[tokio::test]
async fn two_prompts_at_once_get_their_own_responses() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    let first = editor.start_prompt(&session, "one").await;
    let second = editor.start_prompt(&session, "two").await;
    assert_eq!(editor.response(first).await["stopReason"], "end_turn");
    assert_eq!(editor.text(), "Hello to you.");
    assert_eq!(editor.response(second).await["stopReason"], "end_turn");
    assert_eq!(editor.text(), "Hello to you.And again.");
}

#[tokio::test]
async fn a_credential_does_only_what_its_scopes_allow() {
    let server = editor_server(ASKS).await;
    let (mut owner, session) = Editor::open(&server).await;
    let mut reader = Editor::connect(&server, "read").await;
    reader.initialize(json!({})).await;
    let code = |error: Value| error["data"]["code"].as_str().unwrap_or_default().to_owned();
    let new = reader.refused("session/new", json!({"cwd": server.cwd(), "mcpServers": []})).await;
    assert_eq!(code(new), "forbidden");
    let opened = reader
        .call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []}))
        .await;
    let modes = opened["modes"]["availableModes"].as_array().unwrap().len();
    assert_eq!(modes, 1, "only the current one");
    let prompt = json!([{"type": "text", "text": "x"}]);
    assert_eq!(
        code(reader.refused("session/prompt", json!({"sessionId": session, "prompt": prompt})).await),
        "forbidden"
    );
    assert_eq!(code(reader.refused("session/delete", json!({"sessionId": session})).await), "forbidden");
    // A reader is not asked for permissions, and cannot answer those of others.
    let prompt = owner.start_prompt(&session, "look").await;
    let asked = owner.request().await;
    reader.answer(&asked, json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}})).await;
    owner.answer(&asked, json!({"outcome": {"outcome": "selected", "optionId": "reject_once"}})).await;
    owner.response(prompt).await;
    let failed = owner.updates.iter().rfind(|update| update["sessionUpdate"] == "tool_call_update").unwrap();
    assert_eq!(failed["status"], "failed");
    // A credential that is limited to another folder does not see the session.
    let mut stranger = Editor::connect(&server, "admin:/elsewhere").await;
    stranger.initialize(json!({})).await;
    let hidden = stranger
        .refused("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []}))
        .await;
    assert_ne!(hidden["code"], 0);
    assert_eq!(stranger.call("session/list", json!({})).await["sessions"], json!([]));
    // MCP servers are programs, and need `admin`.
    let mut prompter = Editor::connect(&server, "read,prompt").await;
    prompter.initialize(json!({})).await;
    let servers = json!([{"name": "x", "command": "/bin/true", "args": [], "env": []}]);
    let refused = prompter.refused("session/new", json!({"cwd": server.cwd(), "mcpServers": servers})).await;
    assert_eq!(code(refused), "forbidden");
}
