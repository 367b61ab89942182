//! The transport to a CLI under a [host](crate::host).

mod handle;
mod inbound;
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
pub(super) use inbound::Inbound;

use self::handle::Shared;
use self::link::AttachedStream;
use super::{Link, Resumed, Transport};
use crate::agent_name::AgentName;
use crate::error::{Error, ErrorKind};
use crate::host::wire::{Attach, FromHost, Hello, Message, Reader, Refusal, StartFailure, ToHost, VERSION};
use crate::host::{HostFolder, Record, Start};
use crate::limits::{HOST_ANSWER, HOST_BYTES_MAX};
use crate::options::Launch;

/// A transport to a session under a [host](crate::host): a new one, or one that already runs. It needs the
/// feature `host`, and Unix.
///
/// Closing such a session ends it as any other. To leave it running, call [`HostHandle::detach`], or end the
/// program.
#[derive(Debug)]
pub struct SocketTransport {
    folder: HostFolder,
    claim: Claim,
    mode: ConnectMode,
    shared: Arc<Shared>,
}

/// The claim to a session; the rules are in the documentation of [`host`](crate::host).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The name of the bridge.
    pub owner: String,
    /// The fencing number: a higher one displaces a lower one.
    pub fence: u64,
}

/// A host to start.
#[derive(Debug, Clone)]
pub struct NewHost {
    /// The program that calls [`host::run`](crate::host::run), such as `tidings`.
    pub program: PathBuf,
    /// Its arguments, such as `host`; the path of the folder follows them. Its standard input is the socket
    /// to listen on.
    pub args: Vec<OsString>,
    /// The record to write into its folder.
    pub record: Record,
    /// The time that it waits for a bridge.
    pub lease: Duration,
    /// The size of its spool, if not the default; never less than the longest line.
    pub spool_bytes_max: Option<u64>,
}

#[derive(Debug)]
enum ConnectMode {
    Start(Box<NewHost>),
    Attach { after: Option<u64>, lease: Option<Duration> },
}

impl SocketTransport {
    /// Starts a host in a new folder, and `claude` under it.
    pub fn start(folder: HostFolder, new: NewHost, claim: Claim) -> (Self, HostHandle) {
        SocketTransport::new(folder, claim, ConnectMode::Start(Box::new(new)))
    }

    /// Attaches to a running session, and reads the CLI's output after this offset; from the first byte that
    /// is kept if there is none. The lease changes if one is given.
    pub fn attach(
        folder: HostFolder,
        claim: Claim,
        after: Option<u64>,
        lease: Option<Duration>,
    ) -> (Self, HostHandle) {
        SocketTransport::new(folder, claim, ConnectMode::Attach { after, lease })
    }

    fn new(folder: HostFolder, claim: Claim, mode: ConnectMode) -> (Self, HostHandle) {
        let shared = Arc::new(Shared::default());
        let handle = HostHandle::new(Arc::clone(&shared));
        (SocketTransport { folder, claim, mode, shared }, handle)
    }
}

impl Transport for SocketTransport {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move { self.connect(&launch).await })
    }
}

