//! Signals that end a run.

use std::process::Stdio;

use crate::run::sandbox::Sandbox;
use crate::run::started::StartedRun;

/// An agent in the background that never ends.
const AGENT: &str = r#"
[[turn]]

[[turn.block]]
tool = "Agent"
input = { description = "Look", prompt = "SUBTASK", subagent_type = "general-purpose" }

[[turn]]
when = { last_contains = "SUBTASK" }
text = "It takes its time."
pace = { chunk_chars = 1, chunk_delay_ms = 10000 }

[[turn]]
text = "Started."
"#;

#[test]
fn after_the_answer_the_first_signal_ends_the_run() {
    let sandbox = Sandbox::playing(AGENT);
    for signal in ["INT", "TERM"] {
        let mut run = StartedRun::run(&sandbox, &["go"], Stdio::null());
        run.wait_for("Started.");
        run.signal(signal);
        assert_eq!(run.ended(), Some(130), "{signal} {:?}", run.texts());
    }
}

/// A service manager sends one SIGTERM, and then SIGKILL.
#[test]
fn one_sigterm_ends_a_run_whose_agent_hangs() {
    let sandbox = Sandbox::playing(
        r#"
[[fault]]
kind = "mute"
at_frame = 14
ms = 600000

[[turn]]
text = "It begins, and then it goes on and on and on and never comes to its end."
pace = { chunk_chars = 4, chunk_delay_ms = 0 }
"#,
    );
    let mut run = StartedRun::run(&sandbox, &["go"], Stdio::null());
    run.wait_for("It begins");
    run.signal("TERM");
    assert_eq!(run.ended(), Some(130), "{:?}", run.texts());
    assert!(!run.texts().0.contains("its end"), "{:?}", run.texts());
}

#[test]
fn a_second_signal_does_not_wait_for_an_agent_that_ignores_its_end() {
    let sandbox = Sandbox::playing(
        r#"
[[fault]]
kind = "ignore_eof"

[[fault]]
kind = "ignore_term"

[[turn]]
text = "Hello."
"#,
    );
    let mut run = StartedRun::run(&sandbox, &["go"], Stdio::null());
    run.wait_for("Hello.");
    run.signal("INT");
    run.signal("INT");
    assert_eq!(run.ended(), Some(130), "{:?}", run.texts());
}
