//! `tidings self` and `tidings serve --install`, as a user runs them, with a recorded `systemctl`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use serde_json::Value;

/// A home folder, and a `systemctl` that records its arguments.
struct Machine {
    temp: tempfile::TempDir,
}

impl Machine {
    fn new(systemctl: &str) -> Self {
        let machine = Machine { temp: tempfile::tempdir().unwrap() };
        let program = machine.path("bin/systemctl");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::create_dir_all(machine.path("home")).unwrap();
        let calls = machine.path("calls").display().to_string();
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" >>{calls}\n{systemctl}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn unit(&self) -> PathBuf {
        self.path("home/.config/systemd/user/tidings.service")
    }

    fn tidings(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("HOME", self.path("home")).env("PATH", self.path("bin")).args(args);
        command
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.tidings(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap_or_default()
    }
}

#[test]
fn install_writes_the_unit_and_starts_it() {
    let machine = Machine::new("");
    let installed = machine.json(&["serve", "--install", "--json"]);
    assert_eq!(installed["path"], machine.unit().to_str().unwrap());
    assert_eq!(installed["previous"], Value::Null);
    let unit = fs::read_to_string(machine.unit()).unwrap();
    let program = installed["program"].as_str().unwrap();
    assert!(unit.contains(&format!("ExecStart={program} serve --log json\n")), "{unit}");
    assert_eq!(
        machine.calls(),
        "--user daemon-reload\n--user enable tidings.service\n--user restart tidings.service\n"
    );
    let report = machine.json(&["self", "--json"]);
    assert_eq!(report["service"], machine.unit().to_str().unwrap());
}

#[test]
fn systemd_accepts_the_unit() {
    let machine = Machine::new("");
    machine.tidings(&["serve", "--install"]).assert().success();
    let verify = Process::new("systemd-analyze")
        .args(["verify", "--user", "--man=no"])
        .arg(machine.unit())
        .env("XDG_RUNTIME_DIR", machine.temp.path())
        .stdin(Stdio::null())
        .output();
    // Machines without systemd have no judge for its files.
    let Ok(verify) = verify else { return };
    let said = String::from_utf8_lossy(&verify.stderr).into_owned();
    assert!(verify.status.success(), "{said}");
    assert!(!said.contains("tidings.service"), "{said}");
}

#[test]
fn an_edited_unit_is_kept_beside_the_new_one() {
    let machine = Machine::new("");
    fs::create_dir_all(machine.unit().parent().unwrap()).unwrap();
    fs::write(machine.unit(), "[Service]\nExecStart=/mine\n").unwrap();
    let installed = machine.json(&["serve", "--install", "--json"]);
    let previous = installed["previous"].as_str().unwrap();
    assert_eq!(fs::read_to_string(previous).unwrap(), "[Service]\nExecStart=/mine\n");
    // The same unit again replaces nothing.
    let again = machine.json(&["serve", "--install", "--json"]);
    assert_eq!(again["previous"], Value::Null);
    assert_eq!(fs::read_to_string(previous).unwrap(), "[Service]\nExecStart=/mine\n");
}

#[test]
fn a_service_manager_that_refuses_is_an_error_with_its_words() {
    let machine = Machine::new("echo 'Failed to connect to bus' >&2; exit 1");
    let output = machine.tidings(&["serve", "--install"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Failed to connect to bus") && said.contains("hint"), "{said}");
    assert_eq!(machine.calls(), "--user daemon-reload\n");
}

#[test]
fn settings_on_the_command_line_are_refused_for_a_service() {
    let machine = Machine::new("");
    for flag in [["--listen", "0.0.0.0:80"], ["--data", "here"]] {
        let output = machine.tidings(&["serve", "--install"]).args(flag).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert!(!machine.unit().exists());
    assert_eq!(machine.calls(), "");
}

#[test]
fn self_reports_the_version_the_way_and_the_folders() {
    let machine = Machine::new("");
    let report = machine.json(&["self", "--json"]);
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["installed_by"], "checkout");
    assert_eq!(report["data"], machine.path("home/.local/share/tidings").to_str().unwrap());
    assert_eq!(report["service"], Value::Null);
    // The same for a person, and nothing was created by asking.
    let text = machine.tidings(&["self"]).output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains("installed by  checkout\n"));
    assert!(!machine.path("home/.local").exists());

    let elsewhere = machine.path("usr/bin/tidings");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    let built = report["program"].as_str().unwrap();
    fs::hard_link(built, &elsewhere).or_else(|_| fs::copy(built, &elsewhere).map(drop)).unwrap();
    let output = Process::new(&elsewhere).args(["self", "--json"]).env_clear().output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["installed_by"], "hand");
}