impl SocketTransport {
    async fn connect(self, launch: &Launch) -> Result<Link, Error> {
        let SocketTransport { folder, claim, mode, shared } = self;
        let (record, start, after, lease, program) = match mode {
            ConnectMode::Start(new) => {
                let start = Start::of(launch, new.lease, new.spool_bytes_max)?;
                let record = new.record.clone();
                spawn(&folder, &new).map_err(|error| not_started(&folder, error))?;
                (record, Some(start), None, None, launch.program.clone())
            }
            ConnectMode::Attach { after, lease } => {
                let record = folder.record().map_err(|error| gone(&folder, error))?;
                (record, None, after, lease, None)
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
        let attaching = handshake(&folder, start, attach);
        let attached = tokio::time::timeout(HOST_ANSWER, attaching).await;
        let (stream, reply) = attached
            .map_err(|_| Error::timeout(&AgentName::new("The agent host"), "attach", HOST_ANSWER))??;
        Ok(Link { program, ..link::open(stream, reply, shared, launch.line_bytes_max) })
    }
}

/// The state of the conversation that a host sends on attaching.
#[derive(Debug)]
struct AttachReply {
    hello: Hello,
    initialize: Option<Frame>,
    init: Option<Frame>,
    /// Open requests of the CLI, with the end offsets of their lines.
    open: Vec<(u64, Frame)>,
}

impl AttachReply {
    fn resumed(&self) -> Option<Box<Resumed>> {
        let initialize = self.initialize.clone()?;
        Some(Box::new(Resumed { initialize, init: self.init.clone() }))
    }
}

/// Starts the host process. It gets the listening socket as standard input, so that messages can be sent
/// before it has started. Returns its process id.
pub(crate) fn spawn(folder: &HostFolder, new: &NewHost) -> io::Result<Option<u32>> {
    let listener = folder.create(&new.record)?;
    let started = folder.log().and_then(|log| {
        let mut command = Command::new(&new.program);
        // It inherits nothing: no mark of another owner, and no working folder that could not be unmounted.
        command.args(&new.args).arg(folder.path()).env_clear().current_dir("/");
        command.stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(log);
        tokio::process::Command::from(command).spawn()
    });
    match started {
        Ok(mut child) => {
            let pid = child.id();
            // It outlives this process; if it does not, it must be waited for.
            drop(tokio::spawn(async move { drop(child.wait().await) }));
            Ok(pid)
        }
        Err(error) => {
            drop(folder.remove());
            Err(error)
        }
    }
}

/// Sends the launch request or claim, and receives the state of the conversation.
async fn handshake(
    folder: &HostFolder,
    start: Option<Start>,
    attach: Attach,
) -> Result<(AttachedStream, AttachReply), Error> {
    let lost = |error: io::Error| gone(folder, error);
    let stream = folder.connect().map_err(lost)?;
    stream.set_nonblocking(true).map_err(lost)?;
    let stream = UnixStream::from_std(stream).map_err(lost)?;
    let peer = stream.peer_cred().map_err(lost)?.uid();
    if peer != rustix::process::geteuid().as_raw() {
        let message = format!("The host of this session belongs to another user, {peer}");
        return Err(Error::new(ErrorKind::Spawn, message, "check the owner of the folder of the hosts"));
    }
    let (read, mut write) = stream.into_split();
    let mut messages = Vec::new();
    if let Some(start) = start {
        let start = serde_json::to_vec(&start).map_err(|error| lost(error.into()))?;
        messages.extend(Message::with(ToHost::Start, start).encode());
    }
    messages.extend(Message::new(ToHost::Attach(attach)).encode());
    // A host that cannot start the CLI replies why, and may have ended before it has read the rest.
    let sent = write.write_all(&messages).await;
    let mut reader = Reader::new(read, HOST_BYTES_MAX);
    let reply = read_attach_reply(&mut reader).await.map_err(|refused| match refused {
        AttachError::Refused(error) => error,
        AttachError::Gone(error) => lost(sent.err().unwrap_or(error)),
    })?;
    Ok((AttachedStream { folder: folder.clone(), reader, write }, reply))
}

enum AttachError {
    Refused(Error),
    Gone(io::Error),
}

async fn read_attach_reply(reader: &mut Reader<OwnedReadHalf>) -> Result<AttachReply, AttachError> {
    let (mut hello, mut initialize, mut init, mut open) = (None, None, None, Vec::new());
    loop {
        let message = reader.next::<FromHost>().await.map_err(AttachError::Gone)?;
        let message = message.ok_or_else(|| AttachError::Gone(io::ErrorKind::UnexpectedEof.into()))?;
        let frame = || Frame::decode_lossy(&message.bytes).ok();
        match message.head {
            FromHost::Hello(greeting) => hello = Some(greeting),
            FromHost::Initialize => initialize = frame(),
            FromHost::Init => init = frame(),
            FromHost::Open { end } => open.extend(frame().map(|frame| (end, frame))),
            FromHost::Ready => {
                let hello = hello.ok_or_else(|| AttachError::Gone(io::ErrorKind::InvalidData.into()))?;
                return Ok(AttachReply { hello, initialize, init, open });
            }
            FromHost::Refused { reason, message } => {
                return Err(AttachError::Refused(refusal(reason, message)));
            }
            FromHost::Failed { message, hint, cause } => {
                let kind = match cause {
                    StartFailure::Taken => ErrorKind::Taken,
                    StartFailure::Spawn => ErrorKind::Spawn,
                };
                return Err(AttachError::Refused(Error::new(kind, message, hint)));
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
    let message = format!("The host in `{}` has ended", folder.path().display());
    Error::new(ErrorKind::Closed, message, "resume the session with a new host").caused_by(source)
}
