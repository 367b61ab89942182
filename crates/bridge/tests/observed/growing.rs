//! Session files that grow without a known process: a container writes them, or an earlier version of the
//! CLI.

use std::time::Duration;

use serde_json::{Value, json};

use super::terminal::{SESSION, Terminal, prompt, said, turn_end};
use super::{count, of_conversation};

/// An entry that was written now, by a program.
fn now(mut entry: Value, entrypoint: &str) -> Value {
    entry["timestamp"] = json!(jiff::Timestamp::now().to_string());
    entry["entrypoint"] = json!(entrypoint);
    entry
}

/// Writes a turn into the session file, and waits until the server shows the session as wanted.
async fn grow_until(terminal: &mut Terminal, wanted: impl Fn(&Value) -> bool) -> Value {
    terminal.write([now(prompt("Hello"), "cli"), now(said("Good morning."), "cli"), turn_end()]);
    terminal.until(wanted).await
}

/// The folder of the processes comes later: the server must notice that, too.
#[tokio::test]
async fn a_session_whose_process_is_not_known_is_shown_and_nothing_else() {
    let mut terminal = Terminal::without_process(&["config/projects/-project"]);
    terminal.start().await;
    let session = grow_until(&mut terminal, |session| session["totals"]["turns"] == 1).await;
    assert_eq!((&session["capabilities"], &session["origin"]), (&json!([]), &json!("terminal")));
    assert!(session["limited"].as_str().unwrap().contains("only shown"), "{session}");
    let key = session["key"].as_str().unwrap();
    for (path, body) in [("input", json!({"content": "Hi"})), ("take_over", json!({})), ("stop", json!({}))] {
        let (status, problem) = terminal.call("POST", &format!("sessions/{key}/{path}"), Some(body)).await;
        assert_eq!(status, 409, "{path}: {problem}");
    }
    terminal.write([now(prompt("And then?"), "cli"), now(said("We eat."), "cli"), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 2).await;
    assert_eq!(of_conversation(&terminal.events().await), of_conversation(&terminal.events_of_file()));

    // Its process describes itself after all.
    std::fs::create_dir(terminal.folder.path().join("config/sessions")).unwrap();
    terminal.process(SESSION, "idle");
    terminal.until(|session| session["capabilities"] == json!(["take_over"])).await;
    terminal.write([now(prompt("And now?"), "cli"), now(said("We sleep."), "cli"), turn_end()]);
    terminal.until(|session| session["totals"]["turns"] == 3).await;
    assert_eq!(count(&terminal.events().await, "UserPrompt"), 3, "nothing is stored twice");
}

#[tokio::test]
async fn a_file_that_no_longer_grows_leaves_a_session_that_the_server_can_continue() {
    let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
    terminal.files_settle_after = Duration::from_secs(1);
    terminal.start().await;
    let ended = grow_until(&mut terminal, |session| {
        session["state"] == "stopped" && session["capabilities"].to_string().contains("prompt")
    });
    let ended = ended.await;
    assert_eq!((ended.get("limited"), &ended["totals"]["turns"]), (None, &json!(1)));
}

/// The last of these sessions is shown, so the others were looked at before.
#[tokio::test]
async fn restored_files_and_those_of_servers_and_of_ignored_folders_are_not_shown() {
    let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
    std::fs::create_dir_all(terminal.folder.path().join("data")).unwrap();
    std::fs::write(terminal.folder.path().join("data/ignored-folders"), "/srv/private\n").unwrap();
    terminal.start().await;
    let other = |number: u32| format!("7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a10{number}");
    let write = |number: u32, entry: &Value| {
        let path = format!("config/projects/-project/{}.jsonl", other(number));
        std::fs::write(terminal.folder.path().join(path), format!("{entry}\n")).unwrap();
    };
    let with = |entrypoint: &str, timestamp: &str, cwd: &str| {
        let mut entry = prompt("Hello");
        entry["cwd"] = json!(cwd);
        entry["entrypoint"] = json!(entrypoint);
        entry["timestamp"] = json!(timestamp);
        entry
    };
    let recent = jiff::Timestamp::now().to_string();
    let entries = [
        with("cli", "2026-01-01T00:00:00Z", "/"),
        with("tidings", &recent, "/"),
        with("cli", &recent, "/srv/private/x"),
        with("cli", &recent, "relative"),
        with("cli", &recent, "/no-such-folder/../etc"),
        // A folder of a container, which does not exist here.
        with("cli", &recent, "/no-such-folder/of/a/container"),
    ];
    for (number, entry) in (0..).zip(&entries) {
        write(number, entry);
    }
    grow_until(&mut terminal, |session| session["totals"]["turns"] == 1).await;
    let (_, list) = terminal.call("GET", "sessions", None).await;
    let shown: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["cli_session_ids"][0].as_str().unwrap())
        .collect();
    assert_eq!(shown, [other(5).as_str(), SESSION], "{list}");
}

/// The last lines of an agent can be reported after its end. Another session is shown afterwards, so these
/// were looked at before.
#[tokio::test]
async fn a_session_of_the_server_stays_usable_when_its_file_grows_without_an_agent() {
    let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
    terminal.write([prompt("Hello"), said("Good morning."), turn_end()]);
    terminal.start().await;
    let cwd = terminal.folder.path().join("project");
    let (status, made) =
        terminal.call("POST", "sessions", Some(json!({"cwd": cwd, "resume": SESSION}))).await;
    assert_eq!((status, &made["origin"]), (201, &json!("server")), "{made}");

    let mut late = now(said("We eat."), "");
    late.as_object_mut().unwrap().remove("entrypoint");
    terminal.write([late]);
    let (id, mut other) = ("7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a102", now(prompt("Hello"), "cli"));
    other["cwd"] = json!(cwd);
    let path = format!("config/projects/-project/{id}.jsonl");
    std::fs::write(terminal.folder.path().join(path), format!("{other}\n")).unwrap();
    terminal.until_session(id, |_| true).await;

    let (_, session) =
        terminal.call("GET", &format!("sessions/{}", made["key"].as_str().unwrap()), None).await;
    assert!(session["capabilities"].to_string().contains("prompt"), "{session}");
    assert_eq!((session.get("limited"), &session["origin"]), (None, &json!("server")));
}
