//! Sessions that people start themselves, in terminals and editors.
#![cfg(target_os = "linux")]

mod growing;
mod one_outcome;
mod policies;
mod states;
mod take_over;
mod terminal;

use serde_json::{Value, json};
use terminal::{SESSION, Terminal, assistant, prompt, result, said, turn_end};

/// Events without those that the server adds about the process.
fn of_conversation(events: &[Value]) -> Vec<Value> {
    let is_state = |event: &&Value| event.get("SessionStateChanged").is_none();
    events.iter().filter(is_state).cloned().collect()
}

fn count(events: &[Value], name: &str) -> usize {
    events.iter().filter(|event| event.get(name).is_some()).count()
}

#[tokio::test]
async fn a_session_in_a_terminal_is_listed_and_its_events_are_those_of_its_file() {
    let mut terminal = Terminal::new().await;
    let session = terminal.until(|_| true).await;
    assert_eq!((&session["origin"], &session["capabilities"]), (&json!("terminal"), &json!(["take_over"])));
    terminal.write([prompt("Hello")]);
    terminal.until(|session| session["first_prompt"] == "Hello").await;
    terminal.write([said("Good morning."), turn_end()]);
    terminal.until(|session| session["state"] == "idle" && session["last_line"] == "Good morning.").await;
    terminal.write([prompt("Again"), said("Good evening."), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 2).await;
    let events = terminal.events().await;
    assert_eq!(of_conversation(&events), of_conversation(&terminal.events_of_file()));
}

#[tokio::test]
async fn a_restarted_server_continues_where_it_stopped_and_stores_nothing_twice() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Hello"), said("Good morning."), turn_end(), prompt("And then?")]);
    terminal.process(SESSION, "busy");
    terminal.until(|session| session["state"] == "running" && session["totals"]["turns"] == 1).await;
    terminal.stop().await;
    terminal.write([said("Then we eat."), turn_end()]);
    terminal.process(SESSION, "idle");
    terminal.start().await;
    terminal.until(|session| session["state"] == "idle" && session["totals"]["turns"] == 2).await;
    terminal.write([prompt("And now?"), said("We sleep."), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 3).await;
    let events = terminal.events().await;
    assert_eq!(of_conversation(&events), of_conversation(&terminal.events_of_file()));
}

#[tokio::test]
async fn the_end_of_the_process_makes_the_session_one_that_the_server_can_resume() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Hello"), said("Good morning."), turn_end()]);
    let session = terminal.until(|session| session["totals"]["turns"] == 1).await;
    let path = format!("sessions/{}/input", session["key"].as_str().unwrap());
    let (status, problem) = terminal.call("POST", &path, Some(json!({"content": "Hi"}))).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    let stop = format!("sessions/{}/stop", session["key"].as_str().unwrap());
    assert_eq!(terminal.call("POST", &stop, None).await.0, 409, "the process is not ours");
    terminal.exit();
    let ended = terminal.until(|session| session["state"] == "stopped").await;
    let can =
        |session: &Value, what: &str| session["capabilities"].as_array().unwrap().contains(&json!(what));
    let ended = if can(&ended, "prompt") { ended } else { terminal.until(|it| can(it, "prompt")).await };
    assert_eq!(ended.get("limited"), None);
}

#[tokio::test]
async fn a_request_is_answered_over_the_api_and_the_hook_prints_the_decision() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    assert_eq!(held.status, 200);
    let session = terminal.until(|session| session["state"] == "needs_you").await;
    assert_eq!(session["capabilities"], json!(["answer", "take_over"]));
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let (status, answer) = terminal.call("POST", &path, Some(json!({"decision": "allow"}))).await;
    assert_eq!(status, 200, "{answer}");
    let output: Value = serde_json::from_str(&held.output().await).unwrap();
    assert_eq!(output["hookSpecificOutput"]["decision"]["behavior"], "allow");

    let held = terminal.ask("toolu_2", "make install").await;
    terminal.until(|session| session["pending_permissions"] == 1).await;
    let path = format!("sessions/{}/permissions/toolu_2", session["key"].as_str().unwrap());
    let deny = json!({"decision": "deny", "message": "Not here"});
    assert_eq!(terminal.call("POST", &path, Some(deny)).await.0, 200);
    let output: Value = serde_json::from_str(&held.output().await).unwrap();
    let decision = &output["hookSpecificOutput"]["decision"];
    assert_eq!((&decision["behavior"], &decision["message"]), (&json!("deny"), &json!("Not here")));
    let (_, audit) = terminal.call("GET", "audit", None).await;
    let key = session["key"].as_str().unwrap();
    let decided = audit.as_str().unwrap().lines().filter(|line| line.contains(key)).count();
    assert_eq!(decided, 2, "{audit}");
}

