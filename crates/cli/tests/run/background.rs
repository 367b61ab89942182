//! Background work that continues after the answer.

use std::process::Stdio;

use serde_json::Value;

use crate::run::sandbox::Sandbox;
use crate::run::started::StartedRun;

/// Script of a command in the background, with `after` for the turn that its end causes.
fn naps(takes_ms: u64, after: &str) -> String {
    format!(
        r#"
[[turn]]

[[turn.block]]
tool = "Bash"
input = {{ command = "sleep 1", description = "Nap", run_in_background = true }}
takes_ms = {takes_ms}

[[turn]]
text = "Started."

[[turn]]
when = {{ last_contains = "task-notification" }}
{after}
"#
    )
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut run = StartedRun::run(sandbox, arguments, Stdio::null());
    let code = run.ended();
    let (data, talk) = run.texts();
    (code, data, talk)
}

#[test]
fn a_command_in_the_background_is_waited_for_with_the_turn_that_follows() {
    let sandbox = Sandbox::playing(&naps(300, "text = \"It ended.\""));
    let (code, data, talk) = run(&sandbox, &["go"]);
    assert_eq!((code, data.as_str()), (Some(0), "Started.\n\nIt ended.\n"), "{talk}");

    let (code, data, talk) = run(&sandbox, &["go", "--output", "json"]);
    let result: Value = serde_json::from_str(&data).unwrap();
    assert_eq!((code, &result["result"]), (Some(0), &"It ended.".into()), "{talk}");

    let (code, data, talk) = run(&sandbox, &["go", "--output", "stream-json"]);
    assert_eq!(code, Some(0), "{talk}");
    let names: Vec<String> = data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|frame| format!("{}/{}", frame["type"], frame["subtype"]).replace('"', ""))
        .collect();
    let first = names.iter().position(|name| name == "result/success").unwrap();
    assert_eq!(
        names[first..],
        [
            "result/success",
            "system/task_updated",
            "system/task_notification",
            "system/background_tasks_changed",
            "system/init",
            "assistant/null",
            "result/success",
        ]
    );
}

#[test]
fn the_last_turn_decides_the_exit_code() {
    let sandbox = Sandbox::playing(&naps(50, "error = { status = 400, message = \"no\" }"));
    let (code, data, talk) = run(&sandbox, &["go"]);
    assert_eq!(code, Some(1), "{data} {talk}");
}

#[test]
fn a_question_of_the_turn_that_follows_is_still_asked() {
    let asks = r#"[[turn.block]]
tool = "Bash"
input = { command = "rm -rf build" }
ask = true
result = "removed""#;
    let sandbox = Sandbox::playing(&naps(50, asks));
    let (code, data, talk) = run(&sandbox, &["go"]);
    assert_eq!(code, Some(4), "{data} {talk}");
    assert!(talk.contains("rm -rf build"), "{talk}");
}
