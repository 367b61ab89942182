//! The process of the agent.

use std::ffi::OsString;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use tidings_acp::limits::AGENT_LINE_BYTES_MAX;
use tidings_protocol::ndjson::Line;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};

use super::AgentCommand;
use crate::input::StreamLines;

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

/// The running agent, as its pipes show it.
pub(super) struct AgentProcess {
    lines: StreamLines,
    input: Option<mpsc::Sender<String>>,
    errors: mpsc::Receiver<Vec<u8>>,
    last_errors: Vec<u8>,
    exit: watch::Receiver<Option<ExitStatus>>,
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

impl AgentCommand {
    /// The command that starts it.
    pub(super) fn command(&self, variables: &[(OsString, OsString)]) -> Command {
        let mut command = Command::new(&self.command);
        let wanted = variables.iter().filter(|(name, _)| NOT_FOR_AGENTS.iter().all(|other| name != other));
        command.args(&self.args).env_clear().envs(wanted.cloned());
        command
    }
}

/// Starts an agent as a child of this process, and ends it after `talk`: its input is closed, and what is
/// left of it and its children is killed. `talk` gets the error if it does not start, and is over at the
/// latest when `stopped` is.
pub(super) async fn with_agent(
    command: Command,
    stopped: impl Future<Output = ()>,
    talk: impl AsyncFnOnce(anyhow::Result<&mut AgentProcess>) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    let message = format!("`{}` could not be started", command.get_program().display());
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return talk(Err(error).context(message)).await,
    };
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let ((stdin, stdout), stderr) = pipes.context(message)?;
    let group = child.id();
    let (ended, exit) = watch::channel(None);
    let waiting = tokio::spawn(async move { ended.send_replace(child.wait().await.ok()) });
    let mut process = AgentProcess::new((stdin, stdout, stderr), exit, tokio::io::stderr());
    let code = tokio::select! {
        code = talk(Ok(&mut process)) => code,
        () = stopped => Ok(0),
    };
    process.input = None;
    // Its output stays open until then, so that it can write until its end.
    drop(tokio::time::timeout(EXIT_LIMIT, waiting).await);
    group.into_iter().for_each(super::terminals::kill_group);
    code
}

impl AgentProcess {
    /// An agent with these pipes. `log` gets its error output.
    pub(super) fn new(
        (mut stdin, stdout, mut stderr): (ChildStdin, ChildStdout, ChildStderr),
        exit: watch::Receiver<Option<ExitStatus>>,
        mut log: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
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
                // The log may be full, and the end of the agent not be waited for.
                drop(log.write_all(&buffer[..count]).await);
                drop(said.send(buffer[..count].to_vec()).await);
            }
        }));
        AgentProcess {
            lines: StreamLines::new(stdout, AGENT_LINE_BYTES_MAX),
            input: Some(input),
            errors,
            last_errors: Vec::new(),
            exit,
            has_ended: false,
            is_end_told: false,
        }
    }

    /// Sends a line. An agent that does not read is given up.
    pub(super) fn send(&mut self, line: String) {
        let Some(input) = &self.input else { return };
        if matches!(input.try_send(line), Err(mpsc::error::TrySendError::Full(_))) {
            self.input = None;
            self.has_ended = true;
        }
    }

    /// The next events. Cancel safe. Pending for ever after the end.
    pub(super) async fn next(&mut self) -> Vec<AgentEvent> {
        while !self.has_ended {
            tokio::select! {
                biased;
                events = self.lines.next(event) => match events {
                    Ok(Some(events)) => return events,
                    _ => self.has_ended = true,
                },
                Some(bytes) = self.errors.recv() => self.note_errors(&bytes),
            }
        }
        if self.is_end_told {
            return std::future::pending().await;
        }
        // A call that is dropped here is followed by another.
        let (how, code) = self.explain().await;
        self.is_end_told = true;
        vec![AgentEvent::Ended(how, code)]
    }

    fn note_errors(&mut self, bytes: &[u8]) {
        self.last_errors.extend_from_slice(bytes);
        let surplus = self.last_errors.len().saturating_sub(STDERR_BYTES_KEPT);
        drop(self.last_errors.drain(..surplus));
    }

    /// Returns the reason of the agent's end, and its exit code.
    async fn explain(&mut self) -> (String, u8) {
        let ended = tokio::time::timeout(EXIT_LIMIT, self.exit.wait_for(Option::is_some)).await;
        let status = ended.ok().and_then(|status| *status.ok()?);
        // A process that it left behind may hold the stream open.
        while let Ok(Some(bytes)) = tokio::time::timeout(ERRORS_LIMIT, self.errors.recv()).await {
            self.note_errors(&bytes);
        }
        let (how, code) = match status {
            Some(status) => ending(status),
            None if self.input.is_none() => ("because it did not read its input".to_owned(), 1),
            None => ("its output and did not exit".to_owned(), 1),
        };
        let said = String::from_utf8_lossy(&self.last_errors);
        let said = said.trim();
        (if said.is_empty() { how } else { format!("{how}: {said}") }, code)
    }
}

fn event(line: Line<'_>) -> Option<AgentEvent> {
    match line {
        Line::Json(line) | Line::Noise(line) => {
            Some(AgentEvent::Line(String::from_utf8_lossy(line).trim().to_owned()))
        }
        Line::Oversized { len, head, .. } => {
            let head = String::from_utf8_lossy(head).chars().take(HEAD_CHARS).collect();
            Some(AgentEvent::TooLong(head, len))
        }
        _ => None,
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
        let code = with_agent(agent.command(&[]), std::future::pending(), async |started| {
            let process = started?;
            while !process.has_ended {
                // The caller takes a line of its bridge instead.
                assert!(process.next().now_or_never().is_none(), "it has not exited yet");
                tokio::task::yield_now().await;
            }
            process.send("go".to_owned());
            let events = process.next().await;
            let [AgentEvent::Ended(how, code)] = &events[..] else { panic!("it has ended") };
            assert!(how.contains("no licence"), "{how}");
            Ok(*code)
        });
        assert_eq!(code.await.expect("ends"), 3);
    }
}