#[tokio::test]
async fn an_answer_at_the_keyboard_wins_over_a_later_one() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    let session = terminal.until(|session| session["pending_permissions"] == 1).await;
    terminal.hook("PostToolUse", &json!({"tool_name": "Bash", "tool_use_id": "toolu_1"}), "1").await;
    terminal.until(|session| session["pending_permissions"] == 0).await;
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let (status, problem) = terminal.call("POST", &path, Some(json!({"decision": "deny"}))).await;
    assert_eq!(status, 409, "{problem}");
    assert!(problem.to_string().contains("terminal"), "{problem}");
    assert_eq!(held.output().await, "", "the dialog has decided");
}

/// The key and the answer came at the same moment, and Claude Code took the key.
#[tokio::test]
async fn a_denial_that_came_too_late_is_told_so_and_the_session_shows_what_ran() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    let session = terminal.until(|session| session["pending_permissions"] == 1).await;
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let ran = async {
        assert!(held.output().await.contains("deny"));
        terminal.hook("PostToolUse", &json!({"tool_name": "Bash", "tool_use_id": "toolu_1"}), "1").await
    };
    let deny = Some(json!({"decision": "deny"}));
    let ((status, problem), _) = tokio::join!(terminal.call("POST", &path, deny), ran);
    assert_eq!((status, problem.to_string().contains("terminal")), (409, true), "{problem}");
    let events = terminal.events().await;
    let last = events.iter().rev().find_map(|event| event.get("PermissionResolved")).unwrap();
    assert_eq!((&last["outcome"], &last["by"]), (&json!("Allowed"), &json!("terminal")));
}

#[tokio::test]
async fn a_hook_that_is_gone_withdraws_its_request() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    let session = terminal.until(|session| session["pending_permissions"] == 1).await;
    drop(held);
    terminal.until(|session| session["pending_permissions"] == 0).await;
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let (status, problem) = terminal.call("POST", &path, Some(json!({"decision": "allow"}))).await;
    assert_eq!(status, 409, "{problem}");
}

#[tokio::test]
async fn the_session_file_overrules_a_hook_that_still_waits() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    terminal.until(|session| session["pending_permissions"] == 1).await;
    terminal.write([result("toolu_1", "made")]);
    terminal.until(|session| session["pending_permissions"] == 0).await;
    assert_eq!(held.output().await, "", "the dialog has decided");
    let events = terminal.events().await;
    let resolved = events.iter().find_map(|event| event.get("PermissionResolved")).unwrap();
    assert_eq!((&resolved["outcome"], &resolved["by"]), (&json!("Cancelled"), &json!("terminal")));
}

#[tokio::test]
async fn parallel_requests_are_told_apart_by_their_input() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Read them")]);
    let read = |path: &str| json!({"tool_name": "Read", "tool_input": {"file_path": path}});
    for (id, path) in [("toolu_a", "/a"), ("toolu_b", "/b")] {
        let block = json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}});
        terminal.write([assistant(&block)]);
        let mut call = read(path);
        call["tool_use_id"] = json!(id);
        terminal.hook("PreToolUse", &call, "1").await;
    }
    let second = terminal.hook("PermissionRequest", &read("/b"), "1").await;
    let first = terminal.hook("PermissionRequest", &read("/a"), "1").await;
    let session = terminal.until(|session| session["pending_permissions"] == 2).await;
    for (id, decision) in [("toolu_b", "deny"), ("toolu_a", "allow")] {
        let path = format!("sessions/{}/permissions/{id}", session["key"].as_str().unwrap());
        assert_eq!(terminal.call("POST", &path, Some(json!({"decision": decision}))).await.0, 200, "{id}");
    }
    assert!(second.output().await.contains("\"deny\""));
    assert!(first.output().await.contains("\"allow\""));
}

/// Hooks do not name their calls, so an answer to one of two identical requests may reach the other call.
#[tokio::test]
async fn an_identical_call_that_was_not_allowed_stays_a_request() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Read it twice")]);
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}});
    let named = |id: &str| {
        let mut call = read.clone();
        call["tool_use_id"] = json!(id);
        call
    };
    for id in ["toolu_a", "toolu_b"] {
        let block = json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/a"}});
        terminal.write([assistant(&block)]);
        terminal.hook("PreToolUse", &named(id), "1").await;
    }
    // The first hook is that of the second call.
    let of_b = terminal.hook("PermissionRequest", &read, "1").await;
    let of_a = terminal.hook("PermissionRequest", &read, "1").await;
    let session = terminal.until(|session| session["pending_permissions"] == 2).await;
    let path = |id: &str| format!("sessions/{}/permissions/{id}", session["key"].as_str().unwrap());
    let allow = || Some(json!({"decision": "allow"}));
    let ran = async {
        assert!(of_b.output().await.contains("\"allow\""));
        terminal.hook("PostToolUse", &named("toolu_b"), "1").await
    };
    let first = path("toolu_a");
    let ((status, problem), _) = tokio::join!(terminal.call("POST", &first, allow()), ran);
    assert_eq!(status, 200, "{problem}");
    terminal.write([result("toolu_b", "text")]);
    terminal.until(|session| session["pending_permissions"] == 1).await;
    let (status, problem) = terminal.call("POST", &path("toolu_b"), allow()).await;
    assert_eq!(status, 200, "{problem}");
    assert!(of_a.output().await.contains("\"allow\""));
}

