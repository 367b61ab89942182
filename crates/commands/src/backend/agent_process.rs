//! The process of the agent.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tidings_acp::limits::AGENT_LINE_BYTES_MAX;
use tidings_protocol::ndjson::{Line, Splitter};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;

use super::AgentCommand;
use crate::input::READ_BYTES;

/// Variables that a host sets for `claude` only. `CLAUDE_CODE_ENTRYPOINT` is not among them: a process of
/// Claude Code below the agent reports it, and the server knows by it that the session is one of its own.
const NOT_FOR_AGENTS: [&str; 4] = [
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_AGENT_SDK_CLIENT_APP",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
];

/// Lines to the agent that wait to be written. An agent that does not read them is ended.
const LINES_WAITING_MAX: usize = 1024;

/// Time for the agent to exit by itself.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// Time for the rest of its error output to arrive.
const ERRORS_LIMIT: Duration = Duration::from_millis(500);

/// Bytes of the agent's error output that its end is explained with.
const STDERR_BYTES_KEPT: usize = 600;

/// Characters of a line that is too long which are shown.
const HEAD_CHARS: usize = 400;

/// The running agent.
pub(super) struct AgentProcess {
    child: Child,
    stdout: ChildStdout,
    splitter: Splitter,
    buffer: Vec<u8>,
    input: Option<mpsc::Sender<String>>,
    errors: mpsc::Receiver<Vec<u8>>,
    last_errors: Vec<u8>,
    has_ended: bool,
    is_end_told: bool,
}

/// Something that the agent did.
pub(super) enum AgentEvent {
    /// It wrote a line.
    Line(String),
    /// It wrote a line that is too long: its beginning, and its length.
    TooLong(String, u64),
    /// It ended: how, as the end of a sentence, and its exit code.
    Ended(String, u8),
}

impl AgentProcess {
    pub(super) fn start(agent: &AgentCommand) -> std::io::Result<Self> {
        let mut command = Command::new(&agent.command);
        command.args(&agent.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in NOT_FOR_AGENTS {
            command.env_remove(name);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.kill_on_drop(true).spawn()?;
        let gone = || std::io::Error::other("a stream of the agent is missing");
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let mut stdin = child.stdin.take().ok_or_else(gone)?;
        let mut stderr = child.stderr.take().ok_or_else(gone)?;
        let (input, mut lines) = mpsc::channel::<String>(LINES_WAITING_MAX);
        drop(tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if stdin.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        }));
        let (said, errors) = mpsc::channel(64);
        drop(tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
                if said.send(buffer[..count].to_vec()).await.is_err() {
                    return;
                }
            }
        }));
        Ok(AgentProcess {
            child,
            stdout,
            splitter: Splitter::new(AGENT_LINE_BYTES_MAX),
            buffer: vec![0; READ_BYTES],
            input: Some(input),
            errors,
            last_errors: Vec::new(),
            has_ended: false,
            is_end_told: false,
        })
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: String) {
        let is_stuck = self
            .input
            .as_ref()
            .is_some_and(|input| matches!(input.try_send(line), Err(mpsc::error::TrySendError::Full(_))));
        if is_stuck {
            self.input = None;
            drop(self.child.start_kill());
        }
    }

    /// The next event. Cancel safe. Pending for ever after the end.
    pub(super) async fn next(&mut self) -> AgentEvent {
        loop {
            if let Some(line) = self.splitter.next() {
                match line {
                    Line::Json(line) | Line::Noise(line) => {
                        let line = String::from_utf8_lossy(line);
                        return AgentEvent::Line(line.trim().to_owned());
                    }
                    Line::Oversized { len, head, .. } => {
                        let head = String::from_utf8_lossy(head);
                        return AgentEvent::TooLong(head.chars().take(HEAD_CHARS).collect(), len);
                    }
                    _ => continue,
                }
            }
            if self.has_ended {
                if self.is_end_told {
                    return std::future::pending().await;
                }
                // A call that is dropped here is followed by another.
                let (how, code) = self.explain().await;
                self.is_end_told = true;
                return AgentEvent::Ended(how, code);
            }
            tokio::select! {
                biased;
                count = self.stdout.read(&mut self.buffer) => {
                    if let Ok(count @ 1..) = count {
                        self.splitter.push(&self.buffer[..count]);
                    } else {
                        self.has_ended = true;
                    }
                }
                Some(bytes) = self.errors.recv() => self.note_errors(&bytes),
            }
        }
    }

    fn note_errors(&mut self, bytes: &[u8]) {
        // The host logs it.
        drop(std::io::Write::write_all(&mut std::io::stderr(), bytes));
        self.last_errors.extend_from_slice(bytes);
        let surplus = self.last_errors.len().saturating_sub(STDERR_BYTES_KEPT);
        drop(self.last_errors.drain(..surplus));
    }

    /// Returns the reason of the agent's end, and its exit code.
    async fn explain(&mut self) -> (String, u8) {
        let status = tokio::time::timeout(EXIT_LIMIT, self.child.wait()).await;
        // A process that it left behind may hold the stream open.
        while let Ok(Some(bytes)) = tokio::time::timeout(ERRORS_LIMIT, self.errors.recv()).await {
            self.note_errors(&bytes);
        }
        let (how, code) = match status {
            Ok(Ok(status)) => ending(status),
            _ => ("its output and did not exit".to_owned(), 1),
        };
        let said = String::from_utf8_lossy(&self.last_errors);
        let said = said.trim();
        (if said.is_empty() { how } else { format!("{how}: {said}") }, code)
    }

    /// Ends the agent: its input is closed, then it is killed with its children.
    pub(super) async fn end(&mut self) {
        self.input = None;
        let group = self.child.id();
        drop(tokio::time::timeout(EXIT_LIMIT, self.child.wait()).await);
        drop(self.child.start_kill());
        if let Some(group) = group {
            super::terminals::kill_group(group);
        }
    }
}

/// Returns the reason of a process's end, and its exit code. A signal has the code that a shell gives it.
fn ending(status: ExitStatus) -> (String, u8) {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return (
            format!("by signal {signal}"),
            u8::try_from(signal).map_or(1, |signal| signal.saturating_add(128)),
        );
    }
    let code = status.code().unwrap_or(1);
    // The system uses the lowest eight bits of an exit code.
    (format!("with exit code {code}"), code.to_le_bytes()[0])
}

#[cfg(all(test, unix))]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_end_of_an_agent_is_told_although_another_event_came_first() {
        let script = "exec 1>&-; read line; echo no licence >&2; exit 3";
        let agent = AgentCommand {
            name: "sample".to_owned(),
            command: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            authenticate: None,
        };
        let mut process = AgentProcess::start(&agent).expect("starts");
        while !process.has_ended {
            // The caller takes a line of its host instead.
            assert!(process.next().now_or_never().is_none(), "it has not exited yet");
            tokio::task::yield_now().await;
        }
        process.send("go".to_owned());
        let AgentEvent::Ended(how, code) = process.next().await else { panic!("it has ended") };
        assert_eq!(code, 3, "{how}");
        assert!(how.contains("no licence"), "{how}");
    }
}
