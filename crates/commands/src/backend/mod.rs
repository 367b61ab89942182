//! `tidings backend`: runs an agent of the Agent Client Protocol in place of `claude`. Hosts start it.

mod agent_process;
mod args;
mod files;
mod listing;
mod terminals;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_acp::adapter::{Adapter, Effect, TerminalRequest};
use tidings_acp::rpc::{Id, RpcError};
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use self::agent_process::{AgentEvent, AgentProcess};
use self::files::Folders;
use self::terminals::Terminals;
use crate::error::Exit;
use crate::input::StdinLines;
use crate::signals::Signals;

/// Run an agent of the Agent Client Protocol in place of `claude`
#[derive(Debug, Args)]
pub struct BackendArgs {
    /// The agent, as JSON
    #[arg(value_name = "AGENT")]
    agent: String,

    /// The arguments that `claude` would get
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// An agent that `tidings backend` runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentCommand {
    /// Name of the agent.
    pub name: String,
    /// Its program.
    pub(crate) command: std::path::PathBuf,
    /// Arguments of the program.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Method to authenticate with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) authenticate: Option<String>,
}

/// Time for a cancelled turn to end.
const CANCEL_LIMIT: Duration = Duration::from_secs(20);

/// Results of effects that wait to be taken.
const RESULTS_WAITING_MAX: usize = 64;

/// A result of an effect.
enum Done {
    /// The answer to a request of the agent.
    Answer(Id, Result<Value, RpcError>),
    /// The time for a cancelled turn is over.
    CancelDeadline(u64),
}

pub fn run(args: &BackendArgs) -> anyhow::Result<Exit> {
    let agent: AgentCommand = serde_json::from_str(&args.agent).context("The agent is not valid JSON")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        match listing::settings(&agent, &args.args) {
            Some(settings) => listing::run(&agent, settings).await,
            None => serve(&agent, &args.args).await,
        }
    });
    // A read of standard input cannot be interrupted.
    runtime.shutdown_background();
    Ok(match code? {
        0 => Exit::Success,
        code => Exit::Code(code),
    })
}

async fn serve(agent: &AgentCommand, args: &[String]) -> anyhow::Result<u8> {
    let settings = args::settings(agent, args)?;
    let folders = Folders::open([&settings.cwd].into_iter().chain(&settings.folders))?;
    let (done, results) = mpsc::channel(RESULTS_WAITING_MAX);
    let started = Instant::now();
    let clock = move || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let adapter = Adapter::new(settings, || uuid::Uuid::new_v4().to_string(), clock);
    let process = AgentProcess::start(agent);
    let mut session = Running { adapter, folders, terminals: Terminals::default(), done };
    let (mut process, code) = match process {
        Ok(mut process) => {
            let code = session.relay(&mut process, results).await?;
            (Some(process), code)
        }
        Err(error) => {
            session
                .adapter
                .agent_not_started(&format!("`{}` could not be started: {error}", agent.command.display()));
            (None, session.refuse().await?)
        }
    };
    session.terminals.end_all();
    if let Some(process) = &mut process {
        process.end().await;
    }
    Ok(code)
}

/// The parts of a running adapter.
struct Running {
    adapter: Adapter,
    folders: Folders,
    terminals: Terminals,
    done: mpsc::Sender<Done>,
}

