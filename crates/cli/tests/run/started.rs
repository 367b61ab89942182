//! A run that goes on while the test does something to it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::stage::Stage;

/// No test waits longer than this for something to happen; most things take milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Started {
    child: Child,
    data: PathBuf,
    talk: PathBuf,
}

impl Started {
    /// Starts `tidings run` with nobody at its terminal.
    pub(crate) fn run(stage: &Stage, arguments: &[&str], input: Stdio) -> Self {
        let (data, talk) = (stage.path("data"), stage.path("talk"));
        let file = |path: &Path| std::fs::File::create(path).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .env_clear()
            .envs(stage.environment())
            .current_dir(stage.path("."))
            .args(stage.arguments(arguments))
            .stdin(input)
            .stdout(file(&data))
            .stderr(file(&talk))
            .spawn()
            .unwrap();
        Started { child, data, talk }
    }

    /// What it has written, to standard output and to standard error.
    pub(crate) fn texts(&self) -> (String, String) {
        let text = |path: &Path| std::fs::read_to_string(path).unwrap();
        (text(&self.data), text(&self.talk))
    }

    /// Waits until a text is on standard output.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.texts().0.contains(text) {
            assert!(start.elapsed() < PATIENCE, "no {text:?}: {:?}", self.texts());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until it is over, and gives its exit code.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < PATIENCE, "it does not end: {:?}", self.texts());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The input, if it is a pipe.
    pub(crate) fn input(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
