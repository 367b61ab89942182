//! Sessions that are taken over from a terminal. A child process stands for the CLI.

use std::process::{Child, Command};

use serde_json::{Value, json};

use super::terminal::{SESSION, Terminal, prompt, said, turn_end};

/// A CLI that ends in order when it gets SIGTERM, and an idle session that it holds.
async fn idle_terminal() -> (Terminal, Child) {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Hello"), said("Good morning."), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 1).await;
    terminal.exit();
    terminal.until(|session| session["state"] == "stopped").await;
    let script = "trap 'exit 7' TERM; while :; do sleep 0.05; done";
    let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
    terminal.process_of(child.id(), SESSION, "idle");
    terminal.until(|session| can_take_over(session) && session["state"] == "idle").await;
    (terminal, child)
}

fn can_take_over(session: &Value) -> bool {
    session["capabilities"].to_string().contains("take_over")
}

async fn take_over(terminal: &Terminal) -> (u16, Value) {
    let session = terminal.until(|_| true).await;
    let path = format!("sessions/{}/take_over", session["key"].as_str().unwrap());
    terminal.call("POST", &path, Some(json!({}))).await
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_terminal_that_is_busy_or_shows_a_dialog_is_left_alone() {
    let (terminal, mut child) = idle_terminal().await;
    for (status, reason) in [("busy", "working"), ("waiting", "dialog")] {
        terminal.process_of(child.id(), SESSION, status);
        let (code, problem) = take_over(&terminal).await;
        assert_eq!(code, 409, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(reason), "{problem}");
    }
    assert!(child.try_wait().unwrap().is_none(), "it still runs");
    end(child);
}

#[tokio::test]
async fn an_idle_terminal_is_ended_in_order_and_its_session_is_no_longer_observed() {
    let (terminal, mut child) = idle_terminal().await;
    let events = terminal.events().await.len();
    // The exit status of the process is not collected meanwhile: it is a zombie, and counts as gone.
    let (code, problem) = take_over(&terminal).await;
    assert_ne!(code, 409, "{problem}");
    assert_eq!(child.wait().unwrap().code(), Some(7), "it was asked to end, and not killed");
    let session = terminal.until(|session| session.get("limited").is_none()).await;
    assert!(!can_take_over(&session), "{session}");
    let (again, problem) = take_over(&terminal).await;
    assert_eq!(again, 409, "{problem}");
    let later = terminal.events().await;
    assert!(!later[events..].iter().any(|event| event.get("UserPrompt").is_some()), "{later:?}");
}

/// R7: the terminal is ended only if an agent can continue its session.
#[tokio::test]
async fn r7_a_terminal_is_left_alone_if_no_agent_could_continue_its_session() {
    let (terminal, mut child) = idle_terminal().await;
    terminal.claude("2.1.196");
    let (code, problem) = take_over(&terminal).await;
    assert_eq!(code, 502, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("2.1.196 is too old"), "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("claude update"), "{problem}");
    std::fs::remove_file(terminal.folder.path().join("claude")).unwrap();
    let (code, problem) = take_over(&terminal).await;
    assert_eq!(code, 502, "{problem}");
    assert!(child.try_wait().unwrap().is_none(), "it still runs");
    end(child);
}

#[tokio::test]
async fn a_session_of_an_editor_is_not_taken_over() {
    let (terminal, child) = idle_terminal().await;
    let path = terminal.folder.path().join(format!("config/sessions/{}.json", child.id()));
    let mut process: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    terminal.until(|session| session["state"] == "stopped").await;
    process["entrypoint"] = json!("claude-vscode");
    std::fs::write(&path, process.to_string()).unwrap();
    // The end of the process before has an intermediate state that is limited, too.
    let is_editor = |session: &Value| session["limited"].to_string().contains("in an editor");
    let session = terminal.until(is_editor).await;
    assert!(!can_take_over(&session), "{session}");
    let (code, problem) = take_over(&terminal).await;
    assert_eq!((code, problem["detail"].to_string().contains("editor")), (409, true), "{problem}");
    end(child);
}

/// The price of the model is not known, and nothing is made up.
#[tokio::test]
async fn the_model_of_an_observed_session_is_shown_and_an_unknown_price_stays_unknown() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Hello"), said("Good morning."), turn_end()]);
    let session = terminal.until(|session| session["model"] == "claude-x").await;
    assert_eq!(session["totals"]["cost_usd"], json!(0.0));
    assert_eq!(session["totals"]["cost_incomplete"], json!(true));
    let mut known = said("Good evening.");
    known["message"]["id"] = json!("msg_2");
    known["message"]["model"] = json!("claude-opus-4-5");
    terminal.write([prompt("Again"), known.clone(), known, turn_end()]);
    let session = terminal.until(|session| session["model"] == "claude-opus-4-5").await;
    let cost = session["totals"]["cost_usd"].as_f64().unwrap();
    assert!(cost > 0.0);
    terminal.stop().await;
    terminal.start().await;
    let session = terminal.until(|session| session.get("limited").is_some()).await;
    assert_eq!(session["totals"]["cost_usd"].as_f64(), Some(cost), "counted once");
}
