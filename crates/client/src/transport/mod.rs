//! What carries lines to a `claude` and back.
//!
//! A [`Transport`] opens a [`Link`]: a queue of what is [`Incoming`], a way to write lines, and a way to stop the other side.
//! There are some here: [`Process`] starts a child process, [`memory`] joins two ends in one process, [`Replay`] plays a
//! recording, and with the feature `host` a `SocketTransport` joins a CLI that a host keeps. Anything else that carries
//! lines can be one too.

mod lines;
pub mod memory;
pub(crate) mod process;
mod replay;
#[cfg(all(unix, feature = "host"))]
mod socket;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_protocol::{DecodeError, Frame};
use tokio::sync::mpsc;

pub use lines::Lines;
pub use process::Process;
pub use replay::Replay;
#[cfg(all(unix, feature = "host"))]
pub use socket::{Claim, Health, HostHandle, NewHost, SocketTransport};

use crate::error::Error;
use crate::options::Launch;

/// Something that can be joined to a session.
pub trait Transport: fmt::Debug + Send {
    /// Opens the way. Options that belong to the command line are in `launch`; a carrier that starts nothing
    /// has no use for them.
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>>;
}

impl Transport for Box<dyn Transport> {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        (*self).open(launch)
    }
}

/// An open way to a `claude` and back.
#[derive(Debug)]
#[non_exhaustive]
pub struct Link {
    /// What comes from the other side. The last event is [`Incoming::Exit`].
    pub incoming: mpsc::Receiver<Incoming>,
    /// What goes there.
    pub outgoing: Box<dyn Outgoing>,
    /// How to stop it.
    pub stop: Arc<dyn Stop>,
    /// The program that was started on this machine, which can be asked for its version if it does not answer.
    pub program: Option<PathBuf>,
    /// What was said at the handshake, if the session has been running for a while; then there is no other handshake.
    pub resumed: Option<Box<Resumed>>,
}

/// A handshake that took place before.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resumed {
    /// The CLI's answer to it.
    pub initialize: Frame,
    /// The last `system/init` frame, if there was one.
    pub init: Option<Frame>,
}

impl Link {
    /// A way to a new session, which begins with a handshake.
    pub fn new(incoming: mpsc::Receiver<Incoming>, outgoing: Box<dyn Outgoing>, stop: Arc<dyn Stop>) -> Self {
        Link { incoming, outgoing, stop, program: None, resumed: None }
    }
}

impl Resumed {
    /// A handshake of which the CLI's answer is known.
    pub fn new(initialize: Frame) -> Self {
        Resumed { initialize, init: None }
    }
}

/// Something that comes from the other side.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Incoming {
    /// Where the line of the next event ends in everything that the other side wrote. Told by carriers that count.
    Place(u64),
    /// A line that is a frame.
    Frame(Frame),
    /// A line that is none: a banner, a log line, broken JSON.
    Noise {
        /// How it begins.
        text: String,
        /// What is wrong with a line that begins like a frame.
        error: Option<DecodeError>,
    },
    /// A line that was too long to keep.
    Oversized {
        /// Its length.
        bytes: u64,
        /// How it begins.
        head: String,
    },
    /// A line of the error output.
    Stderr(String),
    /// The other side has ended.
    Exit(Exit),
}

/// How the other side ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Writes lines to the other side.
pub trait Outgoing: fmt::Debug + Send {
    /// Writes one whole line. `line` has no line end, and none inside.
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>>;

    /// Says that no more lines come.
    fn end(&mut self) -> BoxFuture<'_, io::Result<()>>;

    /// Whether control frames in the flat style may go over this carrier. The real CLI dies of them.
    fn takes_flat_control(&self) -> bool {
        false
    }
}

/// Stops the other side; a carrier that started nothing does nothing.
pub trait Stop: fmt::Debug + Send + Sync {
    /// Asks it to leave.
    fn terminate(&self) {}

    /// Makes it leave, with everything that it started.
    fn kill(&self) {}

    /// Its process, if it is one.
    fn pid(&self) -> Option<u32> {
        None
    }
}

impl Exit {
    /// It ended by itself with this code.
    pub fn code(code: i32) -> Self {
        Exit { code: Some(code), signal: None }
    }

    /// A signal ended it.
    pub fn signal(signal: i32) -> Self {
        Exit { code: None, signal: Some(signal) }
    }

    /// Whether it says that all went well.
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
