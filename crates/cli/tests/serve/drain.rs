//! Shutdown: gracefully at the first signal, at once at the second, and without leftovers in both cases.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::serve::machine::{Machine, Running, children, until};

/// Starts a session with a pending request, so that its agent is alive.
fn busy(server: &Running, machine: &Machine) -> String {
    let body = json!({"cwd": machine.path("project"), "prompt": "hello"});
    let made = server.ask("POST", "/v1/sessions", Some(&body));
    assert_eq!(made.status, 201, "{made:?}");
    let key = made.json()["key"].as_str().unwrap().to_owned();
    until("a request is pending", || {
        let view = server.ask("GET", &format!("/v1/sessions/{key}"), None).json();
        (view["state"] == "needs_you").then_some(())
    });
    key
}

#[test]
fn promise_11_the_first_signal_ends_everything_in_order() {
    // HUP is sent when a terminal is closed.
    for signal in ["TERM", "INT", "HUP"] {
        let machine = Machine::new();
        let mut server = machine.serve(&["--demo", "--data", machine.path("data").to_str().unwrap()]);
        let key = busy(&server, &machine);
        let agents = children(server.child.id());
        assert!(!agents.is_empty());
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!(
            "GET /v1/sessions/{key}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            server.address,
            server.credential()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");

        let begun = Instant::now();
        server.signal(signal);
        let status = server.ended();
        assert_eq!(status.code(), Some(0), "{signal}: {}", server.log());
        assert!(begun.elapsed() < Duration::from_secs(15), "the shutdown has a bound");
        // The stream ends, and does not hang.
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        until("no agent is left", || agents.iter().all(|pid| !alive(*pid)).then_some(()));
        assert!(!machine.path("data/server.sock").exists(), "the socket is gone");
        assert!(TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn under_nohup_a_closed_terminal_ends_nothing() {
    let machine = Machine::new();
    let data = machine.path("data");
    let mut command = Command::new("nohup");
    command.arg(assert_cmd::cargo::cargo_bin("tidings")).args(["serve", "--demo", "--json"]);
    command.args(["--listen", "127.0.0.1:0", "--data"]).arg(&data).env("TMPDIR", machine.path(""));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = said["address"].as_str().unwrap().trim_start_matches("http://").to_owned();
    let signal =
        |name: &str| Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(signal("HUP").success());
    std::thread::sleep(Duration::from_millis(500));
    let answers = TcpStream::connect(&address).is_ok();
    assert!(signal("TERM").success());
    assert!(child.wait().unwrap().success());
    assert!(answers, "it went on");
}

#[test]
fn promise_11_the_second_signal_ends_it_at_once() {
    let machine = Machine::new();
    // An agent that ignores signals.
    let claude = machine.claude("trap '' TERM INT\nwhile :; do sleep 1; done");
    let mut server = machine.serve(&["--claude-path", claude.to_str().unwrap(), "--agent-lease", "0"]);
    let body = json!({"cwd": machine.path("project"), "prompt": "hello"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
    let agents =
        until("the agent runs", || Some(children(server.child.id())).filter(|found| !found.is_empty()));
    server.signal("TERM");
    until("it stops", || server.log().contains("stopping").then_some(()));
    std::thread::sleep(Duration::from_millis(100));
    server.signal("TERM");
    let status = server.ended();
    assert!(matches!(status.code(), Some(130 | 0)), "{status}");
    until("no agent is left", || agents.iter().all(|pid| !alive(*pid)).then_some(()));
}

#[test]
fn what_was_said_is_there_after_an_orderly_end_and_after_a_kill() {
    let machine = Machine::new();
    let data = machine.path("data");
    let arguments = ["--data", data.to_str().unwrap(), "--claude-path", "/bin/false"];
    let mut cursors = Vec::new();
    for end in ["TERM", "KILL"] {
        let mut server = machine.serve(&arguments);
        let body = json!({"cwd": machine.path("project"), "title": end});
        let made = server.ask("POST", "/v1/sessions", Some(&body));
        assert_eq!(made.status, 201, "{made:?}");
        cursors.push(made.json()["cursor"].as_str().unwrap().split(':').next().unwrap().to_owned());
        server.signal(end);
        server.ended();
    }
    let server = machine.serve(&arguments);
    let list = server.ask("GET", "/v1/sessions", None).json();
    let titles: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|view| view["title"].as_str()).collect();
    assert_eq!(titles.len(), 2, "{list}");
    assert!(titles.contains(&"TERM") && titles.contains(&"KILL"));
}

fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie counts as dead.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
