//! An agent behind a filter; the one of the example `agent_host` numbers the agent's lines.

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, Terms, signal};

const FILTERED: &str = "--filtered";

fn numbered(number: u32, line: &str) -> String {
    format!("{{\"number\":{number},\"line\":{line}}}\n")
}

/// P3: offsets count what the filter has put out, and a line reaches it once, whichever bridge sends it.
#[test]
fn promise_3_a_filter_is_to_its_host_what_an_agent_is() {
    let echo = "echo '{}'; while read -r line; do printf '%s\\n' \"$line\"; done";
    let (stage, mut bridge) = HostStage::open(echo, Terms { flag: FILTERED, ..Terms::default() });
    let first = numbered(1, "{}");
    assert_eq!(bridge.read_until(|all| all.ends_with(b"\n")), first.as_bytes());
    bridge.ack(first.len() as u64);
    bridge.write_line("a", r#"{"n":1}"#);
    assert_eq!(bridge.wait_for("wrote").0["novelty"], "new");
    drop(bridge);

    let mut second = Raw::attach(&stage.place(), "second", 2, Some(first.len() as u64));
    let (again, last) = (numbered(2, r#"{"n":1}"#), numbered(3, r#"{"n":2}"#));
    assert_eq!(second.read_until(|all| all.ends_with(b"\n")), again.as_bytes());
    second.write_line("a", r#"{"n":1}"#);
    assert_eq!(second.wait_for("wrote").0["novelty"], "seen");
    second.write_line("b", r#"{"n":2}"#);
    assert_eq!(second.read_until(|all| all.ends_with(b"\n")), last.as_bytes());
    second.send(r#"{"kind":"end_input"}"#, b"");
    let (exit, _) = second.wait_for("exit");
    assert_eq!(
        (exit["code"].as_i64(), exit["end"].as_u64()),
        (Some(0), Some((first + &again + &last).len() as u64))
    );
}

/// The exit of an agent is told and stored as its filter tells it, and without a bridge too.
#[test]
fn the_exit_code_is_that_of_the_filter() {
    for script in ["echo '{}'", "echo '{}'; exec sleep 87654"] {
        let (mut stage, mut bridge) = HostStage::open(script, Terms { flag: FILTERED, ..Terms::default() });
        bridge.read_until(|all| all.ends_with(b"\n"));
        if script.contains("sleep") {
            bridge.send(r#"{"kind":"pids"}"#, b"");
            let agent = bridge.wait_for("pids").0["pids"][0].as_u64();
            signal(u32::try_from(agent.unwrap()).unwrap(), "KILL");
        }
        let (exit, _) = bridge.wait_for("exit");
        assert_eq!((exit["code"].as_i64(), exit["signal"].as_i64()), (Some(7), None), "{script}");
        signal(stage.host.id(), "TERM");
        stage.host.wait().unwrap();
        let remains = tidings::host::HostFolder::new(stage.place()).remains().unwrap();
        assert_eq!(remains.exit().and_then(|exit| exit.code), Some(7));
        assert_eq!(remains.range(), 0..numbered(1, "{}").len() as u64);
    }
}

/// An agent may write while it ends: a closed pipe would kill it before it has stored its session.
#[test]
fn the_output_of_an_agent_stays_open_after_its_filter() {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("stored");
    let script = format!("echo '{{}}'; cat >&2; sleep 0.3; echo '{{}}'; echo all > {}", stored.display());
    let (_stage, mut bridge) = HostStage::open(&script, Terms { flag: FILTERED, ..Terms::default() });
    bridge.read_until(|all| all.ends_with(b"\n"));
    bridge.send(r#"{"kind":"end_input"}"#, b"");
    assert_eq!(bridge.wait_for("exit").0["code"].as_i64(), Some(0));
    assert_eq!(std::fs::read_to_string(stored).unwrap(), "all\n");
}
