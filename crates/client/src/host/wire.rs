//! What a host and a bridge say to each other, version 1.
//!
//! Each message is one line of JSON, the head, and behind it as many bytes as the head's `bytes` says, if it has that key.
//! What the CLI wrote is always in those bytes, and passes unchanged. `kind` names the message. Whoever gets a kind that it
//! does not know skips it, and whoever finds a key that it does not know ignores it: so a bridge of a newer version
//! goes on with the hosts of an older one, and the other way round. A message is never given another meaning; a new meaning gets
//! a new kind.

use std::fmt;
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use crate::limits::{HOST_HEAD_BYTES_MAX, HOST_PIECE_BYTES};
use crate::transport::Exit;

/// The version that this crate speaks.
pub const VERSION: u32 = 1;

/// What a bridge says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToHost {
    /// What the host is to start; the bytes are a [`Start`](super::Start) as JSON. Said once, by who started the host.
    Start,
    /// Wants to be the bridge of this host.
    Attach(Attach),
    /// A line for the CLI, without its end, in the bytes.
    In {
        /// Names the line: a second one of the same name is not written.
        id: String,
    },
    /// Everything up to here is stored and may be forgotten.
    Ack {
        /// A place in what the CLI wrote.
        offset: u64,
    },
    /// No more lines come; the CLI's input is closed.
    EndInput,
    /// Asks the CLI to leave.
    Terminate,
    /// Makes the CLI leave, with everything that it started.
    Kill,
    /// Asks which processes there are.
    Pids,
    /// Asks how things stand.
    Ping,
    /// Nothing more is wanted: the host ends whatever there is and removes its folder.
    Bye,
    /// Something that a later version says.
    #[serde(other)]
    Unknown,
}

/// Wants to be the bridge of a host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The highest version that the bridge speaks.
    pub version: u32,
    /// What stands in the record of the host.
    pub secret: String,
    /// Names the bridge.
    pub owner: String,
    /// The bridge's right to the session: a higher one displaces a lower one.
    pub fence: u64,
    /// Where it wants to read on; from the first byte that is kept if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How long the host is to wait for a bridge from now on; as before if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
}

/// What a host says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromHost {
    /// The bridge is the host's now. What the host remembers follows, then [`FromHost::Ready`].
    Hello(Hello),
    /// The CLI's answer to the handshake, in the bytes.
    Initialize,
    /// The last `system/init` frame, in the bytes.
    Init,
    /// A question of the CLI that is still open, in the bytes.
    Open {
        /// Where its line ends in what the CLI wrote.
        end: u64,
    },
    /// What is remembered has been told; the stream begins.
    Ready,
    /// What the CLI wrote, in the bytes. It is cut anywhere, not only at the ends of lines.
    Out {
        /// Where the bytes end in what the CLI wrote.
        end: u64,
    },
    /// A line of the CLI's error output, in the bytes.
    Stderr,
    /// A line is with the CLI, or will be as soon as it reads.
    Wrote {
        /// The line.
        id: String,
        /// Whether it was this message that brought it.
        novelty: Novelty,
    },
    /// A line was not written and will not be.
    Unwritten {
        /// The line.
        id: String,
        /// Why.
        message: String,
    },
    /// The CLI has ended, and everything that it wrote has been sent.
    Exit {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Where what it wrote ends.
        end: u64,
    },
    /// The processes that there are: the CLI first, if it lives, then everything that it started.
    Pids {
        /// Their numbers.
        pids: Vec<u32>,
    },
    /// How things stand.
    Pong {
        /// What the CLI does.
        cli: CliState,
    },
    /// The bridge does not become the host's. Nothing follows.
    Refused {
        /// For programs.
        reason: Refusal,
        /// For people.
        message: String,
    },
    /// Another bridge has taken over. Nothing follows.
    Superseded {
        /// Which.
        owner: String,
    },
    /// The CLI could not be started. Nothing follows.
    Failed {
        /// Why.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// Something that a later version says.
    #[serde(other)]
    Unknown,
}

/// How a host stands when a bridge becomes its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hello {
    /// The version that both speak.
    pub version: u32,
    /// The id of the host.
    pub host: String,
    /// The session that it was started for.
    pub session: String,
    /// The process of the host.
    pub host_pid: u32,
    /// The process of the CLI, if it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When it was started, as who started it said.
    pub started: String,
    /// The first byte that is kept of what the CLI wrote.
    pub first: u64,
    /// The byte after the last one.
    pub next: u64,
    /// Where the stream goes on for this bridge.
    pub after: u64,
    /// How long the host waits for a bridge.
    pub lease_ms: u64,
    /// Questions that are open but were too many or too long to remember.
    #[serde(default)]
    pub forgotten: u64,
}

/// Whether a line was written for this message or for an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// For this one.
    New,
    /// For an earlier one.
    Seen,
}

/// What a CLI does, as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CliState {
    /// It runs, or waits for something.
    Running,
    /// Somebody has stopped it with a signal.
    Stopped,
    /// It has ended.
    Ended,
    /// Something that a later version tells apart.
    #[serde(other)]
    Unknown,
}

