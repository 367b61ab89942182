//! A host that runs a shell script in place of `claude`.

use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::host::raw::Raw;
use crate::stage::{Stage, example, is_alive};

/// P6: no process outlives its host by more than this.
pub(crate) const PROMISED: Duration = Duration::from_secs(10);

/// A host that the test started, with its folder.
pub(crate) struct HostStage {
    stage: Stage,
    pub(crate) host: Child,
}

/// The parameters of a launch request besides the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) lease_ms: u64,
    pub(crate) spool_bytes_max: u64,
    /// The argument of the agent; `--filtered` puts a filter before it.
    pub(crate) flag: &'static str,
    /// `sweep` to stop what the CLI leaves behind, `keep` to leave it alone.
    pub(crate) orphans: &'static str,
}

impl Default for Terms {
    fn default() -> Self {
        Terms { lease_ms: 60_000, spool_bytes_max: 64 << 20, flag: "--flag", orphans: "sweep" }
    }
}

impl HostStage {
    /// Starts a host that runs this shell script, and attaches with the fence 1.
    pub(crate) fn open(script: &str, terms: Terms) -> (Self, Raw) {
        let stage = HostStage::begin(script);
        let mut raw = Raw::connect(&stage.place());
        stage.send_start(&mut raw, terms);
        raw.ask_to_attach("s3cret", "first", 1, None);
        raw.greeted();
        (stage, raw)
    }

    /// Starts a host without sending a launch request.
    pub(crate) fn begin(script: &str) -> Self {
        let stage = Stage::running(script);
        let place = stage.path("host");
        std::fs::DirBuilder::new().mode(0o700).create(&place).unwrap();
        let record =
            json!({"program": "0", "id": "h1", "session": "k1", "secret": "s3cret", "started": "then"});
        std::fs::write(place.join("host.json"), record.to_string()).unwrap();
        let listener = UnixListener::bind(place.join("socket")).unwrap();
        let mut command = Command::new(example("agent_host"));
        command.arg(&place).env_clear().stdin(OwnedFd::from(listener)).stdout(Stdio::null());
        let host = command.spawn().unwrap();
        HostStage { stage, host }
    }

    /// Sends the launch request for the script.
    pub(crate) fn send_start(&self, raw: &mut Raw, terms: Terms) {
        let start = json!({
            "program": self.stage.program(), "args": [terms.flag], "cwd": self.stage.folder(), "user": null,
            "orphans": terms.orphans,
            "env": [["PATH", "/usr/bin:/bin"], ["HOST_TEST", self.stage.folder()]],
            "lease_ms": terms.lease_ms, "spool_bytes_max": terms.spool_bytes_max,
        })
        .to_string();
        raw.send(&format!(r#"{{"kind":"start","bytes":{}}}"#, start.len()), start.as_bytes());
    }

    pub(crate) fn place(&self) -> PathBuf {
        self.path("host")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.stage.path(name)
    }

    /// The processes with the mark of this stage: the CLI and all that it started.
    pub(crate) fn marked(&self) -> Vec<u32> {
        let mark = format!("HOST_TEST={}", self.stage.folder().display());
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
impl Drop for HostStage {
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

/// The total size of the files in a folder, in bytes.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
