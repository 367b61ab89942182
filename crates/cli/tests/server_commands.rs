//! Commands that talk to a server, against one that plays the demo.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A server that plays a script, and a folder for everything that it keeps.
struct Server {
    child: Child,
    folder: TempDir,
}

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

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.toml"), SCRIPT).unwrap();
        let mut serve = command(&folder);
        serve.args(["serve", "--demo", "--json", "--listen", "127.0.0.1:0", "--script"]);
        serve.arg(folder.path().join("script.toml")).arg("--data").arg(folder.path().join("data"));
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("\"address\""), "{line}");
        Server { child, folder }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = command(&self.folder);
        command.args(args).arg("--data").arg(self.folder.path().join("data"));
        command.stdin(Stdio::null()).output().unwrap()
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
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let line = self.text(&["ps", "--json"]);
            let session = line.lines().next().map(|line| serde_json::from_str::<Value>(line).unwrap());
            if let Some(session) = session.clone()
                && session["state"] == state
            {
                return session;
            }
            assert!(Instant::now() < until, "not {state}: {session:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends its agents when it is told to end.
        drop(Command::new("kill").arg(self.child.id().to_string()).status());
        drop(self.child.wait());
    }
}

fn command(folder: &TempDir) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("tidings"));
    command.env_clear().env("HOME", folder.path()).env("PATH", "/usr/bin:/bin");
    command.env("TMPDIR", folder.path()).env("TIDINGS_CACHE_DIR", folder.path().join("cache"));
    command
}

#[test]
fn a_session_is_listed_answered_watched_and_stopped() {
    let server = Server::start();
    let session = server.session("needs_you");
    let number = session["handle"].to_string();
    let list = server.text(&["ps"]);
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
    server.text(&["stop", &number]);
    server.session("stopped");
}

#[test]
fn a_refusal_reaches_the_agent() {
    let server = Server::start();
    let session = server.session("needs_you");
    let key = session["key"].as_str().unwrap();
    let denied = server.text(&["deny", &key[..8], "--reason", "not on a Sunday"]);
    assert!(denied.contains("denied"), "{denied}");
    server.session("idle");
}

#[test]
fn what_is_not_there_is_said_in_words() {
    let server = Server::start();
    for args in [["attach", "99"], ["send", "99"], ["stop", "99"], ["deny", "99"]] {
        let mut args = args.to_vec();
        if args[0] == "send" {
            args.push("Hello");
        }
        let output = server.run(&args);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {talk}");
        assert!(talk.contains("No such session") && talk.contains("tidings ps"), "{talk}");
    }
    let folder = tempfile::tempdir().unwrap();
    let output = command(&folder).args(["ps", "--data"]).arg(folder.path()).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{talk}");
    assert!(talk.contains("tidings serve"), "it says how to start one: {talk}");
}
