//! Expectations are checked, and the report names those that were not met.

use crate::agent::host::{Host, STREAMING};

const SCRIPT: &str = r#"
[[turn]]
text = "Hello"

[[expect]]
name = "the host says hello"
stdin = { type = "user", message = { content = "hello" } }

[[expect]]
name = "no interrupts"
stdin = { type = "control_request", request = { subtype = "interrupt" } }
times = 0

[[expect]]
name = "the model is asked once"
request = { last_contains = "hello" }
times = 1
"#;

#[test]
fn expectations_that_are_met_are_silent() {
    let mut host = Host::start(STREAMING, SCRIPT);
    host.user("hello");
    host.until("result");
    let ended = host.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn unmet_expectations_are_reported_and_fail_the_run() {
    let mut host = Host::start(STREAMING, SCRIPT);
    host.control("one", &serde_json::json!({"subtype": "interrupt"}));
    host.user("good morning");
    host.until("result");
    let ended = host.end();
    assert_eq!(ended.code, 1);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines[0], "not met: the host says hello: expected at least once, seen 0 times");
    assert_eq!(lines[1], r#"  on stdin: {"message":{"content":"hello"},"type":"user"}"#);
    assert_eq!(lines[2], "not met: no interrupts: expected 0 times, seen 1 times");
    assert_eq!(lines[4], "not met: the model is asked once: expected 1 times, seen 0 times");
}
