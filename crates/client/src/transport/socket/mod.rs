//! The way to a CLI that a [host](crate::host) keeps.

mod handle;
mod link;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use tidings_protocol::Frame;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;

pub use handle::{Health, HostHandle};

use self::handle::Shared;
use self::link::Joined;
use super::{Link, Resumed, Transport};
use crate::error::{Error, ErrorKind};
use crate::host::wire::{Attach, FromHost, Hello, Message, Reader, Refusal, ToHost, VERSION};
use crate::host::{HostFolder, Record, Start};
use crate::limits::{HOST_ANSWER, HOST_BYTES_MAX};
use crate::options::Launch;

/// Joins a session whose CLI a [host](crate::host) keeps: a new one, or one that has been running for a while.
///
/// A session over it is closed as any other is. To leave it running, let go of it with [`HostHandle::detach`], or end the program.
#[derive(Debug)]
pub struct SocketTransport {
    folder: HostFolder,
    claim: Claim,
    how: How,
    shared: Arc<Shared>,
}

/// By which right a session is joined; the rules are in the documentation of [`host`](crate::host).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Names whoever joins.
    pub owner: String,
    /// A higher one displaces a lower one.
    pub fence: u64,
}

/// A host that is to be started.
#[derive(Debug, Clone)]
pub struct NewHost {
    /// The program that calls [`host::run`](crate::host::run), such as `tidings`.
    pub program: PathBuf,
    /// Its arguments, such as `host`; the path of the folder follows them. Its standard input is the socket to listen on.
    pub args: Vec<OsString>,
    /// What stands in the folder.
    pub record: Record,
    /// How long it waits for a bridge.
    pub lease: Duration,
    /// How much it keeps for a bridge that is away, if not the usual; never less than the longest line.
    pub spool_bytes_max: Option<u64>,
}

#[derive(Debug)]
enum How {
    Start(Box<NewHost>),
    Attach { after: Option<u64>, lease: Option<Duration> },
}

impl SocketTransport {
    /// Starts a host in a new folder, and `claude` under it.
    pub fn start(folder: HostFolder, new: NewHost, claim: Claim) -> (Self, HostHandle) {
        SocketTransport::new(folder, claim, How::Start(Box::new(new)))
    }

    /// Joins a session that has been running for a while, and reads on after this place in what the CLI wrote; from the first byte that
    /// is kept if none is named. The lease changes if one is named.
    pub fn attach(
        folder: HostFolder,
        claim: Claim,
        after: Option<u64>,
        lease: Option<Duration>,
    ) -> (Self, HostHandle) {
        SocketTransport::new(folder, claim, How::Attach { after, lease })
    }

    fn new(folder: HostFolder, claim: Claim, how: How) -> (Self, HostHandle) {
        let shared = Arc::new(Shared::default());
        let handle = HostHandle::new(Arc::clone(&shared));
        (SocketTransport { folder, claim, how, shared }, handle)
    }
}

impl Transport for SocketTransport {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move { self.join(&launch).await })
    }
}

impl SocketTransport {
    async fn join(self, launch: &Launch) -> Result<Link, Error> {
        let SocketTransport { folder, claim, how, shared } = self;
        let (record, start, after, lease) = match how {
            How::Start(new) => {
                let start = Start::of(launch, new.lease, new.spool_bytes_max)?;
                let record = new.record.clone();
                spawn(&folder, &new).map_err(|error| not_started(&folder, error))?;
                (record, Some(start), None, None)
            }
            How::Attach { after, lease } => {
                let record = folder.record().map_err(|error| gone(&folder, error))?;
                (record, None, after, lease)
            }
        };
        let attach = Attach {
            version: VERSION,
            secret: record.secret,
            owner: claim.owner,
            fence: claim.fence,
            after,
            lease_ms: lease.map(|lease| u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)),
        };
        let joining = meet(&folder, start, attach);
        let joined = tokio::time::timeout(HOST_ANSWER, joining).await;
        let (stream, remembered) = joined.map_err(|_| Error::timeout("attach", HOST_ANSWER))??;
        Ok(link::open(stream, remembered, shared, launch.line_bytes_max))
    }
}

/// What a host told of the conversation so far.
#[derive(Debug)]
struct Remembered {
    hello: Hello,
    initialize: Option<Frame>,
    init: Option<Frame>,
    /// Open questions, with where their lines end.
    open: Vec<(u64, Frame)>,
}

impl Remembered {
    fn resumed(&self) -> Option<Box<Resumed>> {
        let initialize = self.initialize.clone()?;
        Some(Box::new(Resumed { initialize, init: self.init.clone() }))
    }
}

