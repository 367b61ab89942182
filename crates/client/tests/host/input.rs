//! Lines that are written to the CLI.

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, Terms};

/// Echoes every line.
const ECHO: &str = "while read -r line; do printf '%s\\n' \"$line\"; done; echo '{\"type\":\"over\"}'";

fn line(number: u32) -> String {
    format!(r#"{{"type":"user","n":{number}}}"#)
}

/// P3: a line is written once, however often and by whichever bridge it is sent; a repeated one is confirmed.
#[test]
fn promise_3_a_line_of_the_same_name_is_written_once() {
    let (stage, mut bridge) = HostStage::open(ECHO, Terms::default());
    for (id, number, novelty) in [("a", 1, "new"), ("a", 1, "seen"), ("b", 2, "new")] {
        bridge.write_line(id, &line(number));
        let (wrote, _) = bridge.wait_for("wrote");
        assert_eq!((wrote["id"].as_str(), wrote["novelty"].as_str()), (Some(id), Some(novelty)));
    }
    drop(bridge);
    let mut second = Raw::attach(&stage.place(), "second", 2, None);
    for (id, number) in [("b", 2), ("a", 1), ("c", 3)] {
        second.write_line(id, &line(number));
    }
    second.send(r#"{"kind":"end_input"}"#, b"");
    let expected = format!("{}\n{}\n{}\n{{\"type\":\"over\"}}\n", line(1), line(2), line(3));
    let said = second.read_until(|all| all.len() >= expected.len());
    assert_eq!(String::from_utf8(said).unwrap(), expected);
    let (exit, _) = second.wait_for("exit");
    assert_eq!((exit["code"].as_i64(), exit["end"].as_u64()), (Some(0), Some(expected.len() as u64)));
}

/// F33: a line that is not a JSON object, or more than one line, does not reach the CLI.
#[test]
fn f33_what_is_no_frame_is_not_written() {
    let (_stage, mut bridge) = HostStage::open(ECHO, Terms::default());
    for (id, text) in [("a", "hello"), ("b", "{\"type\":\"user\"}\n{\"type\":\"user\"}"), ("c", "")] {
        bridge.write_line(id, text);
        let (unwritten, _) = bridge.wait_for("unwritten");
        assert_eq!(unwritten["id"], id);
    }
    // The ids can be used again.
    bridge.write_line("a", &line(1));
    assert_eq!(bridge.wait_for("wrote").0["novelty"], "new");
}

/// A CLI that does not read blocks only its input, and lines beyond the host's limit are refused.
#[test]
fn a_cli_that_does_not_read_holds_up_its_input_alone() {
    let (stage, mut bridge) =
        HostStage::open("until [ -e go ]; do sleep 0.02; done\nexec cat", Terms::default());
    let long = format!(r#"{{"type":"user","text":"{}"}}"#, "x".repeat(100_000));
    let count = 70;
    for number in 0..count {
        bridge.write_line(&number.to_string(), &long);
    }
    let (refused, _) = bridge.wait_for("unwritten");
    assert!(refused["message"].as_str().unwrap().contains("does not read"), "{refused}");
    bridge.send(r#"{"kind":"ping"}"#, b"");
    assert_eq!(bridge.wait_for("pong").0["cli"], "running");
    std::fs::write(stage.path("go"), "").unwrap();
    let said = bridge.read_until(|all| all.len() >= 60 * (long.len() + 1));
    assert!(said.starts_with(long.as_bytes()));
}
