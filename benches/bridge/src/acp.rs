//! claude-agent-acp: another bridge, which speaks the Agent Client Protocol on its standard streams.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::clock::{now_ns, times};
use crate::workload::Workload;
use crate::{Failure, process};

/// An adapter with one session.
pub(crate) struct Adapter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    asked: u64,
    /// The beginning of a line that was not complete at the last delta.
    begun: Vec<u8>,
}

impl Adapter {
    pub(crate) fn start(node: &Path, script: &Path, agent: &Path, home: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(node);
        command.arg(script).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", home)
            .env("CLAUDE_CONFIG_DIR", home.join(".claude"))
            .env("ANTHROPIC_API_KEY", "none");
        command.env("CLAUDE_CODE_EXECUTABLE", agent).current_dir(home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
        let (output, session) = (BufReader::new(output), String::new());
        let mut adapter = Adapter { child, input, output, session, asked: 0, begun: Vec::new() };
        let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        adapter.ask("initialize", &json!({"protocolVersion": 1, "clientCapabilities": capabilities}))?;
        let made = adapter.ask("session/new", &json!({"cwd": home, "mcpServers": []}))?;
        adapter.session = made["sessionId"].as_str().ok_or("no session")?.to_owned();
        Ok(adapter)
    }

    /// Runs a workload. Returns the latency of each delta, in nanoseconds.
    pub(crate) fn run(&mut self, workload: Workload) -> Result<Vec<u64>, Failure> {
        let text = json!({"type": "text", "text": workload.to_string()});
        let prompt = json!({"sessionId": self.session, "prompt": [text]});
        let id = self.send("session/prompt", &prompt)?;
        let (mut chunk, mut all) = (vec![0; 256 << 10], Vec::new());
        let end = format!(r#""id":{id},"#);
        while all.len() < workload.deltas {
            let count = self.output.get_mut().read(&mut chunk)?;
            let now = now_ns();
            if count == 0 {
                return Err("the adapter has ended".into());
            }
            self.begun.extend_from_slice(&chunk[..count]);
            let Some(last) = memchr::memrchr(b'\n', &self.begun) else { continue };
            let lines = &self.begun[..last];
            all.extend(times(lines).map(|written| now.saturating_sub(written)));
            let is_over = memchr::memmem::find(lines, end.as_bytes()).is_some();
            self.begun.drain(..=last);
            if is_over {
                return Ok(all);
            }
        }
        self.answer(id)?;
        Ok(all)
    }

    /// Its processor time so far, without that of the agent.
    pub(crate) fn cpu_ms(&self) -> Result<f64, Failure> {
        process::cpu_ms(self.child.id())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, Failure> {
        self.asked += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.input.write_all(format!("{request}\n").as_bytes())?;
        Ok(self.asked)
    }

    fn answer(&mut self, id: u64) -> Result<Value, Failure> {
        let mut line = std::mem::take(&mut self.begun);
        loop {
            if self.output.read_until(b'\n', &mut line)? == 0 {
                return Err("the adapter has ended".into());
            }
            let message: Value = serde_json::from_slice(&line)?;
            line.clear();
            if message["id"] == json!(id) && message.get("method").is_none() {
                if message.get("error").is_some() {
                    return Err(format!("the adapter answers {}", message["error"]).into());
                }
                return Ok(message["result"].clone());
            }
        }
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        for child in process::below(self.child.id()) {
            if let Some(pid) = i32::try_from(child).ok().and_then(rustix::process::Pid::from_raw) {
                _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
