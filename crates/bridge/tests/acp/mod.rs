//! Editors on `/v1/acp`: the Agent Client Protocol over a WebSocket, with a stand-in for Claude Code.

mod editor;
mod hostile;
mod restarts;

use serde_json::{Value, json};

use self::editor::{Editor, editor_server};
use crate::test_server::{HELLO, TestServer};

const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    thinking = "Hm."
    [[turn.block]]
    text = "Let me look."
    [[turn.block]]
    tool = "Bash"
    input = { command = "ls" }
    ask = true
    result = "README.md"
    [[turn]]
    text = "There is a README."
    [[turn]]
    text = "Again."
"#;

fn kinds(updates: &[Value]) -> Vec<String> {
    let mut kinds: Vec<String> =
        updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap().to_owned()).collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn a_prompt_streams_updates_and_ends_with_its_reason() {
    let server = editor_server(HELLO).await;
    let mut editor = Editor::connect(&server, "admin").await;
    let initialized = editor.initialize(json!({})).await;
    assert_eq!(initialized["protocolVersion"], 1);
    assert_eq!(initialized["agentCapabilities"]["loadSession"], true);
    let session = editor.new_session(&server).await;
    let response = editor.prompt(&session, "hello").await;
    assert_eq!(response["stopReason"], "end_turn");
    assert!(response["_meta"]["tidings"]["cursor"].is_string());
    assert_eq!(editor.text(), "Hello to you.");
    let kinds = kinds(&editor.updates);
    assert!(!kinds.contains(&"user_message_chunk".to_owned()), "it shows its own prompt already: {kinds:?}");

    // A second editor sees the same session, and loads it before the response.
    let mut other = Editor::ready(&server).await;
    let loaded = other
        .call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []}))
        .await;
    assert_eq!(loaded["modes"]["currentModeId"], "default");
    assert_eq!(other.text(), "Hello to you.");
    assert_eq!(other.updates[0]["content"]["text"], "hello");
    assert_eq!(editor.prompt(&session, "more").await["stopReason"], "end_turn");
    while !other.text().ends_with("again.") {
        other.next_update().await;
    }
    assert!(
        other
            .updates
            .iter()
            .any(|update| update["sessionUpdate"] == "user_message_chunk"
                && update["content"]["text"] == "more")
    );

    let listed = other.call("session/list", json!({})).await;
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(listed["sessions"][0]["title"], "more", "the last prompt, as in every list of sessions");
    let elsewhere = other.call("session/list", json!({"cwd": "/elsewhere"})).await;
    assert_eq!(elsewhere["sessions"], json!([]));
}

#[tokio::test]
async fn permissions_are_asked_and_the_first_answer_wins() {
    let server = editor_server(ASKS).await;
    let (mut editor, session) = Editor::open(&server).await;
    let mut other = Editor::ready(&server).await;
    other.call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []})).await;
    let prompt = editor.start_prompt(&session, "look").await;
    let asked = editor.request().await;
    assert_eq!(asked["method"], "session/request_permission");
    assert_eq!(asked["params"]["toolCall"]["kind"], "execute");
    let option = &asked["params"]["options"][0];
    assert_eq!(
        (option["optionId"].as_str(), option["kind"].as_str()),
        (Some("allow_once"), Some("allow_once"))
    );
    let same = other.request().await;
    assert_eq!(same["params"]["toolCall"]["toolCallId"], asked["params"]["toolCall"]["toolCallId"]);
    editor.answer(&asked, json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}})).await;
    // The other editor learns that its dialog is of no use.
    let cancelled = other.notification("$/cancel_request").await;
    assert_eq!(cancelled["requestId"], same["id"]);
    assert_eq!(editor.response(prompt).await["stopReason"], "end_turn");
    let kinds = kinds(&editor.updates);
    for kind in ["agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"] {
        assert!(kinds.contains(&kind.to_owned()), "{kind} in {kinds:?}");
    }
    let completed =
        editor.updates.iter().rfind(|update| update["sessionUpdate"] == "tool_call_update").unwrap();
    assert_eq!(completed["status"], "completed");
    assert!(editor.text().ends_with("There is a README."));
}

/// F52 and F57: a cancelled prompt ends, and its late output does not belong to the next one.
#[tokio::test]
async fn f52_a_cancelled_prompt_ends_as_cancelled_and_the_next_is_its_own() {
    let server = editor_server(ASKS).await;
    let (mut editor, session) = Editor::open(&server).await;
    let prompt = editor.start_prompt(&session, "look").await;
    let asked = editor.request().await;
    editor.notify("session/cancel", json!({"sessionId": session})).await;
    editor.answer(&asked, json!({"outcome": {"outcome": "cancelled"}})).await;
    assert_eq!(editor.response(prompt).await["stopReason"], "cancelled");
    editor.updates.clear();
    assert_eq!(editor.prompt(&session, "go on").await["stopReason"], "end_turn");
    assert!(!editor.text().contains("Let me look"), "{}", editor.text());
}

