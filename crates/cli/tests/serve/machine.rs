//! A server in a separate process, with a temporary home folder.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Timeout of every wait, long enough for slow machines.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Simulated machine: a home folder, and programs.
pub(crate) struct Machine {
    temp: tempfile::TempDir,
}

/// A running server.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) link: Option<String>,
    pub(crate) data: PathBuf,
    /// The Unix socket; empty if it has none.
    socket: PathBuf,
    log: PathBuf,
}

/// HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Machine { temp: tempfile::tempdir().unwrap() };
        for folder in ["home", "bin", "project"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    /// Writes a script in place of `claude`.
    pub(crate) fn claude(&self, script: &str) -> PathBuf {
        let path = self.path("bin/claude");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Command that runs `tidings` on this machine.
    pub(crate) fn tidings(&self, arguments: &[&str]) -> Command {
        self.tidings_at(&assert_cmd::cargo::cargo_bin("tidings"), arguments)
    }

    /// Command that runs a copy of `tidings`.
    pub(crate) fn tidings_at(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").args(arguments);
        command.env("TMPDIR", self.temp.path()).current_dir(self.path("project")).stdin(Stdio::null());
        command
    }

    /// Output of a command that must succeed.
    pub(crate) fn output(&self, arguments: &[&str]) -> String {
        let output = self.tidings(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Exit code and standard error of a command.
    pub(crate) fn failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.tidings(arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Running {
        self.serve_with(arguments, |_| {})
    }

    /// Starts a server on a free port, and waits until it prints its address.
    pub(crate) fn serve_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Running {
        self.serve_at(&assert_cmd::cargo::cargo_bin("tidings"), arguments, change)
    }

    /// Starts a copy of `tidings` as a server.
    pub(crate) fn serve_at(
        &self,
        program: &Path,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Running {
        let mut command = self.tidings_at(program, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        let log = self.path("log");
        let file = fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        command.args(arguments).stdout(Stdio::piped()).stderr(file);
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{}", fs::read_to_string(&log).unwrap());
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["address"].as_str().unwrap().split_once("://").unwrap().1.parse().unwrap();
        let pairing = said["link"].as_str().map(str::to_owned);
        let data = said["data"].as_str().unwrap().into();
        let socket = said["socket"].as_str().unwrap_or_default().into();
        Running { child, address, link: pairing, data, socket, log }
    }
}

/// Ends agent hosts, which outlive a killed server and must not outlive the test.
impl Drop for Machine {
    fn drop(&mut self) {
        let folder = self.path("").display().to_string();
        drop(Command::new("pkill").args(["-f", &format!(" host .*{folder}")]).status());
    }
}

impl Running {
    /// The admin token.
    pub(crate) fn token(&self) -> String {
        fs::read_to_string(self.data.join("token")).unwrap().trim().to_owned()
    }

    /// Log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Sends a request with the admin token, on the socket.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let socket = UnixStream::connect(&self.socket).unwrap();
        let bearer = format!("Bearer {}", self.token());
        exchange(socket, "localhost", (method, path), &[("Authorization", &bearer)], body)
    }

    /// A new credential with all scopes, for requests to the address.
    pub(crate) fn credential(&self) -> String {
        let made = self.ask("POST", "/v1/devices", Some(&json!({"name": "script", "scopes": ["admin"]})));
        made.json()["token"].as_str().unwrap().to_owned()
    }

    /// Sends a request with these headers to the address.
    pub(crate) fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        let stream = TcpStream::connect(self.address).unwrap();
        exchange(stream, &self.address.to_string(), (method, path), headers, body)
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        until("the server ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// Sends a request on a connection of its own, and reads the response.
fn exchange(
    mut stream: impl Read + Write,
    host: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Answer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let more: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}Content-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Polls until `look` returns a value; panics after the timeout.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    poll(look).unwrap_or_else(|| panic!("{what}"))
}

/// Polls until `look` returns a value; `None` after the timeout.
pub(crate) fn poll<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// Descendants of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let parent_of = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pairs: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
    let mut found = vec![parent];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(pairs.iter().filter(|(_, above)| *above == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}
