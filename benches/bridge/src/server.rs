//! The server under test, with an agent behind it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clock::now_ns;
use crate::process::{self, Memory};
use crate::workload::Workload;
use crate::{Failure, http};

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    /// The path of its Unix socket.
    pub(crate) socket: String,
    pub(crate) token: String,
    /// Time from its start until it answered.
    pub(crate) ready_ms: f64,
    data: PathBuf,
    project: PathBuf,
    _folder: TempDir,
}

impl Server {
    pub(crate) fn start(tidings: &Path, agent: &Path, arguments: &[&str]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (data, project) = (folder.path().join("data"), folder.path().join("project"));
        std::fs::create_dir_all(&project)?;
        let mut command = Command::new(tidings);
        command.args([
            "serve",
            "--json",
            "--listen",
            "127.0.0.1:0",
            "--live-max",
            "1000",
            "--log-level",
            "warn",
        ]);
        command.args(arguments).arg("--data").arg(&data).arg("--claude-path").arg(agent);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", folder.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let began = now_ns();
        let mut child = command.spawn()?;
        let mut announced = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut announced)?;
        let announced: Value = serde_json::from_str(&announced)?;
        let address =
            announced["address"].as_str().and_then(|url| url.strip_prefix("http://")).ok_or("no address")?;
        let socket = announced["socket"].as_str().ok_or("no socket")?.to_owned();
        let admin = std::fs::read_to_string(data.join("token"))?.trim().to_owned();
        // It is ready when it answers, not when it prints its address.
        let (status, text) = http::ask(&socket, &admin, "GET", "/readyz", None)?;
        #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 ns")]
        let ready_ms = (now_ns() - began) as f64 / 1e6;
        if status != 200 {
            return Err(format!("the server is not ready: {status} {text}").into());
        }
        let all = json!({"name": "bench", "scopes": ["admin"]});
        let made = http::expect(&socket, &admin, "POST", "/v1/devices", Some(&all))?;
        let token = made["token"].as_str().ok_or("no token")?.to_owned();
        Ok(Server {
            address: address.to_owned(),
            socket,
            child,
            token,
            ready_ms,
            data,
            project,
            _folder: folder,
        })
    }

    /// Creates a session. Returns its key.
    pub(crate) fn session(&self) -> Result<String, Failure> {
        let made = self.post("/v1/sessions", &json!({"cwd": self.project}))?;
        Ok(made["key"].as_str().ok_or("no key")?.to_owned())
    }

    /// Sends a workload to a session.
    pub(crate) fn prompt(&self, session: &str, workload: Workload) -> Result<(), Failure> {
        self.post(&format!("/v1/sessions/{session}/input"), &json!({"content": workload.to_string()}))?;
        Ok(())
    }

    /// Waits until the turn of a session has ended.
    pub(crate) fn settle(&self, session: &str) -> Result<(), Failure> {
        for _ in 0..1000 {
            let path = format!("/v1/sessions/{session}");
            let view = http::expect(&self.address, &self.token, "GET", &path, None)?;
            if view["state"] == "idle" || view["state"] == "parked" {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("a session does not come to rest".into())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        http::expect(&self.address, &self.token, "POST", path, Some(body))
    }

    /// The process ids of its agent hosts.
    pub(crate) fn hosts(&self) -> Vec<u32> {
        process::called(&[" host ", &self.data.display().to_string()])
    }

    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        process::memory(self.child.id())
    }

    /// Processor time so far, of the server and of its hosts.
    pub(crate) fn cpu_ms(&self, hosts: &[u32]) -> Result<(f64, f64), Failure> {
        let hosts: Result<Vec<f64>, Failure> = hosts.iter().map(|host| process::cpu_ms(*host)).collect();
        Ok((process::cpu_ms(self.child.id())?, hosts?.iter().sum()))
    }
}

impl Drop for Server {
    /// Ends the hosts, too: no later server adopts their agents.
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process};
        let signal = |pid: u32, signal| {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                _ = kill_process(pid, signal);
            }
        };
        let hosts = self.hosts();
        drop(self.child.kill());
        drop(self.child.wait());
        // A host that is terminated ends its agent.
        hosts.iter().for_each(|host| signal(*host, Signal::TERM));
        for _ in 0..200 {
            if self.hosts().is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.hosts().iter().for_each(|host| signal(*host, Signal::KILL));
    }
}
