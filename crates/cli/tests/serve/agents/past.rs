//! Past sessions of other agents, as the agents list them.

use serde_json::{Value, json};

use super::{TURN, events, serve, serve_script, session};
use crate::serve::machine::{Machine, children, until};

#[test]
fn past_sessions_of_another_agent_are_listed_in_the_allowed_folders_only() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let list = |query: &str| server.ask("GET", &format!("/v1/transcripts?backend=sample{query}"), None);
    let all = list("").json();
    let project = machine.path("project");
    let ids: Vec<&str> = all["items"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["own-1", "own-2"], "others are outside, or gone: {all}");
    let first = &all["items"][0];
    assert_eq!((&first["backend"], &first["cwd"]), (&json!("sample"), &json!(project)));
    assert_eq!(first["modified"], "2026-11-01T09:00:00.000Z");
    assert!(first["title"].as_str().unwrap().contains("flaky test"), "{first}");
    // In parts, as the agent divides them.
    let part = list("&limit=1").json();
    assert_eq!((part["items"].as_array().unwrap().len(), &part["next"]), (1, &json!("2")), "{part}");
    let rest = list("&limit=1&after=2").json();
    assert_eq!((&rest["items"][0]["id"], &rest["next"]), (&json!("own-2"), &Value::Null), "{rest}");
    assert_eq!(list("&project=nothing").json()["items"], json!([]));
    assert_eq!(list("&sort=oldest").status, 400);
    assert_eq!(server.ask("GET", "/v1/transcripts?backend=other", None).status, 400);
    until("the agents are gone", || children(server.child.id()).is_empty().then_some(()));
}

#[test]
fn only_devices_that_may_prompt_start_an_agent_for_its_list() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let device = json!({"name": "reader", "scopes": ["read"]});
    let made = server.ask("POST", "/v1/devices", Some(&device));
    assert_eq!(made.status, 201, "{made:?}");
    let token = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    let listed = server.ask_with("GET", "/v1/transcripts?backend=sample", &[("Authorization", &token)], None);
    assert_eq!(listed.status, 403, "{listed:?}");
    assert_eq!(server.ask_with("GET", "/v1/transcripts", &[("Authorization", &token)], None).status, 200);
}

#[test]
fn an_agent_that_lists_no_sessions_says_so() {
    let machine = Machine::new();
    let own = "[initialize]\nagentCapabilities = { loadSession = true }\n";
    let server = serve_script(&machine, "0", &format!("{own}{TURN}"));
    let listed = server.ask("GET", "/v1/transcripts?backend=sample", None);
    assert_eq!(listed.status, 409, "{listed:?}");
    assert!(listed.body.contains("`sample` does not list its sessions"), "{listed:?}");
}

#[test]
fn a_listed_session_is_resumed_in_its_folder_with_its_conversation() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let home = machine.path("home");
    let mut command =
        machine.tidings(&["start", "greet", "--backend", "sample", "--resume", "own-1", "--json"]);
    let data = server.data.to_str().unwrap();
    let output = command.args(["--data", data]).current_dir(&home).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let started: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(started["cwd"], json!(machine.path("project")), "that of the session, not this one");
    let key = started["key"].as_str().unwrap();
    let resumed = until("the answer", || {
        let session = session(&server, key);
        (session["last_line"] == "Hello, greet!").then_some(session)
    });
    assert_eq!(resumed["cli_session_ids"], json!(["own-1"]));
    let events = events(&server, key);
    assert!(events.contains("What did we do?") && events.contains("We fixed it."), "{events}");
    let again = json!({"cwd": machine.path("project"), "backend": "sample", "resume": "own-1"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&again)).status, 409, "it is open already");
}
