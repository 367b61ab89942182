//! A process that keeps a `claude` while the program that drives it comes and goes.
//!
//! A program that starts `claude` as its child takes it along when it ends. A **host** stands between the two: a small
//! process of its own, in a session of its own, that holds the pipes of one CLI. The program that drives the session (the
//! **bridge**) talks to the host over a socket, and may be killed, restarted or replaced by another version meanwhile.
//!
//! ```text
//!  bridge (comes and goes)                 host (stays)                        claude
//!  +------------------------+  socket  +---------------------------+  pipes  +--------+
//!  | Client over            |  lines > | writes each line once     | stdin > |        |
//!  |   SocketTransport      | < bytes  | spool on disk, with       | < stdout|  tools |
//!  | journal, then ack      |  acks  > | offsets; open questions   | < stderr|        |
//!  +------------------------+          +---------------------------+         +--------+
//!                                        ends everything below it
//! ```
//!
//! # What a host promises
//!
//! - **Nothing that the CLI wrote is lost or changed.** Every byte has an offset, and stays in the [spool](Remains) on disk
//!   until the bridge says that it has stored it. When the spool is full the host stops reading, and the CLI waits.
//! - **A line is written once.** Each has a name; a second line of the same name is acknowledged and not written. So a bridge that
//!   died between sending and storing may send again.
//! - **A question is asked until it is answered.** Requests of the CLI that have neither been answered nor taken back are told
//!   to each new bridge, with the CLI's answer to the handshake: a session is joined in the middle, not begun again.
//! - **Nothing stays behind.** When it is told to, when the CLI ends, when the host gets SIGTERM, or when no bridge has been
//!   connected for the lease, everything below the host is asked to leave and then made to. On Linux the host adopts what tools put into
//!   sessions of their own; if the host itself is killed, the CLI gets SIGTERM, and a shell that waits on a pipe ends
//!   the rest. Elsewhere the group of the CLI is ended, and a killed host leaves its CLI to end with its input.
//!
//! # Whose a host is
//!
//! One bridge at a time. A bridge shows the secret of the host's [`Record`], which only the same user can read (the socket
//! checks the user too), its name (`owner`) and its right to the session (`fence`, a number that grows with each claim):
//!
//! 1. A fence below the highest that was ever shown is refused: that bridge has been replaced.
//! 2. While no bridge is connected, any other fence will do: the former bridge is dead.
//! 3. While one is connected, another owner needs a higher fence; an equal one is refused.
//! 4. The same owner may always come back, and displaces its own former connection.
//!
//! Whoever is displaced is told so. Whoever comes while an earlier connection may still say what to start, such as that of a bridge that
//! was killed a moment ago, is let in after it: no session gets two agents. If nobody is left who could say, it is refused,
//! and the host ends.

mod cli;
mod connection;
mod ending;
mod folder;
mod memory;
mod socket;
mod spool;
mod start;
mod state;
pub mod wire;

use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

pub use folder::{HostFolder, Record, Remains};
pub use start::Start;

use self::state::{Host, Over};
use crate::error::{Error, ErrorKind};
use crate::limits::{HOST_GREETING, KILL_GRACE};

/// How long a host waits for a bridge unless it is told otherwise.
pub const LEASE: std::time::Duration = crate::limits::HOST_LEASE;

/// Is a host: listens, starts what it is told to start, and returns when all of it is over.
///
/// Whoever calls this does nothing else with the process: it becomes the leader of a session, adopts
/// orphans, and takes over SIGTERM. A runtime of one thread is enough.
pub async fn run(folder: HostFolder, listener: UnixListener) -> Result<(), Error> {
    // A process that leads a group already has been set apart by whoever started it.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| failed("Failed to adopt orphans", error.into()))?;
    let record = folder.record().map_err(|error| failed("Failed to read the record of the host", error))?;
    listener.set_nonblocking(true).map_err(|error| failed("Failed to listen", error))?;
    let listener = tokio::net::UnixListener::from_std(listener);
    let listener = listener.map_err(|error| failed("Failed to listen", error))?;
    let mut terminate =
        signal(SignalKind::terminate()).map_err(|error| failed("Failed to hear signals", error))?;
    let host = Arc::new(Host::new(folder, record));
    let accepting = tokio::spawn(connection::accept(Arc::clone(&host), listener));
    let reaping = tokio::spawn(ending::reap(Arc::clone(&host)));
    let over = tokio::select! {
        over = host.over() => over,
        _ = terminate.recv() => Over::Told,
        () = not_started(&host) => Over::Done,
        () = host.lease_is_over() => Over::Told,
    };
    tracing::debug!(?over, "the host ends");
    ending::end(&host).await;
    // Whoever is there hears how it ended.
    drop(tokio::time::timeout(KILL_GRACE, host.exit_was_told()).await);
    accepting.abort();
    reaping.abort();
    match over {
        Over::Done => host.folder.remove().map_err(|error| failed("Failed to remove the folder", error)),
        Over::Told => Ok(()),
    }
}

/// Nobody has said what to start, and whoever wanted to is gone.
async fn not_started(host: &Host) {
    tokio::time::sleep(HOST_GREETING).await;
    if host.is_started() {
        std::future::pending::<()>().await;
    }
}

fn failed(message: &str, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Spawn, message, "look at the folder of the host").caused_by(source)
}
