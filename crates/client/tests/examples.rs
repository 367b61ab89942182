//! Every example runs, with the stand-in for `claude`, and prints the expected output.
//!
//! An example is a row here, a script of the same name in `scripts/` if it needs a CLI, and a snapshot.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::stage::{Stage, example};

/// The examples, with their standard input.
const ROWS: &[(&str, &str)] = &[
    ("ask_before_bash", "y\n"),
    ("budget_and_turns", ""),
    ("cancel", ""),
    ("control_requests", ""),
    ("conversation", ""),
    ("custom_spawner", ""),
    ("decide_later", ""),
    ("deny_commands", ""),
    ("errors", ""),
    ("first_query", ""),
    ("fork", ""),
    ("unknown_frames", ""),
    ("hooks", ""),
    ("images", ""),
    ("interrupt", ""),
    ("many_subscribers", ""),
    ("memory_transport", ""),
    ("permissions", ""),
    ("prompt_stream", ""),
    ("queue_prompts", ""),
    ("replay_a_recording", ""),
    ("resume", ""),
    ("session_store_sqlite", ""),
    ("set_model_and_mode", ""),
    ("streaming_text", ""),
    ("structured_output", ""),
    ("subagents", ""),
    ("launch_plan", ""),
];

#[test]
fn every_example_runs_and_prints_what_it_should() {
    // A process that is started while another program is being written holds that open for a moment, and then
    // it cannot be started. So all are written first.
    let commands: Vec<_> = ROWS.iter().map(|(name, _)| command(name)).collect();
    // Most of the time is spent waiting for processes, so they run concurrently.
    let outputs: Vec<String> = std::thread::scope(|scope| {
        let rows = ROWS.iter().zip(commands);
        let running: Vec<_> = rows
            .map(|((name, typed), (stage, command))| scope.spawn(move || run(name, typed, &stage, command)))
            .collect();
        running.into_iter().map(|row| row.join().unwrap()).collect()
    });
    let shown: Vec<String> =
        ROWS.iter().zip(outputs).map(|((name, _), output)| format!("# {name}\n{output}")).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// Examples without a row are part of another test, which names them.
#[test]
fn no_example_goes_without_a_test() {
    let rows: BTreeSet<String> = ROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let tests = other_tests(&here("tests"));
    for file in std::fs::read_dir(here("examples")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let elsewhere =
            tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("examples/{name}.rs"));
        assert!(rows.contains(&name) || elsewhere, "no test runs the example `{name}`: add it to ROWS");
    }
}

/// The text of all tests but this one.
fn other_tests(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&other_tests(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests/examples.rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

/// An example with its own folder and environment.
fn command(name: &str) -> (Stage, Command) {
    let stage = Stage::empty();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new(example(name));
    command.env_clear().env("PATH", path).env("HOME", stage.folder()).current_dir(stage.folder());
    let script = here("tests/scripts").join(format!("{name}.toml"));
    if script.exists() {
        stage.play(&script, &format!("\"${{CLAUDE_CONFIG_DIR:-{}}}\"", stage.path("config").display()));
        command.env("CLAUDE_CLI_PATH", stage.program());
    }
    (stage, command)
}

/// Runs an example to its end.
fn run(name: &str, typed: &str, stage: &Stage, mut command: Command) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} ended with {}: {stdout}{stderr}", output.status);
    stdout.replace(stage.folder().to_str().unwrap(), "<stage>")
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
