//! `tidings doctor`, as a user runs it, with and without what it checks.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use tidings_protocol::TESTED_CLAUDE_CODE;

const SECRET: &str = "sk-ant-very-secret";

/// Simulated machine: a home folder, and programs.
struct Machine {
    temp: tempfile::TempDir,
}

impl Machine {
    /// Creates a machine with a `claude` of this version that is logged in, and one session.
    fn new(version: &str) -> Self {
        let machine = Machine { temp: tempfile::tempdir().unwrap() };
        machine.program("claude", &format!("echo '{version} (Claude Code)'"));
        machine.program("git", "echo 'git version 2.50.0'");
        let project = machine.path("home/.claude/projects/-home-dev-demo");
        fs::create_dir_all(&project).unwrap();
        let id = "11111111-1111-4111-8111-111111111111";
        fs::write(project.join(format!("{id}.jsonl")), "{\"type\":\"summary\",\"summary\":\"a\"}\n").unwrap();
        fs::write(machine.path("home/.claude/.credentials.json"), format!("{{\"token\":\"{SECRET}\"}}"))
            .unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn doctor(&self) -> Command {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("HOME", self.path("home")).env("PATH", self.path("bin")).arg("doctor");
        command
    }

    /// The exit code, and the report as JSON.
    fn report(command: &mut Command) -> (i32, Value) {
        let output = command.arg("--json").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(SECRET), "{text}");
        (output.status.code().unwrap(), serde_json::from_str(&text).unwrap())
    }
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

#[test]
fn a_machine_that_has_everything_is_fine() {
    let machine = Machine::new(TESTED_CLAUDE_CODE);
    let (code, report) = Machine::report(&mut machine.doctor());
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)), "{report:#}");
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    let expected =
        "claude version login config sessions cleanup git settings port journal notify store cache"
            .split(' ')
            .collect::<Vec<_>>();
    assert_eq!(names, expected);
    let found = |name: &str| check(&report, name)["found"].as_str().unwrap().to_owned();
    assert_eq!(found("claude"), machine.path("bin/claude").display().to_string());
    assert_eq!(found("version"), TESTED_CLAUDE_CODE);
    let pin = format!("to pin this version: `npm i -g @anthropic-ai/claude-code@{TESTED_CLAUDE_CODE}`");
    assert_eq!(check(&report, "version")["hint"], pin);
    assert!(found("sessions").starts_with("1 session"), "{}", found("sessions"));
    assert!(found("cleanup").contains("30 days"));
    assert_eq!(found("git"), "git version 2.50.0");
    // The checks leave no files behind.
    let left: Vec<_> = fs::read_dir(machine.path("home/.claude")).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(!machine.path("home/.cache").exists() && !machine.path("home/.local").exists());
}

