//! A run in the background of a test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::run::sandbox::Sandbox;
use crate::serve::machine::poll;

pub(crate) struct StartedRun {
    child: Child,
    data: PathBuf,
    talk: PathBuf,
}

impl StartedRun {
    /// Starts `tidings run` without a terminal.
    pub(crate) fn run(sandbox: &Sandbox, arguments: &[&str], input: Stdio) -> Self {
        let (data, talk) = (sandbox.path("data"), sandbox.path("talk"));
        let file = |path: &Path| std::fs::File::create(path).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .env_clear()
            .envs(sandbox.environment())
            .current_dir(sandbox.path("."))
            .args(sandbox.arguments(arguments))
            .stdin(input)
            .stdout(file(&data))
            .stderr(file(&talk))
            .spawn()
            .unwrap();
        StartedRun { child, data, talk }
    }

    /// Output so far, of standard output and standard error.
    pub(crate) fn texts(&self) -> (String, String) {
        let text = |path: &Path| std::fs::read_to_string(path).unwrap();
        (text(&self.data), text(&self.talk))
    }

    /// Waits until a text is on standard output.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let written = poll(|| self.texts().0.contains(text).then_some(()));
        assert!(written.is_some(), "no {text:?}: {:?}", self.texts());
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until it ends, and returns its exit code.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let status = poll(|| self.child.try_wait().unwrap());
        status.unwrap_or_else(|| panic!("it does not end: {:?}", self.texts())).code()
    }

    /// Standard input, if it is a pipe.
    pub(crate) fn input(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }
}

impl Drop for StartedRun {
    fn drop(&mut self) {
        // The run has ended, unless the test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
