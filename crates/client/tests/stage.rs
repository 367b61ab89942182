//! A folder with a program named `claude` in it.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidings::Options;

/// Longest wait of a test; most things take milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A temporary folder for a test.
pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    /// A folder without a program.
    pub(crate) fn empty() -> Self {
        Stage { folder: TempDir::new().unwrap() }
    }

    /// A `claude` that plays this script.
    pub(crate) fn playing(script: &str) -> Self {
        let stage = Stage::empty();
        std::fs::write(stage.path("script.toml"), script).unwrap();
        stage.play(&stage.path("script.toml"), &quoted(&stage.path("config")));
        stage
    }

    /// A `claude` that is this shell script.
    pub(crate) fn running(script: &str) -> Self {
        let stage = Stage::empty();
        stage.write_program(script);
        stage
    }

    /// Makes `claude` play the script in a file. The configuration folder is a word of the shell.
    pub(crate) fn play(&self, script: &Path, config: &str) {
        let (program, script) = (quoted(&example("stand_in")), quoted(script));
        self.write_program(&format!("exec {program} {script} {config} \"$@\"\n"));
    }

    /// Makes `claude` a shell script.
    pub(crate) fn write_program(&self, script: &str) {
        let program = self.program();
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.path("claude")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn options(&self) -> Options {
        Options::new().program(self.program()).cwd(self.folder())
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// A program of this crate's `examples/`, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let build = "cargo build -p tidings --all-features --examples";
    assert!(program.exists(), "run `{build}` first: {}", program.display());
    program
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn eventually(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True if the process exists and is not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// The state of a process as a letter.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}
