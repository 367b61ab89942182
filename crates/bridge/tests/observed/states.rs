//! The state of a session as its process describes it, with and without hooks.

use serde_json::{Value, json};

use super::count;
use super::terminal::{Terminal, assistant, prompt, result, said, turn_end};
use crate::test_server::until;

/// The dialog of a permission request, as Claude Code 2.1.327 writes it into its process file.
fn permission_prompt() -> Value {
    json!({"waitingFor": "permission prompt"})
}

fn call(id: &str) -> Value {
    assistant(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}))
}

/// A response with the reason for which it ended.
fn ended(mut response: Value, reason: &str) -> Value {
    response["message"]["stop_reason"] = json!(reason);
    response
}

async fn inbox(terminal: &Terminal) -> Vec<Value> {
    let (status, page) = terminal.call("GET", "inbox?state=all", None).await;
    assert_eq!(status, 200, "{page}");
    page["items"].as_array().unwrap().clone()
}

/// Waits until the inbox is as wanted.
async fn until_inbox(terminal: &Terminal, wanted: impl Fn(&[Value]) -> bool) {
    until(async || inbox(terminal).await, |items| wanted(items)).await;
}

fn waits(item: &Value) -> bool {
    item["kind"] == "dialog" && item["waiting"] == true
}

#[tokio::test]
async fn r2_a_session_that_waits_in_its_terminal_waits_everywhere_without_hooks() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it"), call("toolu_1")]);
    terminal.process_with("waiting", &permission_prompt());
    let session = terminal.until(|session| session["state"] == "needs_you").await;
    assert_eq!(
        (&session["waits_for"], &session["pending_permissions"]),
        (&json!("permission prompt"), &json!(0))
    );
    assert_eq!(session["capabilities"], json!(["take_over"]));
    assert!(session["limited"].as_str().unwrap().contains("waits there (permission prompt)"), "{session}");
    until_inbox(&terminal, |items| items.iter().any(waits)).await;

    // After a restart it still does.
    terminal.stop().await;
    terminal.start().await;
    terminal.until(|session| session["state"] == "needs_you").await;
    until_inbox(&terminal, |items| items.iter().any(waits)).await;

    terminal.process_with("busy", &json!({}));
    let session = terminal.until(|session| session["state"] == "running").await;
    assert_eq!(session.get("waits_for"), None);
    until_inbox(&terminal, |items| !items.iter().any(waits)).await;
    terminal.write([result("toolu_1", "made"), said("It is made."), turn_end()]);
    terminal.process_with("idle", &json!({}));
    terminal.until(|session| session["state"] == "idle" && session["totals"]["turns"] == 1).await;
    let events = terminal.events().await;
    assert_eq!(count(&events, "ToolCompleted"), 1, "{events:?}");
}

/// The hook may come late, for example after a pause of the server.
#[tokio::test]
async fn r2_the_request_of_a_hook_takes_the_place_of_the_dialog() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it"), call("toolu_1")]);
    terminal.process_with("waiting", &permission_prompt());
    terminal.until(|session| session["waits_for"] == "permission prompt").await;
    let request = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let held = terminal.hook("PermissionRequest", &request, "1").await;
    let is_answerable = |session: &Value| {
        session["pending_permissions"] == 1 && session["capabilities"] == json!(["answer", "take_over"])
    };
    let session = terminal.until(is_answerable).await;
    assert_eq!(session.get("waits_for"), None);
    until_inbox(&terminal, |items| {
        !items.iter().any(waits) && items.iter().any(|item| item["kind"] == "permission")
    })
    .await;
    // Its call is named by the file, since no hook has announced it: its result settles the request.
    let path = format!("permissions?session={}", session["key"].as_str().unwrap());
    let (_, pending) = terminal.call("GET", &path, None).await;
    assert_eq!(pending["items"][0]["tool_use_id"], "toolu_1", "{pending}");
    terminal.write([result("toolu_1", "made")]);
    terminal.process_with("busy", &json!({}));
    terminal.until(|session| session["pending_permissions"] == 0 && session["state"] == "running").await;
    assert_eq!(held.output().await, "", "the dialog has decided");
}

/// Such files do not mark the end of a turn, and their processes exit a moment after it.
#[tokio::test]
async fn r4_a_run_without_a_terminal_that_has_answered_ends_as_finished() {
    let mut terminal = Terminal::new().await;
    terminal.process_with("busy", &json!({"entrypoint": "sdk-cli"}));
    let use_tool = ended(call("toolu_1"), "tool_use");
    let answer = ended(said("Good morning."), "end_turn");
    terminal.write([prompt("Hello"), use_tool, result("toolu_1", "made"), answer]);
    terminal.until(|session| session["state"] == "running").await;
    terminal.exit();
    let session = terminal.until(|session| session["state"] == "stopped").await;
    assert_eq!((&session["totals"]["turns"], session.get("error")), (&json!(1), None), "{session}");
    let events = terminal.events().await;
    assert_eq!((count(&events, "Error"), count(&events, "Complete")), (0, 1), "{events:?}");
    assert_eq!(inbox(&terminal).await, Vec::<Value>::new());
}

#[tokio::test]
async fn r4_a_run_that_ends_in_the_middle_of_a_call_is_interrupted() {
    let mut terminal = Terminal::new().await;
    terminal.process_with("busy", &json!({"entrypoint": "sdk-cli"}));
    terminal.write([prompt("Hello"), ended(call("toolu_1"), "tool_use")]);
    terminal.until(|session| session["state"] == "running").await;
    terminal.exit();
    terminal.until(|session| session["state"] == "interrupted").await;
    until_inbox(&terminal, |items| items.iter().any(|item| item["kind"] == "agent_gone")).await;
}

#[tokio::test]
async fn r8_a_session_in_the_background_waits_with_its_request() {
    let mut terminal = Terminal::new().await;
    terminal.exit();
    terminal.until(|session| session["state"] == "stopped").await;
    terminal.process_with("busy", &json!({"kind": "bg"}));
    terminal.until(|session| session["state"] != "stopped").await;
    terminal.write([prompt("Make it"), call("toolu_1")]);
    let request = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    // No person attends it, but it shows a dialog to the one who comes.
    let held = terminal.hook("PermissionRequest", &request, "0").await;
    let session = terminal.until(|session| session["state"] == "needs_you").await;
    assert!(session["capabilities"].to_string().contains("answer"), "{session}");
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let (status, answer) = terminal.call("POST", &path, Some(json!({"decision": "allow"}))).await;
    assert_eq!(status, 200, "{answer}");
    assert!(held.output().await.contains("allow"));
}

#[tokio::test]
async fn r8_a_process_that_is_kept_ready_is_no_session() {
    let terminal = Terminal::new().await;
    let second = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";
    let mut spare = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    terminal.described(spare.id(), second, "idle", &json!({"kind": "bg", "spare": true}));
    // A hook of an unknown session makes the server look for processes before it answers.
    let other = json!({"session_id": "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a003"});
    terminal.hook("Stop", &other, "1").await.output().await;
    let (_, list) = terminal.call("GET", "sessions", None).await;
    assert!(!list.to_string().contains(second), "{list}");
    // It is one as soon as it is used.
    terminal.described(spare.id(), second, "busy", &json!({"kind": "bg"}));
    terminal.until_session(second, |session| session["origin"] == "background").await;
    spare.kill().unwrap();
    spare.wait().unwrap();
}
