//! The CLI of a host: its start, its three pipes, its exit.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::ending;
use super::filter::RunningFilter;
use super::spool::Spool;
use super::start::Start;
use super::state::Host;
use super::stdout::StdoutThread;
use super::wire::CliState;
use crate::error::{Error, ErrorKind};
use crate::limits::{DRAIN, HOST_LINES_MAX};
use crate::options::Orphans;
use crate::session_lock::AgentLock;
use crate::transport::Exit;
use crate::transport::process::{self, command, pipes, spawner};

/// A started CLI.
#[derive(Debug, Clone)]
pub(super) struct Cli {
    pid: Option<Pid>,
    /// The mark of all processes that it starts.
    pub(super) owner: String,
    pub(super) orphans: Orphans,
    /// Cancelled once it was waited for: from then on its process id may be reused.
    pub(super) gone: CancellationToken,
    /// Ends the filter before it, if it has one.
    filter: Option<CancellationToken>,
}

/// A line for the CLI.
#[derive(Debug)]
pub(super) struct CliLine {
    pub(super) id: String,
    pub(super) line: Vec<u8>,
}

/// Starts the CLI of a host.
pub(super) async fn start(host: &Arc<Host>, start: Start) -> Result<(), Error> {
    let lock = process::lock(start.lock(&host.record.id)).await?;
    let spool = Spool::create(host.folder.spool(), start.spool_bytes_max).map_err(|source| {
        Error::new(ErrorKind::Spawn, "Failed to create the spool", "free space in the folder of the hosts")
            .caused_by(source)
    })?;
    let (lease, orphans) = (Duration::from_millis(start.lease_ms), start.orphans);
    let (has_user, owner) = (start.user.is_some(), command::owner(&host.record.id));
    let mut command = start.command(&host.folder)?;
    command::configure(&mut command, &owner);
    // What a filter does for its agent, it does as the user of the host.
    let translate = if has_user { None } else { (host.find_filter)(&mut command) };
    command::configure(&mut command, &owner);
    let program = command.get_program().to_owned();
    let failed = |source: io::Error| {
        let message = format!("Failed to start `{}`", program.display());
        Error::new(ErrorKind::Spawn, message, command::spawn_hint(&source)).caused_by(source)
    };
    let mut child = spawner::spawn(command).await.map_err(failed)?;
    lock.set_agent(child.id());
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    // If it fails the host ends, and its end ends the agent.
    let filter = translate.map(|translate| RunningFilter::start(translate, &mut child));
    let filter = filter.transpose().map_err(failed)?;
    let stopped = filter.as_ref().map(|filter| filter.stopped.clone());
    let cli = Cli { pid, owner, orphans, gone: CancellationToken::new(), filter: stopped };
    let (input, lines) = mpsc::channel(HOST_LINES_MAX);
    let stdin = child.stdin.take();
    if host.started(cli.clone(), spool, input, lease, Arc::clone(&lock)) {
        drop(tokio::spawn(write_stdin(Arc::clone(host), stdin, lines)));
        drop(tokio::spawn(wait(Arc::clone(host), cli, child, filter, lock)));
    }
    Ok(())
}

impl Cli {
    /// The process id, as long as it is valid.
    pub(super) fn pid(&self) -> Option<u32> {
        self.alive().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
    }

    pub(super) fn alive(&self) -> Option<Pid> {
        self.pid.filter(|_| !self.gone.is_cancelled())
    }

    /// Returns when the CLI has ended.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Sends SIGTERM to the CLI alone, since it stops its tools itself, as a filter does.
    pub(super) fn terminate(&self) {
        if let Some(filter) = &self.filter {
            filter.cancel();
        } else if let Some(pid) = self.alive() {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Kills the CLI.
    pub(super) fn kill(&self) {
        if let Some(pid) = self.alive() {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// The state of the process.
    pub(super) fn state(&self) -> CliState {
        match self.pid() {
            None => CliState::Ended,
            #[cfg(target_os = "linux")]
            Some(pid) if crate::transport::process::leftovers::is_stopped(pid) => CliState::Stopped,
            Some(_) => CliState::Running,
        }
    }
}

/// Waits for the exit, for the rest of the output, and stops leftovers of tools.
async fn wait(
    host: Arc<Host>,
    cli: Cli,
    mut child: Child,
    filter: Option<RunningFilter>,
    lock: Arc<AgentLock>,
) {
    use std::os::unix::process::ExitStatusExt as _;
    let stdout = child.stdout.take().map(|pipe| StdoutThread::start(Arc::clone(&host), pipe));
    if let Some(Err(error)) = &stdout {
        host.store_stderr(format!("The output of the agent cannot be read: {error}").into_bytes());
        cli.kill();
    }
    let stderr =
        child.stderr.take().map(|pipe| tokio::spawn(read_stderr(Arc::clone(&host), pipe, cli.clone())));
    let exit = match filter {
        Some(filter) => filter.wait(&cli, &mut child).await,
        None => match child.wait().await {
            Ok(status) => Exit { code: status.code(), signal: status.signal() },
            Err(_) => Exit::default(),
        },
    };
    cli.gone.cancel();
    if let Err(error) = host.folder.write_exit(exit) {
        tracing::warn!(%error, "failed to write the exit status of the agent");
    }
    ending::sweep(&cli).await;
    if let Some(Ok(stdout)) = stdout {
        stdout.drain().await;
    }
    if let Some(stderr) = stderr {
        drop(stderr.await);
    }
    // Before the bridge learns of the exit: it may start the next agent of the session then.
    lock.release();
    host.set_exit(exit);
}

async fn read_stderr(host: Arc<Host>, pipe: ChildStderr, cli: Cli) {
    let mut pipe = BufReader::with_capacity(4 << 10, pipe);
    loop {
        let line = tokio::select! {
            biased;
            line = pipes::line(&mut pipe) => line,
            () = drained(&cli) => None,
        };
        let Some(line) = line else { return };
        host.store_stderr(line.into_bytes());
    }
}

async fn drained(cli: &Cli) {
    cli.gone().await;
    tokio::time::sleep(DRAIN).await;
}

/// Writes whole lines. The pipe is closed after the last.
async fn write_stdin(host: Arc<Host>, pipe: Option<ChildStdin>, mut lines: mpsc::Receiver<CliLine>) {
    let Some(mut pipe) = pipe else { return };
    while let Some(CliLine { id, line }) = lines.recv().await {
        let result = pipe.write_all(&line).await;
        host.wrote(id, line.len() as u64 - 1, result);
    }
}
