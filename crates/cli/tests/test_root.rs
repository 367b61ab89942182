//! A configuration folder with sessions, and `tidings sessions` on it.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;
use serde_json::Value;

/// A temporary folder with a configuration folder, a cache and a data folder.
pub(crate) struct TestRoot {
    temp: tempfile::TempDir,
}

impl TestRoot {
    /// Creates a configuration folder without sessions.
    pub(crate) fn new() -> Self {
        let root = TestRoot { temp: tempfile::tempdir().unwrap() };
        fs::create_dir_all(root.file("")).unwrap();
        root
    }

    /// A path in the temporary folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    /// The configuration folder.
    pub(crate) fn config(&self) -> PathBuf {
        self.path("config")
    }

    /// A file of a project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.config().join("projects").join(name)
    }

    /// Writes a file of a project.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        write(&path, text);
        path
    }

    /// Writes a file of a project that was last changed this number of seconds after 1970.
    pub(crate) fn write_at(&self, name: &str, text: &str, seconds: u64) {
        set_modified(&self.write(name, text), seconds);
    }

    /// A command of `tidings sessions`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = sessions(&self.config());
        command.env("TIDINGS_CACHE_DIR", self.path("cache")).env("TIDINGS_DATA_DIR", self.path("data"));
        command.args(args);
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Exit code, stdout and stderr of a command, without the temporary path.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.report(&self.output(args))
    }

    pub(crate) fn report(&self, output: &Output) -> String {
        let temp = self.temp.path().canonicalize().unwrap();
        report(output)
            .replace(self.config().to_str().unwrap(), "ROOT")
            .replace(temp.to_str().unwrap(), "TEMP")
    }

    /// The output of a command that must succeed.
    pub(crate) fn stdout(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    }

    /// The lines of JSON that a command prints, which must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.output(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        json_lines(&output)
    }
}

/// `tidings sessions` on a configuration folder.
pub(crate) fn sessions(root: &Path) -> Command {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().env("TZ", "UTC").args(["sessions", "--root"]).arg(root);
    command
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Sets the time of a file's last change in seconds after 1970.
pub(crate) fn set_modified(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Exit code, stdout and stderr in one text.
pub(crate) fn report(output: &Output) -> String {
    let code = output.status.code().unwrap();
    format!("exit: {code}\n--- stdout\n{}--- stderr\n{}", stdout(output), stderr(output))
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The lines of JSON in an output.
pub(crate) fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
