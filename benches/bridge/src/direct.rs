//! The agent's pipe alone, or through programs that only store and forward what they read: the cost of pipes,
//! files, sockets, wake-ups and the reader by themselves.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Seek as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::clock::{now_ns, times};
use crate::workload::Workload;
use crate::{Failure, http, process};

/// Bytes after which a file is written from its beginning again.
pub(crate) const FILE_BYTES: usize = 64 << 10;

/// An agent, and the programs that forward its output.
pub(crate) struct Direct {
    agent: Child,
    forwarders: Vec<Child>,
    output: Box<dyn Read>,
}

impl Direct {
    /// Only the agent.
    pub(crate) fn start(agent: &Path) -> Result<Self, Failure> {
        let (agent, output) = begin(agent)?;
        Ok(Direct { agent, forwarders: Vec::new(), output: Box::new(output) })
    }

    /// Like a host and a server: a program that stores its input in a file and forwards it, and another that
    /// does the same over TCP.
    pub(crate) fn passed(agent: &Path, scratch: &Path) -> Result<Self, Failure> {
        let (agent, output) = begin(agent)?;
        let pass = |number: &str| ourselves("pass", &scratch.join(number));
        let mut host = pass("1")?.stdin(output).stdout(Stdio::piped()).spawn()?;
        let kept = host.stdout.take().ok_or("no pipe")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port().to_string();
        let server = pass("2")?.arg(port).stdin(kept).spawn()?;
        let (output, _) = listener.accept()?;
        Ok(Direct { agent, forwarders: vec![host, server], output: Box::new(output) })
    }

    /// One program that does the same over a WebSocket.
    pub(crate) fn served(agent: &Path, scratch: &Path) -> Result<Self, Failure> {
        let (agent, output) = begin(agent)?;
        let mut server =
            ourselves("least", &scratch.join("3"))?.stdin(output).stdout(Stdio::piped()).spawn()?;
        let mut port = String::new();
        BufReader::new(server.stdout.take().ok_or("no pipe")?).read_line(&mut port)?;
        let output = http::upgrade(&format!("127.0.0.1:{}", port.trim()), "none")?;
        Ok(Direct { agent, forwarders: vec![server], output: Box::new(output) })
    }

    /// Runs a workload. Returns the latency of each delta, in nanoseconds.
    pub(crate) fn run(&mut self, workload: Workload) -> Result<Vec<u64>, Failure> {
        let input = self.agent.stdin.as_mut().ok_or("no pipe")?;
        let message = json!({"role": "user", "content": workload.to_string()});
        let prompt =
            json!({"type": "user", "message": message, "session_id": "", "parent_tool_use_id": null});
        input.write_all(format!("{prompt}\n").as_bytes())?;
        let (mut chunk, mut rest, mut all) = (vec![0; 256 << 10], Vec::new(), Vec::new());
        loop {
            let count = self.output.read(&mut chunk)?;
            let now = now_ns();
            if count == 0 {
                return Ok(all);
            }
            rest.extend_from_slice(&chunk[..count]);
            let Some(end) = memchr::memrchr(b'\n', &rest) else { continue };
            let lines = rest[..end].split(|byte| *byte == b'\n');
            // Other lines repeat the text once it is complete.
            let deltas = lines.filter(|line| memchr::memmem::find(line, b"content_block_delta").is_some());
            all.extend(deltas.flat_map(times).map(|written| now.saturating_sub(written)));
            if memchr::memmem::find(&rest[..end], br#""type":"result""#).is_some() {
                return Ok(all);
            }
            rest.drain(..=end);
        }
    }

    /// Processor time of the programs that forward, so far.
    pub(crate) fn cpu_ms(&self) -> Result<f64, Failure> {
        self.forwarders.iter().map(|forwarder| process::cpu_ms(forwarder.id())).sum()
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        for child in std::iter::once(&mut self.agent).chain(&mut self.forwarders) {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// This program as one that forwards and stores.
fn ourselves(part: &str, file: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(part).arg(file);
    Ok(command)
}

fn begin(agent: &Path) -> Result<(Child, ChildStdout), Failure> {
    let mut command = Command::new(agent);
    command.args(["-p", "--verbose", "--include-partial-messages"]);
    command.args(["--input-format", "stream-json", "--output-format", "stream-json"]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let output = agent.stdout.take().ok_or("no pipe")?;
    Ok((agent, output))
}

/// Stores standard input in a file and forwards it: to a port if one is given, else to standard output.
pub(crate) fn pass(arguments: &[String]) -> Result<bool, Failure> {
    let mut kept = File::create(arguments.first().ok_or("no file")?)?;
    let mut output: Box<dyn Write> = match arguments.get(1) {
        Some(port) => {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port.parse()?))?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        None => Box::new(File::from(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?)),
    };
    let (mut input, mut chunk, mut written) = (std::io::stdin().lock(), vec![0; FILE_BYTES], 0);
    loop {
        let count = input.read(&mut chunk)?;
        if count == 0 {
            return Ok(true);
        }
        if written + count > FILE_BYTES {
            kept.rewind()?;
            written = 0;
        }
        kept.write_all(&chunk[..count])?;
        written += count;
        output.write_all(&chunk[..count])?;
    }
}