#[tokio::test]
async fn settings_change_for_all_clients() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    assert_eq!(
        editor.call("session/set_mode", json!({"sessionId": session, "modeId": "plan"})).await,
        json!({})
    );
    let options = editor
        .call(
            "session/set_config_option",
            json!({"sessionId": session, "configId": "model", "value": "opus"}),
        )
        .await;
    let values: Vec<&Value> =
        options["configOptions"].as_array().unwrap().iter().map(|option| &option["currentValue"]).collect();
    assert_eq!(values, [&json!("plan"), &json!("opus")]);
    let view = server.sessions.find(&session).await.unwrap();
    assert_eq!((view.permission_mode.as_deref(), view.model.as_deref()), (Some("plan"), Some("opus")));
    let refused = editor.refused("session/set_mode", json!({"sessionId": session, "modeId": "wild"})).await;
    assert_eq!(refused["code"], -32602);
    let modes = editor.opened["modes"]["availableModes"].as_array().unwrap().iter();
    let modes: Vec<&str> = modes.map(|mode| mode["id"].as_str().unwrap()).collect();
    assert_eq!(modes, ["default", "acceptEdits", "plan", "dontAsk"], "the server does not allow more");
    assert_eq!(editor.call("session/close", json!({"sessionId": session})).await, json!({}));
    let gone = editor.refused("session/prompt", json!({"sessionId": session, "prompt": []})).await;
    assert_eq!(gone["code"], -32002);
}

/// A photo has a few megabytes.
#[tokio::test]
async fn r9_a_prompt_with_a_large_picture_is_answered() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(3_400_000, 7);
    let picture = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, picture);
    let prompt = json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "data": picture, "mimeType": "image/png"},
    ]);
    let answer = editor.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
    assert_eq!(answer["stopReason"], "end_turn");
    // One that no model takes is refused, with its id.
    let long = json!([{"type": "text", "text": "x".repeat(9 << 20)}]);
    let refused = editor.refused("session/prompt", json!({"sessionId": session, "prompt": long})).await;
    assert_eq!(refused["code"], -32602);

    // An editor that loads the session gets the picture, too.
    let mut other = Editor::ready(&server).await;
    other.call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []})).await;
    let shown: Vec<_> =
        other.updates.iter().filter(|update| update["sessionUpdate"] == "user_message_chunk").collect();
    assert_eq!(shown[0]["content"]["text"], "Look");
    assert_eq!(shown[1]["content"]["data"], picture.as_str(), "r12: a load keeps images");
}

/// An editor that waits for an answer which never comes looks as if it hung.
#[tokio::test]
async fn r9_a_message_that_is_too_long_is_answered_with_its_id_on_a_socket() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    let long = json!([{"type": "text", "text": "x".repeat(20 << 20)}]);
    let refused = editor.refused("session/prompt", json!({"sessionId": session, "prompt": long})).await;
    assert_eq!(refused["code"], -32600);
    assert_eq!(editor.prompt(&session, "hello").await["stopReason"], "end_turn", "the connection lives");
}

/// The agent has died, and the server does not know it yet.
#[tokio::test]
async fn r12_a_prompt_right_after_an_agent_died_is_answered() {
    let server = TestServer::builder().agent(HELLO, |agent| agent.dying_at("too late"));
    let server = server.api().start().await;
    let (mut editor, session) = Editor::open(&server).await;
    assert_eq!(editor.prompt(&session, "hello").await["stopReason"], "end_turn");
    let prompt = json!([{"type": "text", "text": "too late"}]);
    let error = editor.refused("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
    assert_eq!(error["code"], -32603, "{error}");
    assert_eq!(editor.prompt(&session, "and now?").await["stopReason"], "end_turn", "it starts again");
}

#[tokio::test]
async fn r12_a_refused_delete_leaves_the_session_open() {
    let server = editor_server(HELLO).await;
    let (_owner, session) = Editor::open(&server).await;
    let mut editor = Editor::connect(&server, "read,prompt").await;
    editor.initialize(json!({})).await;
    editor.call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []})).await;
    editor.refused("session/delete", json!({"sessionId": session})).await;
    assert_eq!(editor.prompt(&session, "hello").await["stopReason"], "end_turn");
}

#[tokio::test]
async fn r12_the_effort_of_the_model_is_an_option_of_a_running_agent() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    editor.prompt(&session, "hello").await;
    while !editor.updates.iter().any(|update| update["sessionUpdate"] == "config_option_update") {
        editor.next_update().await;
    }
    let effort = |options: &Value| {
        let mut options = options["configOptions"].as_array().unwrap().iter();
        options.find(|option| option["id"] == "effort").cloned().unwrap()
    };
    let update = editor.updates.iter().rfind(|update| update["sessionUpdate"] == "config_option_update");
    let offered = effort(update.unwrap());
    assert_eq!((&offered["category"], &offered["currentValue"]), (&json!("thought_level"), &json!("medium")));
    let set = json!({"sessionId": session, "configId": "effort", "value": "high"});
    let set = editor.call("session/set_config_option", set).await;
    assert_eq!(effort(&set)["currentValue"], "high");
    let unknown = json!({"sessionId": session, "configId": "effort", "value": "beyond"});
    assert_eq!(editor.refused("session/set_config_option", unknown).await["code"], -32602);
}

#[tokio::test]
async fn questions_are_forms_and_plans_have_options() {
    let server = editor_server(crate::test_server::QUESTION).await;
    let mut editor = Editor::connect(&server, "admin").await;
    editor.initialize(json!({"elicitation": {"form": {}}})).await;
    let session = editor.new_session(&server).await;
    let prompt = editor.start_prompt(&session, "ask me").await;
    let asked = editor.request().await;
    assert_eq!(asked["method"], "elicitation/create");
    let field = &asked["params"]["requestedSchema"]["properties"]["question_0"];
    assert_eq!(field["oneOf"][1]["const"], "Blue");
    editor.answer(&asked, json!({"action": "accept", "content": {"question_0": "Blue"}})).await;
    assert_eq!(editor.response(prompt).await["stopReason"], "end_turn");
    assert!(editor.text().ends_with("Blue it is."));
}
