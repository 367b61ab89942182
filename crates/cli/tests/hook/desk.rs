//! A simulated machine for the hooks: a home folder, a project, a configuration folder and a data folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

pub(crate) struct Desk {
    temp: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Desk { temp: tempfile::tempdir().unwrap() };
        for folder in ["home/.claude", "project", "bin", "data"] {
            fs::create_dir_all(desk.path(folder)).unwrap();
        }
        fs::set_permissions(desk.path("data"), fs::Permissions::from_mode(0o700)).unwrap();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    /// The user's plugin folder.
    pub(crate) fn plugin(&self) -> PathBuf {
        self.path("home/.claude/skills/tidings")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a script in place of `claude` that prints a version.
    pub(crate) fn claude(&self, version: &str) {
        self.write("bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
        fs::set_permissions(self.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Command that runs `tidings` in the project.
    pub(crate) fn tidings(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("tidings"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", self.path("bin"));
        command.env("TIDINGS_DATA_DIR", self.path("data")).current_dir(self.path("project")).args(args);
        command
    }

    /// Runs a command of `tidings hook` to its end.
    pub(crate) fn hook(&self, args: &[&str]) -> Output {
        let args: Vec<&str> = ["hook"].iter().chain(args).copied().collect();
        self.tidings(&args).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command of `tidings hook` that must succeed, and returns its output.
    pub(crate) fn fine(&self, args: &[&str]) -> String {
        let output = self.hook(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command of `tidings hook` that must fail, and returns its message.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.hook(args);
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("hint"), "{message}");
        message
    }

    /// The JSON of `tidings hook status`, and its exit code.
    pub(crate) fn status(&self) -> (i32, Value) {
        let output = self.hook(&["status", "--json"]);
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Input of a hook in the project.
    pub(crate) fn input(&self) -> String {
        json!({"session_id": "a", "cwd": self.path("project"), "text": "ä\u{1f600}"}).to_string() + "\n"
    }

    /// Starts `tidings hook run`, which gives up as it does for users, and gives it the input.
    pub(crate) fn start(&self, event: &str, input: &str) -> Child {
        feed(&mut self.tidings(&["hook", "run", event]), input)
    }

    /// Starts a hook that waits for a reply as long as a busy machine needs.
    pub(crate) fn start_patient(&self, event: &str, input: &str) -> Child {
        feed(&mut self.patient(event), input)
    }

    pub(crate) fn patient(&self, event: &str) -> Command {
        self.tidings(&["hook", "run", event, "--reply-ms", "60000"])
    }

    /// Every file and link below a folder, with its content.
    pub(crate) fn tree(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        walk(&self.path(name), &mut files);
        files
    }
}

/// Starts a command with this input.
pub(crate) fn feed(command: &mut Command, input: &str) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child
}

/// Waits for a hook that must end without a word.
pub(crate) fn ends_silently(hook: Child) {
    assert_eq!(printed(hook), "");
}

/// Waits for a hook, and returns its output. The exit code is always 0, and nothing is reported.
pub(crate) fn printed(hook: Child) -> String {
    let output = hook.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = path.symlink_metadata().unwrap();
        if found.is_dir() {
            files.insert(path.clone(), b"folder".to_vec());
            walk(&path, files);
        } else if found.is_symlink() {
            files.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}
