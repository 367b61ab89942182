//! Ownership of a host.

use serde_json::Value;

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, Terms};
use crate::stage::{PATIENCE, eventually};

const ECHO: &str = "while read -r line; do printf '%s\\n' \"$line\"; done";

fn refused(stage: &HostStage, secret: &str, owner: &str, fence: u64, after: Option<u64>) -> Value {
    let mut other = Raw::connect(&stage.place());
    other.ask_to_attach(secret, owner, fence, after);
    let (head, _) = other.next();
    assert_eq!(head["kind"], "refused", "{head}");
    assert!(other.try_next().is_none(), "a connection that was refused is closed");
    head["reason"].clone()
}

/// F80: one bridge at a time; a living one is kept, a dead one is replaced, a higher fence displaces, and a
/// former fence is refused.
#[test]
fn f80_a_host_has_one_bridge() {
    let (stage, mut first) = HostStage::open(ECHO, Terms::default());
    assert_eq!(refused(&stage, "s3cret", "second", 1, None), "taken");
    assert_eq!(refused(&stage, "s3cret", "second", 0, None), "outdated");
    assert_eq!(refused(&stage, "wrong", "first", 9, None), "stranger");
    assert_eq!(refused(&stage, "s3cret", "first", 1, Some(1)), "no_such_offset");
    // Refusals changed nothing.
    first.write_line("a", r#"{"n":1}"#);
    first.wait_for("wrote");

    let mut second = Raw::attach(&stage.place(), "second", 2, None);
    let (told, _) = first.wait_for("superseded");
    assert_eq!(told["owner"], "second");
    assert!(first.try_next().is_none());
    assert_eq!(refused(&stage, "s3cret", "first", 1, None), "outdated");
    second.write_line("b", r#"{"n":2}"#);
    assert_eq!(second.read_until(|all| all.ends_with(b"{\"n\":2}\n")), b"{\"n\":1}\n{\"n\":2}\n");

    // Its own former connection does not prevent it, and neither does that of a bridge that has ended.
    let again = Raw::attach(&stage.place(), "second", 2, Some(8));
    drop(again);
    // The host notices the end of a connection after a while.
    let join = || Raw::attach(&stage.place(), "third", 2, Some(8));
    let mut third = (0..100)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(join)).ok()
        })
        .unwrap();
    assert_eq!(third.read_until(|all| all.len() >= 8), b"{\"n\":2}\n");
}

/// Lines of a displaced bridge are not written.
#[test]
fn f80_what_a_displaced_bridge_says_is_not_heard() {
    let (stage, mut first) = HostStage::open(ECHO, Terms::default());
    let mut second = Raw::attach(&stage.place(), "second", 2, None);
    first.wait_for("superseded");
    // The socket may be closed by now, which is fine.
    let late =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| first.write_line("late", r#"{"n":0}"#)));
    drop(late);
    second.write_line("b", r#"{"n":1}"#);
    assert_eq!(second.read_until(|all| all.len() >= 8), b"{\"n\":1}\n");
}

/// F61: a bridge that comes back receives the open requests, the handshake and the last init, but not
/// requests that were answered or cancelled.
#[test]
fn f61_open_questions_are_told_to_each_new_bridge() {
    let script = r#"
read -r _
echo '{"type":"control_response","response":{"subtype":"success","request_id":"hi","response":{"commands":[]}}}'
echo '{"type":"system","subtype":"init","session_id":"s1"}'
for id in q1 q2 q3; do
    echo "{\"type\":\"control_request\",\"request_id\":\"$id\",\"request\":{\"subtype\":\"can_use_tool\"}}"
done
echo '{"type":"control_cancel_request","request_id":"q1"}'
read -r answer
echo '{"type":"answered"}'
cat
"#;
    let (stage, mut first) = HostStage::open(script, Terms::default());
    first.write_line(
        "1",
        r#"{"type":"control_request","request_id":"hi","request":{"subtype":"initialize"}}"#,
    );
    let asked = first.read_until(|all| all.ends_with(b"\"q1\"}\n"));
    first.ack(asked.len() as u64);
    drop(first);
    let mut second = Raw::attach(&stage.place(), "second", 2, Some(asked.len() as u64));
    let told = |bridge: &Raw| -> Vec<String> {
        let told = bridge.remembered.iter();
        told.map(|(head, line)| {
            let line: Value = serde_json::from_slice(line).unwrap();
            let id = line["request_id"].as_str().unwrap_or_default();
            format!("{} {id}", head["kind"].as_str().unwrap())
        })
        .collect()
    };
    assert_eq!(told(&second), ["initialize ", "init ", "open q2", "open q3"]);
    second.write_line(
        "2",
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"q3","response":{}}}"#,
    );
    second.read_until(|all| all.ends_with(b"answered\"}\n"));
    drop(second);
    let third = Raw::attach(&stage.place(), "third", 3, None);
    assert_eq!(told(&third), ["initialize ", "init ", "open q2"]);
    assert_eq!(third.hello["host"], "h1");
    assert_eq!(third.hello["session"], "k1");
    assert_eq!(third.hello["first"].as_u64(), Some(asked.len() as u64));
}

/// F103: a bridge was killed right after it had sent the launch request. The next bridge, at once, finds that
/// agent and does not start a second one.
#[test]
fn f103_an_agent_whose_starter_died_is_found() {
    let stage = HostStage::begin("echo '{\"n\":1}'; sleep 87654");
    let mut starter = Raw::connect(&stage.place());
    stage.send_start(&mut starter, Terms::default());
    let mut next = Raw::connect(&stage.place());
    drop(starter);
    next.ask_to_attach("s3cret", "next", 2, None);
    next.greeted();
    assert_eq!(next.read_until(|all| all.ends_with(b"\n")), b"{\"n\":1}\n");
}

/// A bridge was killed before it sent anything: the host has nothing to keep, and ends at once.
#[test]
fn a_host_without_a_launch_request_ends() {
    let mut stage = HostStage::begin("sleep 87655");
    let starter = Raw::connect(&stage.place());
    let mut next = Raw::connect(&stage.place());
    next.ask_to_attach("s3cret", "next", 2, None);
    drop(starter);
    assert_eq!(next.wait_for("refused").0["reason"], "not_now");
    eventually("the host is gone", PATIENCE, || stage.host.try_wait().unwrap().is_some());
    assert!(!stage.place().exists(), "nothing is left of it");
}