/// Starts the process. It listens on what is its standard input, so that it can be talked to before it has begun.
fn spawn(folder: &HostFolder, new: &NewHost) -> io::Result<()> {
    folder.create(&new.record)?;
    let started = folder.listen().and_then(|listener| {
        let mut command = Command::new(&new.program);
        // It inherits nothing: no variable that marks it as somebody's, no folder that could not be unmounted.
        command.args(&new.args).arg(folder.path()).env_clear().current_dir("/");
        command.stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(folder.log()?);
        tokio::process::Command::from(command).spawn()
    });
    match started {
        Ok(mut child) => {
            // It outlives us; if it does not, it is waited for.
            drop(tokio::spawn(async move { drop(child.wait().await) }));
            Ok(())
        }
        Err(error) => {
            drop(folder.remove());
            Err(error)
        }
    }
}

/// Says what is wanted and hears what is remembered.
async fn meet(
    folder: &HostFolder,
    start: Option<Start>,
    attach: Attach,
) -> Result<(Joined, Remembered), Error> {
    let lost = |error: io::Error| gone(folder, error);
    let stream = folder.connect().map_err(lost)?;
    stream.set_nonblocking(true).map_err(lost)?;
    let stream = UnixStream::from_std(stream).map_err(lost)?;
    let peer = stream.peer_cred().map_err(lost)?.uid();
    if peer != rustix::process::geteuid().as_raw() {
        let message = format!("The host of this session belongs to another user, {peer}");
        return Err(Error::new(ErrorKind::Spawn, message, "look at who owns the folder of the hosts"));
    }
    let (read, mut write) = stream.into_split();
    let mut words = Vec::new();
    if let Some(start) = start {
        let start = serde_json::to_vec(&start).map_err(|error| lost(error.into()))?;
        words.extend(Message::with(ToHost::Start, start).encode());
    }
    words.extend(Message::new(ToHost::Attach(attach)).encode());
    // A host that cannot start what it is told to says why, and may be gone before it has heard the rest.
    let told = write.write_all(&words).await;
    let mut reader = Reader::new(read, HOST_BYTES_MAX);
    let remembered = remembered(&mut reader).await.map_err(|refused| match refused {
        Refused::Said(error) => error,
        Refused::Gone(error) => lost(told.err().unwrap_or(error)),
    })?;
    Ok((Joined { folder: folder.clone(), reader, write }, remembered))
}

enum Refused {
    Said(Error),
    Gone(io::Error),
}

async fn remembered(reader: &mut Reader<OwnedReadHalf>) -> Result<Remembered, Refused> {
    let (mut hello, mut initialize, mut init, mut open) = (None, None, None, Vec::new());
    loop {
        let message = reader.next::<FromHost>().await.map_err(Refused::Gone)?;
        let message = message.ok_or_else(|| Refused::Gone(io::ErrorKind::UnexpectedEof.into()))?;
        let frame = || Frame::decode_lossy(&message.bytes).ok();
        match message.head {
            FromHost::Hello(said) => hello = Some(said),
            FromHost::Initialize => initialize = frame(),
            FromHost::Init => init = frame(),
            FromHost::Open { end } => open.extend(frame().map(|frame| (end, frame))),
            FromHost::Ready => {
                let hello = hello.ok_or_else(|| Refused::Gone(io::ErrorKind::InvalidData.into()))?;
                return Ok(Remembered { hello, initialize, init, open });
            }
            FromHost::Refused { reason, message } => return Err(Refused::Said(refusal(reason, message))),
            FromHost::Failed { message, hint } => {
                return Err(Refused::Said(Error::new(ErrorKind::Spawn, message, hint)));
            }
            _ => {}
        }
    }
}

fn refusal(reason: Refusal, message: String) -> Error {
    let (kind, hint) = match reason {
        Refusal::Taken | Refusal::Outdated => (ErrorKind::Taken, "use the other one, or stop it first"),
        Refusal::NoSuchOffset => (ErrorKind::Invalid, "attach without an offset"),
        _ => (ErrorKind::Invalid, ""),
    };
    Error::new(kind, message, hint)
}

fn not_started(folder: &HostFolder, source: io::Error) -> Error {
    let message = format!("Failed to start a host in `{}`", folder.path().display());
    let hint = "check that the folder can be written, and that its path is not too long";
    Error::new(ErrorKind::Spawn, message, hint).caused_by(source)
}

fn gone(folder: &HostFolder, source: io::Error) -> Error {
    let message = format!("There is no host in `{}` any more", folder.path().display());
    Error::new(ErrorKind::Closed, message, "resume the session with a new one").caused_by(source)
}
