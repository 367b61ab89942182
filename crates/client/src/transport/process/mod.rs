//! A transport that starts `claude` as a child process, and leaves no process behind.

pub(crate) mod command;
#[cfg(target_os = "linux")]
pub(crate) mod leftovers;
#[cfg(target_os = "linux")]
mod parent_death;
pub(crate) mod pipes;
#[cfg(unix)]
mod reaper;
pub(crate) mod spawner;
#[cfg(unix)]
mod stdout;
mod stop;
#[cfg(not(unix))]
#[path = "stop_elsewhere.rs"]
mod stop;
#[cfg(target_os = "linux")]
pub(crate) mod watchdog;

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use tokio::sync::mpsc;

use self::command::PreparedCommand;
use super::{Link, Transport};
use crate::error::{Error, ErrorKind};
use crate::find::Search;
use crate::limits::EVENTS_AHEAD_MAX;
use crate::options::Launch;
use crate::session_lock::{AgentLock, LockRequest};

/// Wraps the command that is started.
type Wrap = Arc<dyn Fn(std::process::Command) -> std::process::Command + Send + Sync>;

/// A transport that starts `claude` as a child process, and leaves no process behind.
///
/// The child has its own process group. It gets SIGTERM before SIGKILL, and processes that its tools left
/// behind are stopped afterwards. On Linux it also ends when this process does, even by a crash.
#[derive(Clone, Default)]
pub struct Process {
    wrap: Option<Wrap>,
}

impl Process {
    /// Creates a transport that starts `claude` on this machine.
    pub fn new() -> Self {
        Process::default()
    }

    /// Creates a transport that starts `claude` through another program, such as `ssh` or `docker`.
    ///
    /// `wrap` gets the command as it would be started here, with its arguments, environment and folder, and
    /// returns the command to start instead. Long options are passed as files: either the other machine has
    /// access to them, or [`Options::inline_files`](crate::Options::inline_files) puts them on the command
    /// line.
    pub fn wrapped(
        wrap: impl Fn(std::process::Command) -> std::process::Command + Send + Sync + 'static,
    ) -> Self {
        Process { wrap: Some(Arc::new(wrap)) }
    }
}

impl Transport for Process {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move { self.start(launch).await })
    }
}

impl Process {
    async fn start(self, launch: Launch) -> Result<Link, Error> {
        let search = Search::from_environment();
        let search = Search { program: launch.program.clone().or(search.program), ..search };
        let program = search.find()?;
        if let Some(cwd) = &launch.cwd {
            command::check_folder(cwd)?;
        }
        // A wrapped command may run on another machine, where other files are.
        let lock = lock(LockRequest::of(&launch).filter(|_| self.wrap.is_none())).await?;
        let owner = command::owner(launch.session_mark());
        let PreparedCommand { command, files } = command::prepare(&program, &launch)?;
        let mut command = match &self.wrap {
            Some(wrap) => wrap(command),
            None => command,
        };
        command::configure(&mut command, &owner);
        tracing::debug!(program = %program.display(), "starting an agent");
        let mut child = spawner::spawn(command).await.map_err(|source| {
            let message = format!("Failed to start `{}`", program.display());
            Error::new(ErrorKind::Spawn, message, command::spawn_hint(&source)).caused_by(source)
        })?;
        lock.set_agent(child.id());
        let stop = Arc::new(stop::ProcessStop::new(&child, owner, launch.orphans));
        let (events, incoming) = mpsc::channel(EVENTS_AHEAD_MAX);
        let outgoing = Box::new(pipes::Stdin::new(child.stdin.take()));
        let line_bytes_max = launch.line_bytes_max;
        let pipes = pipes::Pipes { stop: Arc::clone(&stop), events, files, line_bytes_max, lock };
        drop(tokio::spawn(pipes.run(child)));
        let program = self.wrap.is_none().then_some(program);
        Ok(Link { incoming: incoming.into(), outgoing, stop, program, resumed: None })
    }
}

/// Takes the lock of an agent on a thread that may block.
pub(crate) async fn lock(request: Option<LockRequest>) -> Result<Arc<AgentLock>, Error> {
    let taken = tokio::task::spawn_blocking(move || AgentLock::take(request)).await;
    let lost = |_| Error::new(ErrorKind::Spawn, "Failed to lock the session", "try again");
    taken.map_err(lost)?.map(Arc::new)
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("wrapped", &self.wrap.is_some()).finish()
    }
}
