//! Commands that talk to a server, against one that plays the demo.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::house::{House, Running, until};

const SCRIPT: &str = r#"
    [[turn]]
    [[turn.block]]
    text = "Let me look."
    [[turn.block]]
    tool = "Bash"
    input = { command = "make test" }
    ask = true
    result = "all well"
    [[turn]]
    text = "All is well."
    [[turn]]
    text = "And that was all."
"#;

/// A machine with a server that plays a script.
struct Demo {
    house: House,
    server: Running,
}

impl Demo {
    fn start() -> Self {
        let house = House::new();
        let script = house.path("script.toml");
        fs::write(&script, SCRIPT).unwrap();
        let server = house.serve(&["--demo", "--script", script.to_str().unwrap()]);
        Demo { house, server }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.house.tidings(args).arg("--data").arg(&self.server.data).output().unwrap()
    }

    /// What a command that must work prints.
    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {talk}");
        String::from_utf8(output.stdout).unwrap() + &talk
    }

    /// The only session, once it is in a state.
    fn session(&self, state: &str) -> Value {
        until(&format!("the session is {state}"), || {
            let session: Value = serde_json::from_str(self.text(&["ps", "--json"]).lines().next()?).unwrap();
            (session["state"] == state).then_some(session)
        })
    }
}

#[test]
fn a_session_is_listed_answered_watched_and_stopped() {
    let server = Demo::start();
    let session = server.session("needs_you");
    let number = session["handle"].to_string();
    let list = server.text(&["ps"]);
    assert!(session["first_prompt"].is_string(), "what to call it without a title: {session}");
    assert!(list.contains("needs you") && list.contains("(1 waiting)"), "{list}");

    let asked = server.run(&["approve", &number]);
    assert_eq!(asked.status.code(), Some(4), "nobody is there to confirm it");
    let shown = String::from_utf8(asked.stderr).unwrap();
    assert!(shown.contains("make test"), "what is asked is shown first: {shown}");
    let allowed = server.text(&["approve", &number, "--yes"]);
    assert!(allowed.contains("allowed"), "{allowed}");
    let again = server.run(&["approve", &number, "--yes", "--json"]);
    assert_eq!(again.status.code(), Some(3));
    let error: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(error["error"]["code"], "not_found");

    server.session("idle");
    let sent: Value = serde_json::from_str(&server.text(&["send", &number, "And now?", "--json"])).unwrap();
    assert_eq!(sent["turn_id"]["role"], "User", "{sent}");
    let seen = server.text(&["attach", &number, "--wait"]);
    assert!(seen.contains("All is well."), "{seen}");
    server.session("idle");
    let idle = server.text(&["stop", &number, "--turn"]);
    assert!(idle.starts_with("No turn was under way"), "{idle}");
    server.text(&["stop", &number]);
    server.session("stopped");
}

#[test]
fn who_waits_for_a_turn_learns_whether_it_went_well() {
    let house = House::new();
    let script = house.path("script.toml");
    fs::write(&script, "[[turn]]\n[turn.error]\nstatus = 400\n[[turn]]\ntext = \"Well.\"\n").unwrap();
    let server = house.serve(&["--demo", "--script", script.to_str().unwrap()]);
    let server = Demo { house, server };
    let session = server.session("idle");
    let number = session["handle"].to_string();
    for form in [&["--json"][..], &[]] {
        let waited = server.run(&[&["attach", &number, "--wait"], form].concat());
        assert_eq!(waited.status.code(), Some(1), "{form:?}: it has failed already");
    }
    server.text(&["send", &number, "Once more."]);
    server.text(&["attach", &number, "--wait"]);
}

#[test]
fn the_admin_token_of_this_machine_is_for_no_other() {
    let server = Demo::start();
    let token = server.text(&["token", "admin"]);
    let json: Value = serde_json::from_str(&server.text(&["token", "admin", "--json"])).unwrap();
    assert_eq!(json["token"], token.trim());
    let mut by_flag = server.house.tidings(&["token", "admin", "--server", "https://box.example"]);
    let mut by_variable = server.house.tidings(&["token", "admin"]);
    by_variable.env("TIDINGS_SERVER", "https://box.example");
    for command in [&mut by_flag, &mut by_variable] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(output.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn a_refusal_reaches_the_agent() {
    let server = Demo::start();
    let session = server.session("needs_you");
    let key = session["key"].as_str().unwrap();
    let denied = server.text(&["deny", &key[..8], "--reason", "not on a Sunday"]);
    assert!(denied.contains("denied"), "{denied}");
    server.session("idle");
}

#[test]
fn what_is_not_there_is_said_in_words() {
    let server = Demo::start();
    // No key begins like this, as one might with a number.
    for args in [["attach", "nobody"], ["send", "nobody"], ["stop", "nobody"], ["deny", "nobody"]] {
        let mut args = args.to_vec();
        if args[0] == "send" {
            args.push("Hello");
        }
        let output = server.run(&args);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {talk}");
        assert!(talk.contains("No such session") && talk.contains("tidings ps"), "{talk}");
    }
    let output = House::new().tidings(&["ps"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{talk}");
    assert!(talk.contains("tidings serve"), "it says how to start one: {talk}");
}
