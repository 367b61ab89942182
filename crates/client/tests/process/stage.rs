//! A folder with a program named `claude` in it.

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
    /// A `claude` that plays this script.
    pub(crate) fn playing(script: &str) -> Self {
        let stage = Stage { folder: TempDir::new().unwrap() };
        std::fs::write(stage.path("script.toml"), script).unwrap();
        let program = example("stand_in");
        let (script, config) = (stage.path("script.toml"), stage.path("config"));
        let quoted = |path: &Path| format!("'{}'", path.display());
        let line = format!("exec {} {} {} \"$@\"\n", quoted(&program), quoted(&script), quoted(&config));
        stage.write_program(&line);
        stage
    }

    /// A `claude` that is this shell script.
    pub(crate) fn running(script: &str) -> Self {
        let stage = Stage { folder: TempDir::new().unwrap() };
        stage.write_program(script);
        stage
    }

    fn write_program(&self, script: &str) {
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

    pub(crate) fn options(&self) -> Options {
        Options::new().program(self.program()).cwd(self.folder.path())
    }
}

/// A program of this crate's `examples/`, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.exists(), "run `cargo build -p tidings --examples` first: {}", program.display());
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
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(Some('Z' | 'X')))
}
