//! Filters: translators between a bridge and an agent that speaks another protocol.
//!
//! To its host a filter is the agent: it has the three pipes of an agent, what it puts out is stored and
//! counted, and its exit code is the one that a bridge gets. The agent itself is a child of the host as any
//! other, and behind the filter.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Command, ExitStatus};

use tokio::net::unix::pipe::{self, pipe};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cli::Cli;
use super::ending;
use crate::limits::FILTERED_EXIT;
use crate::transport::Exit;

/// Returns the filter for a command that a host was asked to start, if it has one, and puts the command of
/// the agent in its place. Its variables have the mark by which the host finds processes: the agent, and all
/// that the filter starts, must get them.
pub type FindFilter = fn(&mut Command) -> Option<Translate>;

/// Translates until one side has ended, and returns the exit code for the bridge. It is called on a thread of
/// its own, inside of the runtime of the host.
pub type Translate = Box<dyn FnOnce(FilterEnds) -> u8 + Send>;

/// The two sides of a filter.
#[derive(Debug)]
#[non_exhaustive]
pub struct FilterEnds {
    /// Lines of the bridge.
    pub input: pipe::Receiver,
    /// Output for the bridge.
    pub output: pipe::Sender,
    /// Error output for the bridge.
    pub errors: pipe::Sender,
    /// The pipes of the agent.
    pub agent: (ChildStdin, ChildStdout, ChildStderr),
    /// The exit status of the agent, once it has ended.
    pub agent_exit: watch::Receiver<Option<ExitStatus>>,
    /// Cancelled when the filter has to return. The agent is ended after it.
    pub stopped: CancellationToken,
}

/// A filter at work.
#[derive(Debug)]
pub(super) struct RunningFilter {
    translating: JoinHandle<u8>,
    /// Keeps the output of the agent open, so that it can write until its end.
    _agent_output: OwnedFd,
    agent_exit: watch::Sender<Option<ExitStatus>>,
    /// Ends it.
    pub(super) stopped: CancellationToken,
}

impl RunningFilter {
    /// Puts a filter before an agent: the pipes of the child are those of the filter from now on.
    pub(super) fn start(translate: Translate, child: &mut Child) -> io::Result<Self> {
        let ((stdin, input), (output, stdout), (errors, stderr)) = (pipe()?, pipe()?, pipe()?);
        let stdin = child.stdin.replace(ChildStdin::from_std(stdin.into_nonblocking_fd()?.into())?);
        let stdout = child.stdout.replace(ChildStdout::from_std(stdout.into_nonblocking_fd()?.into())?);
        let stderr = child.stderr.replace(ChildStderr::from_std(stderr.into_nonblocking_fd()?.into())?);
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let agent_output = stdout.as_fd().try_clone_to_owned()?;
        let (agent, stopped) = ((stdin, stdout, stderr), CancellationToken::new());
        let (exit, agent_exit) = watch::channel(None);
        let ends = FilterEnds { input, output, errors, agent, agent_exit, stopped: stopped.clone() };
        // A filter that waits for a file does not keep the host waiting.
        let translating = tokio::task::spawn_blocking(move || translate(ends));
        Ok(RunningFilter { translating, _agent_output: agent_output, agent_exit: exit, stopped })
    }

    /// Waits for the filter and its agent. An agent that goes on without its filter is killed.
    pub(super) async fn wait(mut self, cli: &Cli, child: &mut Child) -> Exit {
        let code = tokio::select! {
            code = &mut self.translating => code,
            status = child.wait() => {
                cli.gone.cancel();
                self.agent_exit.send_replace(status.ok());
                self.translating.await
            }
        };
        if tokio::time::timeout(FILTERED_EXIT, child.wait()).await.is_err() {
            ending::kill(cli);
            drop(child.wait().await);
        }
        // A filter that has panicked has failed.
        Exit { code: Some(code.map_or(1, i32::from)), signal: None }
    }
}