#[tokio::test]
async fn requests_without_a_person_are_not_held() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let request = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let hook = terminal.hook("PermissionRequest", &request, "0").await;
    assert_eq!((hook.status, hook.output().await.as_str()), (200, ""));
    assert_eq!(terminal.until(|_| true).await["pending_permissions"], 0);
}

#[tokio::test]
async fn a_stopping_server_lets_go_of_held_requests() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    terminal.until(|session| session["pending_permissions"] == 1).await;
    terminal.stop().await;
    assert_eq!(held.output().await, "");
    terminal.start().await;
    terminal.until(|session| session["pending_permissions"] == 0 && session["state"] == "running").await;
}

#[tokio::test]
async fn a_denial_of_auto_mode_is_shown_and_logged() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let denied = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "reason": "It deletes files"});
    terminal.hook("PermissionDenied", &denied, "1").await.output().await;
    let resolved = terminal.event("PermissionResolved").await;
    assert_eq!((&resolved["by"], &resolved["reason"]), (&json!("auto mode"), &json!("It deletes files")));
    terminal.until_logged("auto mode").await;
}

#[tokio::test]
async fn messages_of_other_processes_are_refused() {
    let mut terminal = Terminal::new().await;
    terminal.until(|_| true).await;
    // A session whose CLI is another process than the parent of the hook.
    let other = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";
    let mut cli = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    terminal.process_of(cli.id(), other, "idle");
    for session in [other, "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a003"] {
        let input = json!({"command": "make"});
        let request = json!({"session_id": session, "tool_name": "Bash", "tool_input": input});
        let output = terminal.hook("PermissionRequest", &request, "1").await.output().await;
        assert!(!output.contains("hookSpecificOutput"), "{output}");
    }
    let (_, list) = terminal.call("GET", "sessions", None).await;
    let has_hooks = |session: &Value| session["capabilities"].to_string().contains("answer");
    assert!(!list["items"].as_array().unwrap().iter().any(has_hooks), "{list}");
    cli.kill().unwrap();
    cli.wait().unwrap();
    terminal.write([prompt("Hello")]);
    assert_eq!(terminal.hook("Stop", &json!({}), "1").await.status, 200);
}

/// Any process of the user can write a file that describes it.
#[tokio::test]
async fn p31_no_process_claims_the_session_of_another_one() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    terminal.until(|_| true).await;
    let mut claimant = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    terminal.process_of(claimant.id(), SESSION, "waiting");
    // A request of an unknown session makes the server look for processes before it answers.
    let input = json!({"command": "make"});
    let other = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a003";
    let other = json!({"session_id": other, "tool_name": "Bash", "tool_input": input});
    terminal.hook("PermissionRequest", &other, "1").await.output().await;
    let held = terminal.ask("toolu_1", "make").await;
    terminal.until(|session| session["pending_permissions"] == 1).await;
    drop(held);
    terminal.until(|session| session["pending_permissions"] == 0).await;
    // When the first process has ended, another one can continue the session.
    terminal.exit();
    terminal.hook("PermissionRequest", &other, "1").await.output().await;
    let output = terminal.ask("toolu_2", "make install").await.output().await;
    assert!(!output.contains("hookSpecificOutput"), "{output}");
    assert_eq!(terminal.until(|_| true).await["pending_permissions"], 0, "the session is the claimant's now");
    claimant.kill().unwrap();
    claimant.wait().unwrap();
}

#[tokio::test]
async fn sessions_in_ignored_folders_are_left_alone() {
    let mut terminal = Terminal::new().await;
    terminal.until(|_| true).await;
    terminal.stop().await;
    let project = terminal.folder.path().join("project").canonicalize().unwrap();
    std::fs::write(terminal.folder.path().join("data/ignored-folders"), project.to_str().unwrap()).unwrap();
    let second = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";
    terminal.process(second, "idle");
    terminal.start().await;
    terminal.hook("Stop", &json!({"session_id": second}), "1").await.output().await;
    let (_, list) = terminal.call("GET", "sessions", None).await;
    assert!(!list.to_string().contains(second), "{list}");
    assert!(list.to_string().contains(SESSION), "the session before stays");
}

#[tokio::test]
async fn a_cleared_conversation_is_another_session_of_the_same_process() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Hello"), said("Good morning."), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 1).await;
    let second = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";
    terminal.process(second, "idle");
    terminal.until(|session| session["state"] == "stopped").await;
    let (_, list) = terminal.call("GET", "sessions", None).await;
    let ids: Vec<&Value> =
        list["items"].as_array().unwrap().iter().map(|session| &session["cli_session_ids"][0]).collect();
    assert!(ids.contains(&&json!(second)), "{list}");
    assert_eq!(count(&terminal.events().await, "UserPrompt"), 1);
}
