//! A small blocking HTTP client for the server's socket.
//!
//! It speaks HTTP/1.0, in which the end of the connection ends the body and nothing is sent in chunks.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::{Pid, getppid};
use tidings_remote::local::{BASE_PATH_NOTE, SOCKET, SOCKET_NOTE};

/// Further time for a reply for each MiB of the request.
const REPLY_TIME_PER_MIB: Duration = Duration::from_millis(10);

/// Interval at which a held request checks its parent, where the system does not signal the parent's end.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// Longest reply, with its headers.
const REPLY_BYTES_MAX: usize = 4 << 20;

/// Bytes written at once, after which the deadline is checked.
const WRITE_BYTES: usize = 256 << 10;

/// The socket of a server, and the path in front of its routes.
pub(super) struct Endpoint {
    pub(super) socket: PathBuf,
    base: String,
}

pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// Body, in parts so that a long input is not copied.
    pub(super) body: [&'a [u8]; 3],
    /// Time for a reply of the server: its status and headers.
    pub(super) reply_time: Duration,
}

/// Time that the server has for the body of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// The body follows the headers at once.
    No,
    /// The body comes when a person has decided, unless the parent process ends before.
    UntilAnswered { parent: Option<Pid> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The server accepts connections, and did not reply in time.
    NoReply,
    /// There is no server, it refused the request, or the reply is not complete.
    Other,
}

impl Endpoint {
    /// The endpoint that a server recorded in its data folder.
    pub(super) fn of(data: &Path) -> Self {
        let note = |name: &str| std::fs::read(data.join(name)).ok().filter(|note| !note.is_empty());
        let socket = note(SOCKET_NOTE).map(|path| PathBuf::from(std::ffi::OsString::from_vec(path)));
        let base = note(BASE_PATH_NOTE).and_then(|base| String::from_utf8(base).ok());
        Endpoint { socket: socket.unwrap_or_else(|| data.join(SOCKET)), base: base.unwrap_or_default() }
    }

    /// Sends a request and returns the body of a successful reply.
    pub(super) fn send(&self, request: &Request<'_>, hold: Hold) -> Result<Vec<u8>, Failure> {
        let length: usize = request.body.iter().map(|part| part.len()).sum();
        let per_mib = REPLY_TIME_PER_MIB * u32::try_from(length >> 20).unwrap_or(u32::MAX);
        let deadline = Deadline(Instant::now() + request.reply_time + per_mib);
        let mut stream = connect_before(&self.socket, deadline)?;
        let head = format!(
            "{} {}{} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n",
            request.method, self.base, request.path
        );
        for part in [head.as_bytes()].into_iter().chain(request.body) {
            write_before(&mut stream, part, deadline)?;
        }
        let (reply, head_bytes) = read_head(&mut stream, deadline)?;
        let head = ReplyHead::parse(reply.get(..head_bytes).unwrap_or_default()).ok_or(Failure::Other)?;
        let body = reply.get(head_bytes..).unwrap_or_default().to_vec();
        read_body(&mut stream, body, &head, hold, deadline)
    }
}

/// Point in time at which the server is too late.
#[derive(Debug, Clone, Copy)]
struct Deadline(Instant);

impl Deadline {
    fn left(self) -> Result<Duration, Failure> {
        let left = self.0.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Failure::NoReply) } else { Ok(left) }
    }
}

/// Connects to a socket. A stopped server whose queue is full would block `UnixStream::connect` for ever.
fn connect_before(path: &Path, deadline: Deadline) -> Result<UnixStream, Failure> {
    let other = |_| Failure::Other;
    let address = SocketAddrUnix::new(path).map_err(other)?;
    let socket: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None).map_err(other)?;
    set_socket_timeout(&socket, Timeout::Send, Some(deadline.left()?)).map_err(other)?;
    connect(&socket, &address).map_err(|error| failure(&error.into()))?;
    Ok(UnixStream::from(socket))
}

fn write_before(stream: &mut UnixStream, bytes: &[u8], deadline: Deadline) -> Result<(), Failure> {
    for chunk in bytes.chunks(WRITE_BYTES) {
        stream.set_write_timeout(Some(deadline.left()?)).map_err(|_| Failure::Other)?;
        stream.write_all(chunk).map_err(|error| failure(&error))?;
    }
    Ok(())
}

/// Reads until the end of the headers; returns the bytes read, and the length of the head.
fn read_head(stream: &mut UnixStream, deadline: Deadline) -> Result<(Vec<u8>, usize), Failure> {
    const END: &[u8] = b"\r\n\r\n";
    let mut reply = Vec::new();
    loop {
        stream.set_read_timeout(Some(deadline.left()?)).map_err(|_| Failure::Other)?;
        match read_some(stream, &mut reply) {
            Ok(0) => return Err(Failure::Other),
            Ok(_) => {}
            Err(error) => return Err(failure(&error)),
        }
        if let Some(at) = reply.windows(END.len()).position(|window| window == END) {
            return Ok((reply, at + END.len()));
        }
    }
}

fn read_body(
    stream: &mut UnixStream,
    mut body: Vec<u8>,
    head: &ReplyHead,
    hold: Hold,
    deadline: Deadline,
) -> Result<Vec<u8>, Failure> {
    loop {
        if let Some(length) = head.length.filter(|length| *length <= body.len()) {
            body.truncate(length);
            return Ok(body);
        }
        let timeout = match hold {
            // The server did reply, so it is not left alone for a late body.
            Hold::No => Some(deadline.left().map_err(|_| Failure::Other)?),
            Hold::UntilAnswered { .. } if cfg!(any(target_os = "linux", target_os = "android")) => None,
            Hold::UntilAnswered { .. } => Some(PARENT_CHECK),
        };
        stream.set_read_timeout(timeout).map_err(|_| Failure::Other)?;
        match read_some(stream, &mut body) {
            Ok(0) if head.length.is_some() => return Err(Failure::Other),
            Ok(0) => return Ok(body),
            Ok(_) => {}
            Err(error) => match hold {
                Hold::UntilAnswered { parent } if is_timeout(&error) && parent == getppid() => {}
                _ => return Err(Failure::Other),
            },
        }
    }
}

/// Reads once and appends the bytes; 0 at the end of the connection.
fn read_some(stream: &mut UnixStream, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if bytes.len() + count > REPLY_BYTES_MAX => {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            result => {
                let count = result?;
                bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                return Ok(count);
            }
        }
    }
}

/// Status and length of a successful reply.
struct ReplyHead {
    /// Length of the body; without one, the end of the connection ends the body.
    length: Option<usize>,
}

impl ReplyHead {
    fn parse(head: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut status = lines.next()?.split(' ');
        let is_http = status.next()?.starts_with("HTTP/1.");
        if !is_http || !status.next()?.starts_with('2') {
            return None;
        }
        let mut headers = lines.filter_map(|line| line.split_once(':'));
        let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.map(|(_, value)| value.trim().parse().ok());
        Some(ReplyHead { length: length.map_or(Some(None), |length| length.map(Some))? })
    }
}

fn failure(error: &io::Error) -> Failure {
    if is_timeout(error) { Failure::NoReply } else { Failure::Other }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
