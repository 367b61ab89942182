//! R3: a request has one outcome, in the events, in the audit log, and for the caller of the API.

use serde_json::{Value, json};

use super::terminal::{Terminal, prompt, result, said, turn_end};

/// The entry with which the CLI ends a call after Esc. Versions from 2.1.327 on say if it had begun.
fn rejected(before_run: Option<bool>) -> Value {
    let mut entry = result("toolu_1", "The user doesn't want to proceed with this tool use.");
    entry["toolDenialKind"] = json!("user-rejected");
    entry["toolUseResult"] = json!("User rejected tool use");
    if let Some(before_run) = before_run {
        entry["toolDenialBeforeRun"] = json!(before_run);
    }
    entry
}

/// The entry after it. Before 2.1.327 only this one says if a call had begun.
fn interruption(message: Option<&str>) -> Value {
    let text = json!({"type": "text", "text": "[Request interrupted by user for tool use]"});
    let mut entry = json!({"type": "user", "message": {"role": "user", "content": [text]}});
    if let Some(message) = message {
        entry["interruptedMessageId"] = json!(message);
    }
    entry
}

/// Answers the request over the API. The terminal writes entries as soon as the hook has the answer.
async fn answer(terminal: &mut Terminal, decision: &str, entries: Vec<Value>) -> (u16, Value) {
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    let session = terminal.until(|session| session["pending_permissions"] == 1).await;
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let typed = async {
        assert!(held.output().await.contains(decision));
        terminal.write_meanwhile(entries);
    };
    tokio::join!(terminal.call("POST", &path, Some(json!({"decision": decision}))), typed).0
}

/// The outcomes of the request in the events, and the number of its lines in the audit log, after everything
/// in the file was read.
async fn outcomes(terminal: &mut Terminal) -> (Vec<(Value, Value)>, usize) {
    terminal.write([said("The last words."), turn_end()]);
    let is_last = |event: &Value| event.to_string().contains("The last words.");
    let events = loop {
        let events = terminal.events().await;
        if events.iter().any(is_last) {
            break events;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let resolved = events.iter().filter_map(|event| event.get("PermissionResolved"));
    let resolved = resolved.map(|event| (event["outcome"].clone(), event["by"].clone())).collect();
    let (_, audit) = terminal.call("GET", "audit", None).await;
    // One line alone is read as JSON.
    let audit = audit.as_str().map_or_else(|| audit.to_string(), str::to_owned);
    (resolved, audit.lines().filter(|line| line.contains("toolu_1")).count())
}

fn is_by_terminal((_, by): &(Value, Value)) -> bool {
    by == "terminal"
}

#[tokio::test]
async fn r3_a_call_that_was_allowed_and_then_interrupted_is_not_denied() {
    for entries in
        [vec![rejected(Some(false)), interruption(None)], vec![rejected(None), interruption(Some("msg_1"))]]
    {
        // In the moment of the answer, and long after it.
        for is_late in [false, true] {
            let mut terminal = Terminal::new().await;
            let at_once = if is_late { Vec::new() } else { entries.clone() };
            let (status, answered) = answer(&mut terminal, "allow", at_once).await;
            assert_eq!((status, &answered["outcome"]), (200, &json!("allowed")), "{answered}");
            if is_late {
                terminal.write(entries.clone());
            }
            let (outcomes, logged) = outcomes(&mut terminal).await;
            assert_eq!((outcomes.len(), logged), (1, 1), "{outcomes:?}");
            assert!(outcomes[0].0 == "Allowed" && !is_by_terminal(&outcomes[0]), "{outcomes:?}");
        }
    }
}

/// Whatever a later entry says: the caller was told that the call is allowed.
#[tokio::test]
async fn r3_an_answer_that_was_reported_as_taken_stays_so() {
    for (decision, entries) in [
        ("allow", vec![rejected(None), interruption(None)]),
        ("allow", vec![rejected(Some(true))]),
        ("deny", vec![rejected(None), interruption(Some("msg_1"))]),
    ] {
        let mut terminal = Terminal::new().await;
        let (status, answered) = answer(&mut terminal, decision, Vec::new()).await;
        assert_eq!(status, 200, "{answered}");
        terminal.write(entries);
        let (outcomes, logged) = outcomes(&mut terminal).await;
        assert_eq!((outcomes.len(), logged), (1, 1), "{decision}: {outcomes:?}");
        assert!(!is_by_terminal(&outcomes[0]), "{outcomes:?}");
    }
}

#[tokio::test]
async fn r3_a_rejection_at_the_keyboard_before_the_answer_is_the_one_outcome() {
    for entries in [
        vec![rejected(Some(true)), interruption(None)],
        vec![rejected(None), interruption(None)],
        vec![rejected(None), said("What shall I do instead?")],
    ] {
        let mut terminal = Terminal::new().await;
        let (status, problem) = answer(&mut terminal, "allow", entries).await;
        assert_eq!((status, &problem["winner"]["outcome"]), (409, &json!("denied")), "{problem}");
        assert_eq!(problem["winner"]["by"], "terminal");
        let (outcomes, logged) = outcomes(&mut terminal).await;
        assert_eq!((outcomes, logged), (vec![(json!("Denied"), json!("terminal"))], 1));
    }
}

/// Esc ends the hook before the answer of the API can reach it.
#[tokio::test]
async fn r3_a_request_whose_hook_is_gone_has_one_outcome_and_the_caller_gets_it() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    let session = terminal.until(|session| session["pending_permissions"] == 1).await;
    terminal.write([rejected(Some(true)), interruption(None)]);
    drop(held);
    let path = format!("sessions/{}/permissions/toolu_1", session["key"].as_str().unwrap());
    let (status, problem) = terminal.call("POST", &path, Some(json!({"decision": "allow"}))).await;
    assert_eq!(status, 409, "{problem}");
    let (outcomes, logged) = outcomes(&mut terminal).await;
    assert_eq!((outcomes.len(), logged), (1, 1), "{outcomes:?}");
    assert_ne!(outcomes[0].0, "Allowed");
}

/// The reason of the answer did not arrive: the key came first.
#[tokio::test]
async fn r11_a_denial_after_a_rejection_at_the_keyboard_is_told_so() {
    let mut terminal = Terminal::new().await;
    let (status, problem) =
        answer(&mut terminal, "deny", vec![rejected(Some(true)), interruption(None)]).await;
    assert_eq!((status, &problem["winner"]["outcome"]), (409, &json!("denied")), "{problem}");
    assert_eq!(problem["winner"]["by"], "terminal");
    let (outcomes, logged) = outcomes(&mut terminal).await;
    assert_eq!((outcomes, logged), (vec![(json!("Denied"), json!("terminal"))], 1));
}

#[tokio::test]
async fn r11_a_call_that_was_rejected_while_the_server_was_stopped_ends_once() {
    let mut terminal = Terminal::new().await;
    terminal.write([prompt("Make it")]);
    let held = terminal.ask("toolu_1", "make").await;
    terminal.until(|session| session["pending_permissions"] == 1).await;
    terminal.process("7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001", "waiting");
    terminal.stop().await;
    drop(held);
    terminal.write([rejected(Some(true)), interruption(None)]);
    terminal.process("7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001", "idle");
    terminal.start().await;
    terminal.until(|session| session["state"] == "idle").await;
    outcomes(&mut terminal).await;
    let events = terminal.events().await;
    let completed = events.iter().filter(|event| event.get("ToolCompleted").is_some());
    assert_eq!(completed.count(), 1, "{events:?}");
}
