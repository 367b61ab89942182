//! `tidings sessions follow`, as a user runs it.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::Value;

/// Timeout of every wait, far more than is needed.
const DEADLINE: Duration = Duration::from_secs(60);

struct Followed {
    child: Child,
    lines: Receiver<String>,
}

impl Followed {
    fn start(root: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
            .env_clear()
            .env("TZ", "UTC")
            .args(["sessions", "--root"])
            .arg(root)
            .arg("follow")
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = sync_channel(1000);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if tell.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Followed { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Ends it like Ctrl-C, and returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        drop(self.child.kill());
    }
}

fn project(folder: &Path) -> PathBuf {
    let project = folder.join("projects/-demo");
    fs::create_dir_all(&project).unwrap();
    project
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn user(uuid: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-11-15T10:20:30.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

#[test]
fn the_last_entries_come_first_and_then_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path()).join("s-1.jsonl");
    append(&session, &(user("u-1", "one") + &user("u-2", "two") + "{\"type\":\"last-prompt\"}\n"));
    let follow = Followed::start(folder.path(), &["-n", "1"]);
    assert_eq!(follow.line(), "10:20:30 user      two");
    let call = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls -l"}}]}}"#;
    append(&session, &call[..40]);
    append(&session, &(call[40..].to_owned() + "\n"));
    assert_eq!(follow.line().trim_start(), "assistant > Bash ls -l");
    append(&session, &(user("u-3", "thr\\u001bee\\nfour")));
    assert_eq!(follow.line(), "10:20:30 user      thr\u{fffd}ee");
    assert_eq!(follow.line().trim(), "four");
    append(&session, &user("u-4", "<command-name>/compact</command-name><command-args>now</command-args>"));
    assert_eq!(follow.line(), "10:20:30 command   /compact now");
    fs::remove_file(&session).unwrap();
    assert_eq!(follow.line(), "-- s-1.jsonl was deleted --");
    assert_eq!(follow.interrupt(), Some(130));
}

#[test]
fn scripts_get_every_entry_as_it_was_written_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let session = project.join("s-1.jsonl");
    append(&session, &user("u-1", "one"));
    let follow = Followed::start(folder.path(), &["s-1", "--json"]);
    assert_eq!(follow.json()["entry"]["uuid"], "u-1");

    // A number that does not fit into a float is not changed.
    let odd = "{\"type\":\"new-kind\",  \"number\":12345678901234567890123}";
    append(&session, &format!("{odd}\n"));
    let line = follow.line();
    let path = fs::canonicalize(&session).unwrap();
    let path = path.display();
    let head = format!("{{\"session\":\"s-1\",\"agent\":null,\"file\":\"{path}\",\"line\":2,\"entry\":");
    assert_eq!(line, format!("{head}{odd}}}"));

    let agents = project.join("s-1/subagents");
    fs::create_dir_all(&agents).unwrap();
    append(&agents.join("agent-a1.jsonl"), &user("u-2", "two"));
    let news = follow.json();
    assert_eq!((&news["agent"], &news["entry"]["uuid"]), (&"a1".into(), &"u-2".into()));

    append(&session, &("{\"type\":\"user\",\"uu".to_owned() + &user("u-4", "four")));
    let news = follow.json();
    assert_eq!((&news["line"], &news["damage"]["rule"]), (&3.into(), &"glued-line".into()));
    assert_eq!(follow.json()["entry"]["uuid"], "u-4");

    let other = folder.path().join("other");
    fs::write(&other, user("u-5", "five")).unwrap();
    fs::rename(&other, &session).unwrap();
    assert_eq!(follow.json()["event"], "reset");
    let news = follow.json();
    assert_eq!((&news["line"], &news["entry"]["uuid"]), (&1.into(), &"u-5".into()));
}

#[test]
fn all_sessions_are_followed_also_those_that_begin_later() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    append(&project.join("s-1.jsonl"), &user("u-1", "old"));
    let follow = Followed::start(folder.path(), &["--all", "--json"]);
    // It has started once it prints a line; until then a new entry may count as an old one.
    let number = (0..300).find(|number| {
        append(&project.join("s-1.jsonl"), &user(&format!("u-{number}"), "new"));
        follow.lines.recv_timeout(Duration::from_millis(200)).is_ok()
    });
    let later = folder.path().join("projects/-later");
    fs::create_dir_all(&later).unwrap();
    append(&later.join("s-2.jsonl"), &user("u-first", "hello"));
    let last = loop {
        let news = follow.json();
        if news["session"] == "s-2" {
            break news;
        }
        assert_eq!(news["session"], "s-1", "after {number:?}");
    };
    assert_eq!(last["entry"]["uuid"], "u-first");
}

#[test]
fn it_ends_with_success_when_its_output_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    append(&project(folder.path()).join("s-1.jsonl"), &user("u-1", "one"));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
        .env_clear()
        .args(["sessions", "follow", "--root"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // The pipe is closed now, and nothing more is written to the session.
    assert!(line.contains("one"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_session_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("projects")).unwrap();
    for (args, words) in [(&["nope"][..], "No such session: `nope`"), (&[], "No session to follow yet")] {
        let output = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
            .env_clear()
            .args(["sessions", "follow", "--root"])
            .arg(folder.path())
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8(output.stderr).unwrap().contains(words));
    }
}
