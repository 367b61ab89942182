//! Connections that are cut, and servers that restart.

use serde_json::{Value, json};

use super::editor::{Editor, editor_server};
use super::{ASKS, HELLO};
use crate::test_server::TestServer;

async fn resume(editor: &mut Editor, server: &TestServer, session: &str, after: &str) -> Value {
    let meta = json!({"tidings": {"after": after}});
    let params = json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": [], "_meta": meta});
    editor.call("session/resume", params).await
}

/// The updates without the list of commands, which every opened session gets.
fn told(updates: &[Value]) -> Vec<&Value> {
    updates.iter().filter(|update| update["sessionUpdate"] != "available_commands_update").collect()
}

#[tokio::test]
async fn a_client_resumes_after_any_of_its_cursors_and_misses_nothing() {
    let server = editor_server(ASKS).await;
    let (mut editor, session) = Editor::open(&server).await;
    let prompt = editor.start_prompt(&session, "look").await;
    let asked = editor.request().await;
    editor.answer(&asked, json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}})).await;
    editor.response(prompt).await;
    let last = editor.cursors.last().unwrap().clone();
    for (at, cursor) in editor.cursors.iter().enumerate() {
        // An event may become several updates; the client has all or none of them.
        if editor.cursors.get(at + 1) == Some(cursor) {
            continue;
        }
        let mut again = Editor::ready(&server).await;
        let opened = resume(&mut again, &server, &session, cursor).await;
        assert_eq!(opened["_meta"]["tidings"]["cursor"], cursor.as_str());
        assert_eq!(opened["_meta"]["tidings"]["pending"], json!([]));
        while *cursor != last && again.cursors.last() != Some(&last) {
            again.next_update().await;
        }
        let missed = told(&editor.updates[editor.updates.len() - (editor.cursors.len() - at - 1)..]);
        let mut got = told(&again.updates);
        got.truncate(missed.len());
        assert_eq!(got, missed, "after {cursor}");
    }
}

#[tokio::test]
async fn a_pending_request_is_asked_again_under_the_same_id() {
    let server = editor_server(ASKS).await;
    let (mut editor, session) = Editor::open(&server).await;
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look"}], "_meta": {"tidings": {"clientId": "k/1"}}});
    editor.start("session/prompt", params.clone()).await;
    let asked = editor.request().await;
    let cursor = editor.cursors.last().unwrap().clone();
    drop(editor);
    // The connection is lost, the agent waits, and the client sends its prompt again.
    let mut again = Editor::ready(&server).await;
    let opened = resume(&mut again, &server, &session, &cursor).await;
    assert_eq!(opened["_meta"]["tidings"]["pending"], json!([asked["id"]]));
    assert_eq!(again.request().await["id"], asked["id"]);
    let prompt = again.start("session/prompt", params.clone()).await;
    again.answer(&asked, json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}})).await;
    assert_eq!(again.response(prompt).await["stopReason"], "end_turn");
    assert_eq!(again.text(), "There is a README.");
    // The response was lost, too: the same prompt gets the same end, and is not sent a second time.
    assert_eq!(again.call("session/prompt", params).await["stopReason"], "end_turn");
    assert_eq!(server.sessions.find(&session).await.unwrap().totals.turns, 1);
}

/// F57: a turn that ended with its agent ends the prompt.
#[tokio::test]
async fn f57_a_prompt_ends_with_an_agent_that_did_not_survive() {
    let server = editor_server(ASKS).await;
    let (mut editor, session) = Editor::open(&server).await;
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look"}], "_meta": {"tidings": {"clientId": "k/1"}}});
    let prompt = editor.start("session/prompt", params.clone()).await;
    editor.request().await;
    server.sessions.drain().await;
    let ended = editor.wait(|message| message["id"] == prompt).await;
    assert!(ended.get("error").is_some() || ended["result"]["stopReason"] == "cancelled", "{ended}");
    let cursor = editor.cursors.last().unwrap().clone();
    let server = server.again().start().await;
    let mut again = Editor::ready(&server).await;
    resume(&mut again, &server, &session, &cursor).await;
    let prompt = again.start("session/prompt", params).await;
    let ended = again.wait(|message| message["id"] == prompt).await;
    assert!(ended.get("error").is_some() || ended["result"]["stopReason"] == "cancelled", "{ended}");
}

#[tokio::test]
async fn a_session_on_disk_is_found_by_its_id_without_the_journal() {
    let server = editor_server(HELLO).await;
    let (mut editor, session) = Editor::open(&server).await;
    editor.prompt(&session, "hello").await;
    server.sessions.drain().await;
    let server = server.again().empty_journal().start().await;
    let mut again = Editor::ready(&server).await;
    again.call("session/load", json!({"sessionId": session, "cwd": server.cwd(), "mcpServers": []})).await;
    assert_eq!(again.text(), "Hello to you.");
    assert_eq!(again.prompt(&session, "more").await["stopReason"], "end_turn");
}
