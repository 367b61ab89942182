//! Transports, which carry lines to a `claude` and back.
//!
//! A [`Transport`] opens a [`Link`]: a source of [`Incoming`] events, a writer of lines, and a way to stop
//! the other side. [`Process`] starts a child process, [`memory`] connects two ends in one process,
//! [`Replay`] plays a recording, and with the feature `host` a `SocketTransport` connects to a CLI under a
//! host. You can implement others.

mod lines;
pub mod memory;
pub(crate) mod process;
mod replay;
#[cfg(all(unix, feature = "host"))]
pub(crate) mod socket;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tidings_protocol::{DecodeError, Frame, FrameRef};
use tokio::sync::mpsc;

pub use lines::Lines;
pub use process::Process;
pub use replay::Replay;
#[cfg(all(unix, feature = "host"))]
pub use socket::{Claim, Health, HostHandle, NewHost, SocketTransport};

use crate::error::Error;
use crate::options::Launch;

/// A transport that a session can run over.
pub trait Transport: fmt::Debug + Send {
    /// Opens the connection. `launch` has the options for the command line; a transport that starts no
    /// process ignores them.
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>>;
}

impl Transport for Box<dyn Transport> {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        (*self).open(launch)
    }
}

/// An open connection to a `claude`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Link {
    /// Events from the other side. The last one is [`Incoming::Exit`] or [`Incoming::Failed`].
    pub incoming: IncomingEvents,
    /// The writer of lines.
    pub outgoing: Box<dyn Outgoing>,
    /// The handle to stop the other side.
    pub stop: Arc<dyn Stop>,
    /// The local program that was started; its version explains a failed handshake.
    pub program: Option<PathBuf>,
    /// The earlier handshake, if the session already runs; then it is not repeated.
    pub resumed: Option<Box<Resumed>>,
}

/// A handshake that took place before.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resumed {
    /// The CLI's reply.
    pub initialize: Frame,
    /// The last `system/init` frame, if there was one.
    pub init: Option<Frame>,
}

impl Link {
    /// A connection to a new session, which begins with a handshake.
    pub fn new(
        incoming: impl Into<IncomingEvents>,
        outgoing: Box<dyn Outgoing>,
        stop: Arc<dyn Stop>,
    ) -> Self {
        Link { incoming: incoming.into(), outgoing, stop, program: None, resumed: None }
    }
}

/// A queue of events from the other side, or their source itself, which the session then reads without
/// another task.
#[derive(Debug)]
pub struct IncomingEvents(EventSource);

#[derive(Debug)]
enum EventSource {
    Queue(mpsc::Receiver<Incoming>),
    #[cfg(all(unix, feature = "host"))]
    Host(Box<socket::Inbound>),
}

impl IncomingEvents {
    #[cfg(all(unix, feature = "host"))]
    fn of_host(inbound: socket::Inbound) -> Self {
        IncomingEvents(EventSource::Host(Box::new(inbound)))
    }

    /// Waits for the next event; `None` after the last one. The future must not be dropped before it
    /// completes, unless all of this is.
    pub async fn recv(&mut self) -> Option<Incoming> {
        match &mut self.0 {
            EventSource::Queue(queue) => queue.recv().await,
            #[cfg(all(unix, feature = "host"))]
            EventSource::Host(inbound) => inbound.recv().await,
        }
    }
}

impl From<mpsc::Receiver<Incoming>> for IncomingEvents {
    fn from(queue: mpsc::Receiver<Incoming>) -> Self {
        IncomingEvents(EventSource::Queue(queue))
    }
}

impl From<Frame> for Incoming {
    fn from(frame: Frame) -> Self {
        Incoming::Frame { frame, end: None }
    }
}

impl Resumed {
    /// A handshake with this reply of the CLI.
    pub fn new(initialize: Frame) -> Self {
        Resumed { initialize, init: None }
    }
}

/// An event from the other side.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Incoming {
    /// A line that is a frame.
    Frame {
        /// The frame.
        frame: Frame,
        /// The offset at which its line ends in the CLI's output, if the transport counts bytes.
        end: Option<u64>,
    },
    /// A line that is not a frame: a banner, a log line, broken JSON.
    Noise {
        /// The beginning of the line.
        text: String,
        /// The decoding error, if the line begins like a frame.
        error: Option<DecodeError>,
    },
    /// A line that was too long to keep.
    Oversized {
        /// Its length in bytes.
        bytes: u64,
        /// The beginning of the line.
        head: String,
    },
    /// A line of stderr.
    Stderr(String),
    /// Nothing more arrives before the next prompt. The error is for callers that wait for something else.
    Waiting(Error),
    /// The transport cannot go on, for this reason; the session ends.
    Failed(Error),
    /// The other side has ended.
    Exit(Exit),
}

/// The exit status of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code, unless a signal ended the process.
    pub code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
}

/// A writer of lines to the other side.
pub trait Outgoing: fmt::Debug + Send {
    /// Writes one whole line. `line` contains no line break.
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>>;

    /// Writes one whole line that was decoded before; `frame` is the line. A session sends each of its lines
    /// so, and a transport that needs a part of the line, such as its id, need not decode it again.
    fn send_frame<'a>(&'a mut self, line: &'a str, frame: FrameRef<'a>) -> BoxFuture<'a, io::Result<()>> {
        let _ = frame;
        self.send(line)
    }

    /// Ends the input of the other side.
    fn end(&mut self) -> BoxFuture<'_, io::Result<()>>;

    /// True if control frames in the flat style may be sent over this transport. They crash the real CLI.
    fn takes_flat_control(&self) -> bool {
        false
    }
}

/// A handle to stop the other side; by default it does nothing.
pub trait Stop: fmt::Debug + Send + Sync {
    /// Requests an orderly exit, as SIGTERM does.
    fn terminate(&self) {}

    /// Kills the other side and everything that it started.
    fn kill(&self) {}

    /// The process id of the other side, if it is a process.
    fn pid(&self) -> Option<u32> {
        None
    }
}

impl Exit {
    /// An exit with this code.
    pub fn code(code: i32) -> Self {
        Exit { code: Some(code), signal: None }
    }

    /// An exit by this signal.
    pub fn signal(signal: i32) -> Self {
        Exit { code: None, signal: Some(signal) }
    }

    /// True if the exit code is 0.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "with exit code {code}"),
            (None, Some(signal)) => write!(f, "by signal {signal}"),
            (None, None) => f.write_str("without an exit code"),
        }
    }
}
