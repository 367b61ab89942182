//! A folder with a host in it, and a shell script that plays `claude`.

use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::host::raw::Raw;

/// Longest wait of a test; most things take milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// P6: no process outlives its host by more than this.
pub(crate) const PROMISED: Duration = Duration::from_secs(10);

/// A host that the test started, with its folder.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) host: Child,
}

/// The parameters of a launch request besides the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) lease_ms: u64,
    pub(crate) spool_bytes_max: u64,
    /// `sweep` to stop what the CLI leaves behind, `keep` to leave it alone.
    pub(crate) orphans: &'static str,
}

impl Default for Terms {
    fn default() -> Self {
        Terms { lease_ms: 60_000, spool_bytes_max: 64 << 20, orphans: "sweep" }
    }
}

impl Stage {
    /// Starts a host that runs this shell script, and attaches with the fence 1.
    pub(crate) fn open(script: &str, terms: Terms) -> (Self, Raw) {
        let stage = Stage::begin(script);
        let mut raw = Raw::connect(&stage.place());
        stage.send_start(&mut raw, terms);
        raw.ask_to_attach("s3cret", "first", 1, None);
        raw.greeted();
        (stage, raw)
    }

    /// Starts a host without sending a launch request.
    pub(crate) fn begin(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("claude");
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let place = folder.path().join("host");
        std::fs::DirBuilder::new().mode(0o700).create(&place).unwrap();
        let record =
            json!({"program": "0", "id": "h1", "session": "k1", "secret": "s3cret", "started": "then"});
        std::fs::write(place.join("host.json"), record.to_string()).unwrap();
        let listener = UnixListener::bind(place.join("socket")).unwrap();
        let mut command = Command::new(example("agent_host"));
        command.arg(&place).env_clear().stdin(OwnedFd::from(listener)).stdout(Stdio::null());
        let host = command.spawn().unwrap();
        Stage { folder, host }
    }

    /// Sends the launch request for the script.
    pub(crate) fn send_start(&self, raw: &mut Raw, terms: Terms) {
        let start = json!({
            "program": self.path("claude"), "args": ["--flag"], "cwd": self.folder.path(), "user": null,
            "orphans": terms.orphans,
            "env": [["PATH", "/usr/bin:/bin"], ["HOST_TEST", self.folder.path()]],
            "lease_ms": terms.lease_ms, "spool_bytes_max": terms.spool_bytes_max,
        })
        .to_string();
        raw.send(&format!(r#"{{"kind":"start","bytes":{}}}"#, start.len()), start.as_bytes());
    }

    pub(crate) fn place(&self) -> PathBuf {
        self.folder.path().join("host")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The processes with the mark of this stage: the CLI and all that it started.
    pub(crate) fn marked(&self) -> Vec<u32> {
        let mark = format!("HOST_TEST={}", self.folder.path().display());
        let mut found = Vec::new();
        for pid in pids() {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
                && is_alive(pid)
            {
                found.push(pid);
            }
        }
        found
    }
}

/// Stops a host that the test did not stop.
impl Drop for Stage {
    fn drop(&mut self) {
        signal(self.host.id(), "CONT");
        signal(self.host.id(), "TERM");
        drop(self.host.wait());
    }
}

pub(crate) fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn signal(pid: u32, name: &str) {
    drop(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status());
}

/// A program of this crate's `examples/`, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(
        program.exists(),
        "run `cargo build -p tidings --all-features --examples` first: {}",
        program.display()
    );
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

/// The total size of the files in a folder, in bytes.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
