//! Faults happen as the script defines them.

use std::time::Duration;

use serde_json::{Value, json};
use tidings_rehearsal::agent::Signal;

use crate::agent::host::{Host, ReadOutcome, STREAMING};

/// A script of one answer and one fault.
fn with(fault: &str) -> String {
    format!("[[turn]]\nrepeat = true\noptional = true\ntext = \"Hello\"\n\n[[fault]]\n{fault}\n")
}

#[test]
fn noise_stands_between_the_frames() {
    let mut host = Host::start(STREAMING, &with("kind = \"noise\"\nat_frame = 2\ntext = \"[sandbox] hm\""));
    host.user("hi");
    assert_eq!(host.frame()["subtype"], "init");
    assert_eq!(host.line().unwrap(), "[sandbox] hm");
    assert_eq!(host.frame()["type"], "assistant");
    assert_eq!(host.frame()["type"], "result");
    assert_eq!(host.end().code, 0);
}

#[test]
fn a_frame_breaks_off_and_the_process_ends() {
    let mut host = Host::start(STREAMING, &with("kind = \"partial\"\nat_frame = 2\nbytes = 10\ncode = 9"));
    host.user("hi");
    host.frame();
    let ended = host.wait();
    assert_eq!((ended.code, ended.rest), (9, vec!["{\"type\":\"a".to_owned()]));
}

#[test]
fn the_process_exits_or_kills_itself() {
    let mut host = Host::start(STREAMING, &with("kind = \"exit\"\nat_frame = 1\ncode = 7"));
    host.user("hi");
    assert_eq!(host.wait().code, 7);

    let mut host = Host::start(STREAMING, &with("kind = \"signal\"\nat_frame = 1\ncode = 9"));
    host.user("hi");
    let ended = host.wait();
    assert_eq!((ended.code, ended.raised), (137, Some(9)));

    let host = Host::start(STREAMING, &with("kind = \"exit\"\ncode = 3"));
    assert_eq!(host.wait().code, 3, "before the first byte is read");
}

#[test]
fn a_mute_process_lives_and_says_nothing() {
    let mut host = Host::start(STREAMING, &with("kind = \"mute\"\nat_frame = 2"));
    host.user("hi");
    host.frame();
    assert_eq!(host.line_within(Duration::from_millis(200)), ReadOutcome::Nothing);
    host.signal(Signal::Terminate);
    assert_eq!(host.wait().code, 143);

    let mut host = Host::start(STREAMING, &with("kind = \"mute\"\nat_frame = 2\nms = 50"));
    host.user("hi");
    assert_eq!(host.until("result").len(), 3);
}

#[test]
fn a_long_line_is_as_long_as_asked_and_still_a_frame() {
    let mut host = Host::start(STREAMING, &with("kind = \"long_line\"\nat_frame = 1\nlength = 3000000"));
    host.user("hi");
    let line = host.line().unwrap();
    assert_eq!(line.len(), 3_000_000);
    assert!(serde_json::from_str::<Value>(&line).unwrap()["text"].as_str().unwrap().ends_with("xxx"));
    assert_eq!(host.frame()["subtype"], "init");
}

#[test]
fn a_stubborn_process_ends_only_when_it_must() {
    let mut host = Host::start(STREAMING, &with("kind = \"ignore_eof\""));
    host.user("hi");
    host.until("result");
    host.close();
    assert_eq!(host.line_within(Duration::from_millis(200)), ReadOutcome::Nothing);
    host.signal(Signal::Terminate);
    assert_eq!(host.wait().code, 143);

    let mut host = Host::start(STREAMING, &with("kind = \"ignore_term\""));
    host.signal(Signal::Terminate);
    host.user("hi");
    assert_eq!(host.until("result").len(), 3);
    assert_eq!(host.end().code, 0);
}

#[test]
fn an_answer_carries_a_foreign_id() {
    let mut host = Host::start(STREAMING, &with("kind = \"wrong_id\""));
    host.control("one", &json!({"subtype": "mcp_status"}));
    host.control("two", &json!({"subtype": "mcp_status"}));
    assert_eq!(host.frame()["response"]["request_id"], "nobody-asked");
    assert_eq!(host.frame()["response"]["request_id"], "two");
}

#[cfg(target_os = "linux")]
#[test]
fn a_grandchild_lives_on_in_its_own_session() {
    // A duration of `sleep` that no other process has.
    let mut host = Host::start(STREAMING, &with("kind = \"grandchild\"\nat_frame = 1\nms = 2718"));
    host.user("hi");
    host.until("result");
    assert_eq!(host.end().code, 0);
    let sleeps = || {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.any(|line| line.starts_with(b"sleep\x002.718"))
    };
    let mut tries = 0;
    while !sleeps() {
        tries += 1;
        assert!(tries < 50, "no grandchild");
        std::thread::sleep(Duration::from_millis(20));
    }
}
