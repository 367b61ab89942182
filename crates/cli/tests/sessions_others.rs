//! `tidings sessions --backend`: sessions of other agents.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::test_root::{json_lines, stdout};

fn fixture(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcript/tests/fixtures/agents").join(agent)
}

fn tidings(home: &Path) -> Command {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().env("TZ", "UTC").env("HOME", home).arg("sessions");
    command
}

/// A command on the sample of one agent.
fn with(agent: &str, args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = tidings(home.path());
    command.args(["--backend", agent, "--root"]).arg(fixture(agent)).args(args);
    command.assert().success().get_output().clone()
}

#[test]
fn sessions_of_codex_are_listed_shown_searched_priced_and_exported() {
    let listed = json_lines(&with("codex", &["list", "--json"]));
    assert_eq!((&listed[0]["backend"], &listed[0]["turns"]), (&"codex".into(), &2.into()));
    assert_eq!((&listed[0]["version"], &listed[0]["cost_usd"]), (&"0.166.0".into(), &Value::Null));
    let shown = stdout(&with("codex", &["show", "01a1ead6"]));
    assert!(shown.contains("What is in notes.txt?") && shown.contains("exec_command"), "{shown}");
    let found = json_lines(&with("codex", &["search", "tulips", "--json", "--role", "tool"]));
    assert_eq!((found.len(), &found[0]["tool"], &found[0]["line"]), (2, &"exec_command".into(), &15.into()));
    let cost = with("codex", &["cost", "--by", "model"]);
    assert!(stdout(&cost).contains("gpt-5.2-codex") && stdout(&cost).contains("$0.01"), "{}", stdout(&cost));
    assert_eq!(String::from_utf8_lossy(&cost.stderr), "");
    let raw = stdout(&with("codex", &["export", "--to", "ndjson"]));
    assert_eq!(raw.lines().count(), 38);
    assert!(stdout(&with("codex", &["export", "--to", "html"])).contains("And now?"));
    assert!(stdout(&with("codex", &["export", "--to", "ui"])).contains("plant tulips"));
}

#[test]
fn sessions_of_gemini_are_listed_shown_and_exported() {
    let listed = stdout(&with("gemini", &["list"]));
    assert!(listed.contains("7839d9fc") && listed.contains("demo"), "{listed}");
    assert!(stdout(&with("gemini", &["show"])).contains("read_file"));
    let markdown = stdout(&with("gemini", &["export", "7839", "--to", "md"]));
    assert!(markdown.contains("## 1. What do my notes say?"), "{markdown}");
}

#[test]
fn all_agents_are_listed_and_searched_together() {
    let home = tempfile::tempdir().unwrap();
    for (agent, folder) in [("codex", ".codex"), ("gemini", ".gemini")] {
        copy(&fixture(agent), &home.path().join(folder));
    }
    let project = home.path().join(".claude/projects/-home-dev-demo");
    copy(&fixture("../export/branch/projects/-home-dev-demo"), &project);
    let mut command = tidings(home.path());
    let listed = command.args(["list", "--backend", "all", "--json"]).assert().success().get_output().clone();
    let mut agents: Vec<String> =
        json_lines(&listed).iter().map(|row| row["backend"].as_str().unwrap().to_owned()).collect();
    agents.sort();
    assert_eq!(agents, ["claude", "codex", "gemini"]);
    let mut command = tidings(home.path());
    let counted = command.args(["search", "notes", "--backend", "all", "-l"]).assert().success();
    assert_eq!(stdout(counted.get_output()).lines().count(), 2);
    let mut command = tidings(home.path());
    let own = command.args(["show", "1111", "--backend", "all"]).assert().success();
    assert!(stdout(own.get_output()).contains("remember 7"));
    // Without the option nothing changes.
    let listed = tidings(home.path()).args(["list", "--json"]).assert().success().get_output().clone();
    assert_eq!(json_lines(&listed).len(), 1);
    assert!(!stdout(&listed).contains("backend"));
}

#[test]
fn other_commands_and_missing_agents_are_errors_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let failed = tidings(home.path()).args(["tree", "--backend", "codex"]).assert().code(2);
    let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(said.contains("sessions of Claude Code only"), "{said}");
    let failed = tidings(home.path()).args(["list", "--backend", "gemini"]).assert().code(3);
    let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(said.contains("No sessions of Gemini CLI under"), "{said}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
