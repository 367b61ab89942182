//! `tidings rehearse agent`: stands in for `claude`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, thread};

use clap::Args;
use tidings_rehearsal::agent::{self, Ids, Signal, States, World, stepping_clock};
use tidings_rehearsal::script::Script;

use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Capacity of the queue of signals; further ones are redundant.
const SIGNALS_MAX: usize = 8;

/// Number of retries of failed requests, as in the real CLI.
const RETRIES_MAX: u32 = 10;

/// Arguments of `tidings rehearse agent`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RehearseAgentArgs {
    /// Script of the model's answers, tool results and failures [default: a built-in demo]
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Produce the same ids and times in every run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Folder for session files [default: `CLAUDE_CONFIG_DIR`, else `~/.claude`]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Arguments of `claude`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLAUDE ARGUMENTS")]
    arguments: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  tidings rehearse agent -p \"say hello\"
  tidings rehearse agent --script hello.toml --seed 1 -- -p --output-format stream-json --verbose hello

To replace `claude`, save this as `claude`, make it executable and put it first on the PATH:
  #!/bin/sh
  exec tidings rehearse agent --script /path/to/script.toml \"$@\"";

pub(crate) fn run(args: &RehearseAgentArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let script = match &args.script {
        Some(path) => super::script(path)?,
        None => Script::parse(&agent::demo_in(&env::current_dir()?))?,
    };
    out.flush()?;
    let code = agent::run(&args.arguments, script, world(args)?);
    // The system uses the lowest eight bits of an exit code.
    Ok(Exit::Code(code.to_le_bytes()[0]))
}

fn world(args: &RehearseAgentArgs) -> anyhow::Result<World> {
    let config_dir = args
        .config_dir
        .clone()
        .or_else(|| env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from))
        .or_else(|| env::home_dir().map(|home| home.join(".claude")))
        .ok_or(CannotRun {
            code: "no_home",
            message: "No folder for session files".to_owned(),
            hint: "set CLAUDE_CONFIG_DIR, or pass --config-dir",
        })?;
    let retries = env::var("CLAUDE_CODE_MAX_RETRIES").ok().and_then(|retries| retries.parse().ok());
    Ok(World {
        stdin: Box::new(io::stdin()),
        stdout: Box::new(io::stdout()),
        stderr: Box::new(io::stderr()),
        cwd: env::current_dir()?,
        config_dir,
        clock: if args.seed.is_some() { stepping_clock() } else { Box::new(now_ms) },
        ids: args.seed.map_or_else(Ids::random, Ids::seeded),
        pid: if args.seed.is_some() { 1 } else { std::process::id() },
        terminal: io::stdout().is_terminal(),
        retries_max: retries.unwrap_or(RETRIES_MAX),
        states: states(),
        signals: Some(signals()),
        raise: Box::new(raise),
    })
}

fn states() -> States {
    let set = |name| env::var_os(name).is_some_and(|value| value != "0" && !value.is_empty());
    if set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
        States::Shown
    } else if set("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
        States::ForSdk
    } else {
        States::Hidden
    }
}

#[expect(clippy::disallowed_methods, reason = "the time enters here, and is handed on")]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Receives SIGTERM and SIGINT as messages, so that the stand-in handles them between two frames.
fn signals() -> Receiver<Signal> {
    let (sender, receiver) = sync_channel(SIGNALS_MAX);
    // The thread lives as long as the process; if it fails, a signal ends the process as usual.
    drop(thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        runtime.map(|runtime| runtime.block_on(forward(&sender)))
    }));
    receiver
}

#[cfg(unix)]
async fn forward(sender: &SyncSender<Signal>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        let signal = tokio::select! {
            _ = terminate.recv() => Signal::Terminate,
            _ = interrupt.recv() => Signal::Interrupt,
        };
        if sender.send(signal).is_err() {
            return Ok(());
        }
    }
}

#[cfg(not(unix))]
async fn forward(sender: &SyncSender<Signal>) -> io::Result<()> {
    tokio::signal::ctrl_c().await?;
    drop(sender.send(Signal::Interrupt));
    Ok(())
}

/// Sends a signal to this process with the program `kill`, since a system call would need unsafe code.
fn raise(signal: i32) {
    let pid = std::process::id().to_string();
    drop(Command::new("kill").arg(format!("-{signal}")).arg(pid).status());
}
