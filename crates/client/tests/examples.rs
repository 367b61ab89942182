//! Every example runs, with the stand-in for `claude`, and prints the expected output.
//!
//! An example is a row here, a script of the same name in `scripts/` if it needs a CLI, and a snapshot.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

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
fn command(name: &str) -> (TempDir, Command) {
    let stage = TempDir::new().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new(example(name));
    command.env_clear().env("PATH", path).env("HOME", stage.path()).current_dir(stage.path());
    if let Some(program) = stand_in(name, stage.path()) {
        command.env("CLAUDE_CLI_PATH", program);
    }
    (stage, command)
}

/// Runs an example to its end.
fn run(name: &str, typed: &str, stage: &TempDir, mut command: Command) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} ended with {}: {stdout}{stderr}", output.status);
    stdout.replace(stage.path().to_str().unwrap(), "<stage>")
}

/// A `claude` that plays the script of this name; `None` if the example needs none.
fn stand_in(name: &str, stage: &Path) -> Option<PathBuf> {
    let script = here("tests/scripts").join(format!("{name}.toml"));
    if !script.exists() {
        return None;
    }
    let line = format!(
        "#!/bin/sh\nexec '{}' '{}' \"${{CLAUDE_CONFIG_DIR:-{}}}\" \"$@\"\n",
        example("stand_in").display(),
        script.display(),
        stage.join("config").display(),
    );
    let program = stage.join("claude");
    std::fs::write(&program, line).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Some(program)
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A program of this crate's `examples/`, which cargo builds with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.exists(), "run `cargo build -p tidings --examples` first: {}", program.display());
    program
}
