//! Agents of the Agent Client Protocol in place of `claude`: as filters of agent hosts, and without a host as
//! `tidings backend`.

mod agent_process;
mod args;
mod files;
#[cfg(unix)]
mod filter;
mod listing;
mod terminals;

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_acp::adapter::{Adapter, Effect};
use tidings_acp::rpc::{Id, RpcError};
use tidings_protocol::ndjson::LINE_BYTES_MAX;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use self::agent_process::{AgentEvent, AgentProcess, with_agent};
use self::files::Folders;
#[cfg(unix)]
pub use self::filter::filter;
use self::terminals::Terminals;
use crate::error::Exit;
use crate::input::{StreamLines, json};
use crate::signals::signals;

/// Name of the command.
pub(crate) const BACKEND: &str = "backend";

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

/// An agent that an adapter runs.
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
        let (lines, stopped) = (StreamLines::new(tokio::io::stdin(), LINE_BYTES_MAX), signals()?);
        let bridge = Bridge { lines, output: Box::new(tokio::io::stdout()) };
        let variables: Vec<_> = env::vars_os().collect();
        let command = agent.command(&variables);
        if let Some(settings) = listing::settings(&agent, &args.args) {
            let talk =
                with_agent(command, stopped, async |started| listing::run(settings, bridge, started).await);
            return talk.await;
        }
        let cwd = env::current_dir().context("The working folder does not exist")?;
        let running = Running::new(&agent, &args.args, &cwd, variables)?;
        with_agent(command, stopped, async |started| running.relay(bridge, started?).await).await
    });
    // A read of standard input cannot be interrupted.
    runtime.shutdown_background();
    Ok(Exit::Code(code?))
}

/// The side of the bridge: the host of the session, or the standard streams.
struct Bridge {
    lines: StreamLines,
    output: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Bridge {
    async fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.output.write_all(bytes).await?;
        Ok(self.output.flush().await?)
    }
}

/// A running adapter.
struct Running {
    adapter: Adapter,
    folders: Folders,
    terminals: Terminals,
    done: mpsc::Sender<Done>,
    results: mpsc::Receiver<Done>,
}

impl Running {
    /// An adapter that begins with the handshake; `args` are those that `claude` would get.
    fn new(
        agent: &AgentCommand,
        args: &[String],
        cwd: &Path,
        variables: Vec<(OsString, OsString)>,
    ) -> anyhow::Result<Self> {
        let settings = args::settings(agent, args, cwd)?;
        let folders = Folders::open([&settings.cwd].into_iter().chain(&settings.folders))?;
        let (done, results) = mpsc::channel(RESULTS_WAITING_MAX);
        let started = Instant::now();
        let clock = move || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let adapter = Adapter::new(settings, || uuid::Uuid::new_v4().to_string(), clock);
        let mut terminals = Terminals::default();
        terminals.variables = variables;
        Ok(Running { adapter, folders, terminals, done, results })
    }

    /// Passes lines between the bridge and the agent until one of them ends. Returns the exit code.
    async fn relay(mut self, mut bridge: Bridge, agent: &mut AgentProcess) -> anyhow::Result<u8> {
        let mut is_bridge_open = true;
        loop {
            if let Some(code) = self.perform(&mut bridge, agent).await? {
                return Ok(code);
            }
            tokio::select! {
                lines = bridge.lines.next(json), if is_bridge_open => {
                    if let Some(lines) = lines? {
                        for line in &lines {
                            self.adapter.from_host(line);
                        }
                    } else {
                        is_bridge_open = false;
                        self.adapter.host_ended();
                    }
                }
                events = agent.next() => events.into_iter().for_each(|event| match event {
                    AgentEvent::Line(line) => self.adapter.from_agent(&line),
                    AgentEvent::TooLong(head, bytes) => self.adapter.from_agent_too_long(&head, bytes),
                    AgentEvent::Ended(how, code) => self.adapter.agent_ended(&how, code),
                }),
                Some(done) = self.results.recv() => match done {
                    Done::Answer(id, result) => self.adapter.answer(&id, &result),
                    Done::CancelDeadline(turn) => self.adapter.cancel_overdue(turn),
                },
            }
        }
    }

    /// Performs what the adapter asks for. Returns the exit code at the end.
    async fn perform(&mut self, bridge: &mut Bridge, agent: &mut AgentProcess) -> anyhow::Result<Option<u8>> {
        let (mut text, mut code) = (String::new(), None);
        // Answers to requests are effects, too.
        while code.is_none() && self.adapter.has_effects() {
            for effect in self.adapter.effects() {
                match effect {
                    Effect::ToHost(line) => text.extend([line.as_str(), "\n"]),
                    Effect::ToAgent(line) => agent.send(line),
                    Effect::ReadFile(request) => {
                        self.adapter.answer(&request.id, &self.folders.read(&request));
                    }
                    Effect::WriteFile(request) => {
                        self.adapter.answer(&request.id, &self.folders.write(&request));
                    }
                    Effect::Terminal(request) => {
                        let answer = self.terminals.perform(request, &self.folders, &self.done);
                        if let Some((id, result)) = answer {
                            self.adapter.answer(&id, &result);
                        }
                    }
                    Effect::CancelDeadline(turn) => {
                        let done = self.done.clone();
                        drop(tokio::spawn(async move {
                            tokio::time::sleep(CANCEL_LIMIT).await;
                            drop(done.send(Done::CancelDeadline(turn)).await);
                        }));
                    }
                    Effect::Exit(exit) => {
                        code = Some(exit);
                        break;
                    }
                }
            }
        }
        if !text.is_empty() {
            bridge.write(text.as_bytes()).await?;
        }
        Ok(code)
    }
}