#[test]
fn c30_another_version_than_the_tested_one_is_shown_beside_it() {
    for version in ["2.1.197", "2.1.9999", "9.9.9"] {
        let machine = Machine::new(version);
        let (code, report) = Machine::report(&mut machine.doctor());
        assert_eq!(code, 0, "{report:#}");
        let check = check(&report, "version");
        assert_eq!(check["found"], format!("{version}, tested with {TESTED_CLAUDE_CODE}"));
        let hint = check["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("claude-code@{TESTED_CLAUDE_CODE}")), "{hint}");
    }
}

#[test]
fn what_is_needed_and_missing_fails_with_a_hint() {
    let machine = Machine::new("1.0.44");
    let (code, report) = Machine::report(&mut machine.doctor());
    let version = check(&report, "version");
    assert_eq!((code, &version["ok"], &report["ok"]), (1, &Value::Bool(false), &Value::Bool(false)));
    assert!(version["found"].as_str().unwrap().contains("1.0.44 is too old"), "{version}");
    assert!(version["hint"].as_str().unwrap().contains("npm i -g @anthropic-ai/claude-code@"));

    fs::remove_file(machine.path("home/.claude/.credentials.json")).unwrap();
    machine.program("claude", "exit 3");
    let (code, report) = Machine::report(&mut machine.doctor());
    assert_eq!((code, &check(&report, "version")["ok"]), (1, &Value::Bool(false)));
    let login = check(&report, "login");
    assert_eq!((&login["ok"], login["found"].as_str()), (&Value::Bool(false), Some("none")));
    assert!(login["hint"].as_str().unwrap().contains("/login"));
}

#[test]
fn c14_a_missing_program_fails_one_check() {
    let machine = Machine { temp: tempfile::tempdir().unwrap() };
    machine.program("git", "echo 'git version 2.50.0'");
    fs::create_dir_all(machine.path("home")).unwrap();
    let (code, report) = Machine::report(&mut machine.doctor());
    assert_eq!(code, 1);
    let wrong = report["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false);
    let wrong: Vec<&str> = wrong.map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(wrong, ["claude"]);
    assert!(check(&report, "version")["found"].as_str().unwrap().contains("not checked"));
}

#[test]
fn c32_a_check_that_was_left_out_has_no_mark_of_success() {
    let machine = Machine { temp: tempfile::tempdir().unwrap() };
    fs::create_dir_all(machine.path("home")).unwrap();
    let output = machine.doctor().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("· version   not checked") && !text.contains("✓ version"), "{text}");
}

#[test]
fn folders_that_do_not_exist_yet_do_not_fail() {
    let machine = Machine::new(TESTED_CLAUDE_CODE);
    fs::remove_dir_all(machine.path("home/.claude")).unwrap();
    let (code, report) = Machine::report(machine.doctor().env("ANTHROPIC_API_KEY", SECRET));
    assert_eq!(code, 0, "{report:#}");
    for name in ["config", "sessions"] {
        let check = check(&report, name);
        let found = check["found"].as_str().unwrap();
        assert!(check["ok"] == true && found.starts_with("none yet"), "{name}: {check}");
    }
}

#[test]
fn every_way_to_log_in_counts_and_none_is_shown() {
    let machine = Machine::new(TESTED_CLAUDE_CODE);
    fs::remove_file(machine.path("home/.claude/.credentials.json")).unwrap();
    let (code, report) = Machine::report(machine.doctor().env("ANTHROPIC_API_KEY", SECRET));
    assert_eq!((code, check(&report, "login")["found"].as_str()), (0, Some("ANTHROPIC_API_KEY is set")));
    let (code, _) = Machine::report(machine.doctor().env("ANTHROPIC_API_KEY", ""));
    assert_eq!(code, 1, "an empty key is none");
    let profile = format!("{{\"oauthAccount\":{{\"secret\":\"{SECRET}\"}}}}");
    fs::write(machine.path("home/.claude.json"), profile).unwrap();
    assert_eq!(Machine::report(&mut machine.doctor()).0, 0);
    fs::remove_file(machine.path("home/.claude.json")).unwrap();
    fs::write(
        machine.path("home/.claude/settings.json"),
        "{\"apiKeyHelper\":\"x\",\"cleanupPeriodDays\":90}",
    )
    .unwrap();
    let (code, report) = Machine::report(&mut machine.doctor());
    assert_eq!(code, 0);
    assert!(check(&report, "cleanup")["found"].as_str().unwrap().contains("90 days"));
}

#[test]
fn what_is_only_useful_does_not_fail() {
    let machine = Machine::new(TESTED_CLAUDE_CODE);
    fs::remove_file(machine.path("bin/git")).unwrap();
    let (code, report) = Machine::report(&mut machine.doctor());
    assert_eq!(
        (code, &check(&report, "git")["ok"], &report["ok"]),
        (0, &Value::Bool(false), &Value::Bool(true))
    );
    // A file is in the place of the folder.
    fs::write(machine.path("blocked"), "").unwrap();
    let blocked = machine.path("blocked/deeper");
    let (code, report) = Machine::report(machine.doctor().env("TIDINGS_CACHE_DIR", &blocked));
    assert_eq!((code, &check(&report, "cache")["ok"]), (0, &Value::Bool(false)));
    let (code, report) = Machine::report(machine.doctor().env("TIDINGS_DATA_DIR", &blocked));
    assert_eq!((code, &check(&report, "store")["ok"]), (1, &Value::Bool(false)));
}

#[test]
fn a_person_gets_a_list_with_marks_and_hints() {
    let machine = Machine::new("1.0.44");
    fs::remove_file(machine.path("bin/git")).unwrap();
    let output = machine.doctor().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The state of the port depends on the machine.
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.contains("7717") && !line.contains("listens")).collect();
    let text = lines.join("\n").replace(&machine.temp.path().display().to_string(), "TEMP");
    insta::assert_snapshot!(text);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_settings_of_the_server_are_looked_at() {
    let machine = Machine::new(TESTED_CLAUDE_CODE);
    let file = machine.path("home/.config/tidings/serve.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "listen = \"127.0.0.1:1\"\ndata = \"~/store\"\n").unwrap();
    let (_, report) = Machine::report(&mut machine.doctor());
    let found = |report: &Value, name: &str| check(report, name)["found"].as_str().unwrap().to_owned();
    assert_eq!(found(&report, "settings"), file.display().to_string());
    assert!(found(&report, "port").starts_with("127.0.0.1:1"), "{report:#}");
    assert_eq!(found(&report, "store"), machine.path("home/store").display().to_string());
    let (_, report) = Machine::report(machine.doctor().env("TIDINGS_LISTEN", "none"));
    assert_eq!(found(&report, "port"), "none, the server listens on its socket only");

    fs::write(&file, "live_max = \"x\"\n").unwrap();
    let (code, report) = Machine::report(&mut machine.doctor());
    let settings = check(&report, "settings");
    assert_eq!((code, &settings["ok"]), (1, &Value::Bool(false)), "{report:#}");
    assert!(settings["found"].as_str().unwrap().contains("line 1, `live_max`"), "{settings}");
    assert!(settings["hint"].as_str().unwrap().contains("serve --help"), "{settings}");
}