/// Why a bridge is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// It does not know the secret.
    Stranger,
    /// Another bridge is there, and its right is as good.
    Taken,
    /// A bridge with a better right has been there.
    Outdated,
    /// What it wants to read has been forgotten, or was never written.
    NoSuchOffset,
    /// The host has started something already, or nothing yet.
    NotNow,
    /// Something that a later version says.
    #[serde(other)]
    Unknown,
}

/// A message: its head, and the bytes behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<H> {
    /// What it is.
    pub head: H,
    /// What it carries.
    pub bytes: Vec<u8>,
}

impl<H> Message<H> {
    /// A message that carries nothing.
    pub fn new(head: H) -> Self {
        Message { head, bytes: Vec::new() }
    }

    /// A message that carries something.
    pub fn with(head: H, bytes: impl Into<Vec<u8>>) -> Self {
        Message { head, bytes: bytes.into() }
    }
}

impl<H: Serialize> Message<H> {
    /// As it goes over the socket.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&self.head, &self.bytes, &mut out);
        out
    }
}

/// Writes [`FromHost::Out`] behind what is there: the same as [`encode`] does, for the one message that comes with every piece of text.
pub(crate) fn encode_out(end: u64, bytes: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    let length = bytes.len();
    // Writing into memory cannot fail.
    drop(writeln!(out, "{OUT}{end}{OUT_BYTES}{length}}}"));
    out.extend_from_slice(bytes);
}

const OUT: &str = r#"{"kind":"out","end":"#;
const OUT_BYTES: &str = r#","bytes":"#;

/// What messages begin with.
pub(crate) trait Head: DeserializeOwned {
    /// The head and how many bytes follow, if it is one that comes often and is spelt as ever.
    fn read_frequent(_: &[u8]) -> Option<(Self, u64)> {
        None
    }
}

impl Head for ToHost {}

impl Head for FromHost {
    fn read_frequent(head: &[u8]) -> Option<(Self, u64)> {
        let numbers = std::str::from_utf8(head).ok()?.strip_prefix(OUT)?.strip_suffix('}')?;
        let (end, bytes) = numbers.split_once(OUT_BYTES)?;
        Some((FromHost::Out { end: end.parse().ok()? }, bytes.parse().ok()?))
    }
}

/// Writes a message behind what is there.
pub(crate) fn encode<H: Serialize>(head: &H, bytes: &[u8], out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Line<'a, H> {
        #[serde(flatten)]
        head: &'a H,
        #[serde(skip_serializing_if = "is_nothing")]
        bytes: usize,
    }
    let line = Line { head, bytes: bytes.len() };
    // Heads hold words and numbers, which can always be written.
    if serde_json::to_writer(&mut *out, &line).is_ok() {
        out.push(b'\n');
        out.extend_from_slice(bytes);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_nothing(bytes: &usize) -> bool {
    *bytes == 0
}

/// Reads messages of one side.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    from: BufReader<R>,
    head: Vec<u8>,
    bytes_max: u64,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Messages that carry up to `bytes_max`.
    pub(crate) fn new(from: R, bytes_max: u64) -> Self {
        Reader { from: BufReader::with_capacity(4 << 10, from), head: Vec::new(), bytes_max }
    }

    /// The next message; `None` when the other side has closed. It must not be dropped half-way.
    pub(crate) async fn next<H: Head>(&mut self) -> io::Result<Option<Message<H>>> {
        self.head.clear();
        let limit = HOST_HEAD_BYTES_MAX;
        let count = (&mut self.from).take(limit).read_until(b'\n', &mut self.head).await?;
        if count == 0 {
            return Ok(None);
        }
        if self.head.pop() != Some(b'\n') {
            return Err(invalid("a head without an end"));
        }
        let (head, length) = if let Some(read) = H::read_frequent(&self.head) {
            read
        } else {
            let length: Length = serde_json::from_slice(&self.head)?;
            (serde_json::from_slice(&self.head)?, length.bytes)
        };
        if length > self.bytes_max {
            return Err(invalid("more bytes than anybody sends"));
        }
        // The buffer grows with what comes, and not with what the head promises.
        let mut bytes =
            Vec::with_capacity(usize::try_from(length).unwrap_or(usize::MAX).min(HOST_PIECE_BYTES));
        (&mut self.from).take(length).read_to_end(&mut bytes).await?;
        if bytes.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Message { head, bytes }))
    }
}

#[derive(Deserialize)]
struct Length {
    #[serde(default)]
    bytes: u64,
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The secret is not shown.
impl fmt::Debug for Attach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attach")
            .field("version", &self.version)
            .field("owner", &self.owner)
            .field("fence", &self.fence)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

impl FromHost {
    pub(crate) fn exit(exit: Exit, end: u64) -> Self {
        FromHost::Exit { code: exit.code, signal: exit.signal, end }
    }
}

#[cfg(test)]
mod tests;