impl Running {
    /// Passes lines between the host and the agent until one of them ends. Returns the exit code.
    async fn relay(
        &mut self,
        process: &mut AgentProcess,
        mut results: mpsc::Receiver<Done>,
    ) -> anyhow::Result<u8> {
        let mut host = Host::new();
        let mut is_host_open = true;
        let mut signals = Signals::catch()?;
        loop {
            if let Some(code) = self.perform(process).await? {
                return Ok(code);
            }
            tokio::select! {
                lines = host.read(), if is_host_open => {
                    if let Some(lines) = lines? {
                        for line in &lines {
                            self.adapter.from_host(line);
                        }
                    } else {
                        is_host_open = false;
                        self.adapter.host_ended();
                    }
                }
                event = process.next() => match event {
                    AgentEvent::Line(line) => self.adapter.from_agent(&line),
                    AgentEvent::TooLong(head, bytes) => self.adapter.from_agent_too_long(&head, bytes),
                    AgentEvent::Ended(how, code) => self.adapter.agent_ended(&how, code),
                },
                Some(done) = results.recv() => match done {
                    Done::Answer(id, result) => self.adapter.answer(&id, &result),
                    Done::CancelDeadline(turn) => self.adapter.cancel_overdue(turn),
                },
                _ = signals.next() => return Ok(0),
            }
        }
    }

    /// Waits for the host's handshake, and answers it with the reason of the failure.
    async fn refuse(&mut self) -> anyhow::Result<u8> {
        let mut host = Host::new();
        loop {
            let mut text = Vec::new();
            let mut code = None;
            for effect in self.adapter.effects() {
                match effect {
                    Effect::ToHost(line) => text.extend_from_slice(format!("{line}\n").as_bytes()),
                    // Before the handshake the host cannot learn the reason.
                    Effect::Exit(exit) => code = Some(exit),
                    _ => {}
                }
            }
            if !text.is_empty() {
                write_out(&text).await?;
                if let Some(code) = code {
                    return Ok(code);
                }
            }
            match host.read().await? {
                Some(lines) => {
                    for line in &lines {
                        self.adapter.from_host(line);
                    }
                }
                None => return Ok(1),
            }
        }
    }

    /// Performs what the adapter asks for. Returns the exit code at the end.
    async fn perform(&mut self, process: &mut AgentProcess) -> anyhow::Result<Option<u8>> {
        let mut text = Vec::new();
        let mut code = None;
        for effect in self.adapter.effects() {
            match effect {
                Effect::ToHost(line) => {
                    text.extend_from_slice(line.as_bytes());
                    text.push(b'\n');
                }
                Effect::ToAgent(line) => process.send(line),
                Effect::ReadFile(request) => {
                    let result = self.folders.read(&request);
                    self.adapter.answer(&request.id, &result);
                }
                Effect::WriteFile(request) => {
                    let result = self.folders.write(&request);
                    self.adapter.answer(&request.id, &result);
                }
                Effect::Terminal(request) => self.terminal(request),
                Effect::CancelDeadline(turn) => {
                    let done = self.done.clone();
                    drop(tokio::spawn(async move {
                        tokio::time::sleep(CANCEL_LIMIT).await;
                        drop(done.send(Done::CancelDeadline(turn)).await);
                    }));
                }
                Effect::Exit(exit) => code = Some(exit),
            }
        }
        if !text.is_empty() {
            write_out(&text).await?;
        }
        // Answers to file requests are effects, too.
        if code.is_none() && self.adapter.has_effects() {
            return Box::pin(self.perform(process)).await;
        }
        Ok(code)
    }

    fn terminal(&mut self, request: TerminalRequest) {
        if let Some((id, result)) = self.terminals.perform(request, &self.folders, &self.done) {
            self.adapter.answer(&id, &result);
        }
    }
}

async fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = tokio::io::stdout();
    stdout.write_all(bytes).await?;
    Ok(stdout.flush().await?)
}

/// The host at the other end of the standard streams.
struct Host(StdinLines);

impl Host {
    fn new() -> Self {
        Host(StdinLines::new(LINE_BYTES_MAX))
    }

    /// The next lines, without those that are not JSON; `None` at the end. Cancel safe.
    async fn read(&mut self) -> anyhow::Result<Option<Vec<String>>> {
        let take = |line: Line<'_>| match line {
            Line::Json(line) => Some(String::from_utf8_lossy(line).into_owned()),
            _ => None,
        };
        Ok(self.0.next(take).await?)
    }
}

/// Open terminals by id.
type ById<T> = BTreeMap<String, T>;
