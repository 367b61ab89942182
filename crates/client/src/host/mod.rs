//! A process that keeps a `claude` running while the program that drives it restarts (feature `host`, on
//! Unix).
//!
//! A program that starts `claude` as its child takes it along when it ends. A **host** stands between the
//! two: a small separate process, in its own session, that holds the pipes of one CLI. The program that
//! drives the session (the **bridge**) is connected to the host by a socket, and may be killed, restarted or
//! replaced by another version meanwhile.
//!
//! ```text
//!  bridge (comes and goes)                 host (stays)                        claude
//!  +------------------------+  socket  +---------------------------+  pipes  +--------+
//!  | Client over            |  lines > | writes each line once     | stdin > |        |
//!  |   SocketTransport      | < bytes  | spool on disk, with       | < stdout|  tools |
//!  | journal, then ack      |  acks  > | offsets; open requests    | < stderr|        |
//!  +------------------------+          +---------------------------+         +--------+
//!                                        ends everything below it
//! ```
//!
//! # Guarantees
//!
//! - **No output of the CLI is lost or changed.** Every byte has an offset, and stays in the
//!   [spool](HostRemnant) on disk until the bridge acknowledges that it is stored. When the spool is full the
//!   host stops reading, and the CLI blocks.
//! - **A line is written once.** Each has an id; a second line with the same id is confirmed and not written.
//!   So a bridge that died between sending and storing may send it again.
//! - **Requests are repeated until they are answered.** Each new bridge receives the CLI's requests that were
//!   neither answered nor cancelled, and the CLI's reply to the handshake: a session is continued, not
//!   started again.
//! - **No process is left behind.** On request, when the CLI ends, when the host gets SIGTERM, or when no
//!   bridge was connected for the duration of the lease, everything below the host gets SIGTERM and then
//!   SIGKILL. On Linux the host adopts processes that tools put into their own sessions; if the host itself
//!   is killed, the CLI gets SIGTERM, and a shell that waits on a pipe stops the rest. On other systems the
//!   group of the CLI is stopped, and a killed host leaves its CLI to end with its input.
//!
//! # Ownership
//!
//! A host has one bridge at a time. A bridge presents the secret of the host's [`Record`], which only the
//! same user can read (the socket checks the user too), its name (`owner`) and its claim to the session
//! (`fence`, a number that grows with each claim):
//!
//! 1. A fence below the highest that was ever presented is refused: that bridge has been replaced.
//! 2. While no bridge is connected, any other fence is accepted: the former bridge is dead.
//! 3. While one is connected, another owner needs a higher fence; an equal one is refused.
//! 4. The same owner may always reconnect, and displaces its own former connection.
//!
//! A displaced bridge gets a message that says so. A bridge that attaches while an earlier connection may
//! still send the launch request, such as that of a bridge that was killed a moment ago, is admitted after
//! it: no session gets two agents. If no such connection is left, it is refused, and the host ends.
//!
//! # Other agents
//!
//! An agent that speaks another protocol has a filter before it, a part of the program that
//! [runs](run_with_filters) the host. The guarantees are the same, for what the filter puts out.

mod cli;
mod connection;
mod conversation;
mod ending;
mod filter;
mod folder;
#[cfg(feature = "terminal")]
mod old_wires;
mod socket;
mod spool;
mod start;
mod state;
mod stdout;
#[cfg(feature = "terminal")]
pub mod terminal;
pub mod wire;

use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

pub use filter::{FilterEnds, FindFilter, Translate};
pub use folder::{HostFolder, HostRemnant, Record, TerminalProcess, check_folder_of_hosts};
pub use start::Start;

use self::state::{Host, HostEnd};
use crate::error::{Error, ErrorKind};
use crate::limits::{HOST_GREETING, KILL_GRACE};

/// Default time that a host waits for a bridge.
pub const LEASE: std::time::Duration = crate::limits::HOST_LEASE;

/// Runs a host: listens, starts the agent of the launch request, and returns when the agent has ended and the
/// bridge has everything.
///
/// The process must be used for nothing else: it becomes the leader of a session, adopts orphans, and handles
/// signals that end it. A runtime with one thread is enough.
pub async fn run(folder: HostFolder, listener: UnixListener) -> Result<(), Error> {
    run_with_filters(folder, listener, |_| None).await
}

/// Runs a host, as [`run`] does, that puts filters before agents that speak another protocol.
pub async fn run_with_filters(
    folder: HostFolder,
    listener: UnixListener,
    find_filter: FindFilter,
) -> Result<(), Error> {
    // A process that already leads a group was separated by its parent.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| failed("Failed to adopt orphans", error.into()))?;
    let record = folder.record().map_err(|error| failed("Failed to read the record of the host", error))?;
    listener.set_nonblocking(true).map_err(|error| failed("Failed to listen", error))?;
    let listener = tokio::net::UnixListener::from_std(listener);
    let listener = listener.map_err(|error| failed("Failed to listen", error))?;
    let caught = |kind| signal(kind).map_err(|error| failed("Failed to register signal handlers", error));
    let mut terminate = caught(SignalKind::terminate())?;
    let (mut hangup, mut interrupt) = (caught(SignalKind::hangup())?, caught(SignalKind::interrupt())?);
    let host = Arc::new(Host::new(folder, record, find_filter));
    let accepting = tokio::spawn(connection::accept(Arc::clone(&host), listener));
    let reaping = tokio::spawn(ending::reap(Arc::clone(&host)));
    let over = tokio::select! {
        // The terminal of a program that was not started hangs up.
        biased;
        over = host.over() => over,
        _ = terminate.recv() => HostEnd::Stopped,
        _ = hangup.recv() => HostEnd::Stopped,
        _ = interrupt.recv() => HostEnd::Stopped,
        () = not_started(&host) => HostEnd::Done,
        () = host.lease_expired() => HostEnd::Stopped,
    };
    tracing::debug!(?over, "the host ends");
    #[cfg(feature = "terminal")]
    if let Some(terminal) = host.terminal() {
        let ended = terminal::end(&host, terminal).await;
        return ended.map_err(|error| failed("Failed to remove the folder", error));
    }
    ending::end(&host).await;
    // A connected bridge receives the exit status.
    drop(tokio::time::timeout(KILL_GRACE, host.exit_delivered()).await);
    accepting.abort();
    reaping.abort();
    match over {
        HostEnd::Stopped if host.record.terminal.is_none() => Ok(()),
        _ => host.folder.remove().map_err(|error| failed("Failed to remove the folder", error)),
    }
}

/// Returns when no launch request has arrived, and its sender is gone.
async fn not_started(host: &Host) {
    tokio::time::sleep(HOST_GREETING).await;
    if host.is_started() {
        std::future::pending::<()>().await;
    }
}

fn failed(message: &str, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Spawn, message, "check the folder of the host").caused_by(source)
}
