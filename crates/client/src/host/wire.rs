//! The protocol between a host and those that connect to it: a bridge, or the viewers of a terminal.
//!
//! Each message is one line of JSON, the head, followed by as many bytes as the head's `bytes` says, if it
//! has that key. Output of the CLI is always in those bytes, and is passed unchanged. `kind` names the
//! message. Unknown kinds are skipped and unknown keys ignored: so a bridge of a newer version works with
//! hosts of an older one, and the other way round. The meaning of a message never changes; a new meaning gets
//! a new kind. Version 2 adds those of terminals.

mod terminal;

use std::fmt;
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

pub use self::terminal::{TerminalRole, TerminalSize, TypingOutcome, View};
use crate::limits::{HOST_HEAD_BYTES_MAX, HOST_READ_BYTES};
use crate::transport::Exit;

/// The protocol version of this crate.
pub const VERSION: u32 = 2;

/// A message of a bridge or a viewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToHost {
    /// The launch request; the bytes are a [`Start`](super::Start) as JSON. Sent once, by the bridge that
    /// started the host.
    Start,
    /// Claims this host for a bridge.
    Attach(Attach),
    /// A line for the CLI, without its line break, in the bytes.
    In {
        /// The id of the line: a second one with the same id is not written.
        id: String,
    },
    /// All output up to here is stored and may be removed.
    Ack {
        /// An offset in the CLI's output.
        offset: u64,
    },
    /// Ends the CLI's input after the lines so far.
    EndInput,
    /// Sends SIGTERM to the CLI.
    Terminate,
    /// Kills the CLI and everything that it started.
    Kill,
    /// Requests the process ids.
    Pids,
    /// Requests the state of the CLI.
    Ping,
    /// Releases the host: it stops everything and removes its folder.
    Bye,
    /// Opens the terminal of this host for a viewer.
    View(View),
    /// Keys for the terminal, in the bytes.
    Keys,
    /// The viewer has this size now; without one it shows whatever there is.
    Resize {
        /// The size.
        size: Option<TerminalSize>,
    },
    /// A prompt to type, once, in the bytes.
    Prompt,
    /// Types Esc, if the input line is on the screen.
    Interrupt,
    /// The viewer is back from its own suspension: the program continues.
    Continue,
    /// A message of a later version.
    #[serde(other)]
    Unknown,
}

/// A bridge's claim to a host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The highest version that the bridge supports.
    pub version: u32,
    /// The secret of the host's record.
    pub secret: String,
    /// The name of the bridge.
    pub owner: String,
    /// The fencing number of the claim: a higher one displaces a lower one.
    pub fence: u64,
    /// The offset at which to continue reading; absent for the first byte that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The new lease; absent to leave it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
}

/// A message of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromHost {
    /// The bridge is admitted. The state of the conversation follows, then [`FromHost::Ready`].
    Hello(Hello),
    /// The CLI's reply to the handshake, in the bytes.
    Initialize,
    /// The last `system/init` frame, in the bytes.
    Init,
    /// An open request of the CLI, in the bytes.
    Open {
        /// The offset at which its line ends in the CLI's output.
        end: u64,
    },
    /// The state is complete; the stream begins.
    Ready,
    /// Bytes that draw the whole screen of the terminal anew, in the bytes.
    Screen,
    /// The terminal has this size now.
    Size(TerminalSize),
    /// The result of a prompt or an interrupt.
    Typed {
        /// The result.
        outcome: TypingOutcome,
    },
    /// The program in the terminal has suspended itself.
    Suspended,
    /// Output of the CLI, in the bytes. It is split anywhere, not only at line breaks.
    Out {
        /// The offset at which the bytes end in the CLI's output.
        end: u64,
    },
    /// A line of the CLI's stderr, in the bytes.
    Stderr,
    /// A line was written to the CLI, or is queued until the CLI reads.
    Wrote {
        /// The id of the line.
        id: String,
        /// Distinguishes this message's line from a repeated one.
        novelty: Novelty,
    },
    /// A line was not written and will not be.
    Unwritten {
        /// The id of the line.
        id: String,
        /// The reason.
        message: String,
    },
    /// The CLI has ended, and all its output has been sent.
    Exit {
        /// The exit code, unless a signal ended the process.
        code: Option<i32>,
        /// The signal that ended the process.
        signal: Option<i32>,
        /// The offset at which its output ends.
        end: u64,
    },
    /// The process ids: the CLI first, if it lives, then everything that it started.
    Pids {
        /// The ids.
        pids: Vec<u32>,
    },
    /// The state of the CLI.
    Pong {
        /// The state.
        cli: CliState,
    },
    /// The bridge is not admitted. This is the last message.
    Refused {
        /// The reason, for programs.
        reason: Refusal,
        /// The reason, as text.
        message: String,
    },
    /// Another bridge has taken over. This is the last message.
    Superseded {
        /// The name of that bridge.
        owner: String,
    },
    /// The CLI could not be started. This is the last message.
    Failed {
        /// The reason.
        message: String,
        /// Advice on how to fix it.
        hint: String,
        /// The kind of failure. Hosts of earlier versions send none.
        #[serde(default, skip_serializing_if = "StartFailure::is_spawn")]
        cause: StartFailure,
    },
    /// A message of a later version.
    #[serde(other)]
    Unknown,
}

/// The kind of failure of a launch request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StartFailure {
    /// Another process writes the session.
    Taken,
    /// The program does not start, or a kind of a later version.
    #[default]
    #[serde(other)]
    Spawn,
}

impl StartFailure {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_spawn(&self) -> bool {
        *self == StartFailure::Spawn
    }
}

/// The state of a host when it admits a bridge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hello {
    /// The version that both support.
    pub version: u32,
    /// The id of the host.
    pub host: String,
    /// The session that it was started for.
    pub session: String,
    /// The process id of the host.
    pub host_pid: u32,
    /// The process id of the CLI, if it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The time of its start, as in its record.
    pub started: String,
    /// The first offset that is kept of the CLI's output.
    pub first: u64,
    /// The offset after the last byte.
    pub next: u64,
    /// The offset at which the stream continues for this bridge.
    pub after: u64,
    /// The time that the host waits for a bridge.
    pub lease_ms: u64,
    /// The number of open requests that were too many or too long to keep.
    #[serde(default)]
    pub forgotten: u64,
}

/// Distinguishes a new line from a repeated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// The line was written for this message.
    New,
    /// The line was written for an earlier message.
    Seen,
}

/// The state of the CLI's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CliState {
    /// It runs, or waits for something.
    Running,
    /// It is stopped by a signal.
    Stopped,
    /// It has ended.
    Ended,
    /// A state of a later version.
    #[serde(other)]
    Unknown,
}

/// The reason why a bridge is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The secret is wrong.
    Stranger,
    /// Another bridge is connected, with the same fence.
    Taken,
    /// A bridge with a higher fence has been connected before.
    Outdated,
    /// The requested offset was removed, or never written.
    NoSuchOffset,
    /// An agent was already started, or none was started yet.
    NotNow,
    /// A reason of a later version.
    #[serde(other)]
    Unknown,
}

/// A message: its head, and the bytes after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<H> {
    /// The head.
    pub head: H,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl<H> Message<H> {
    /// A message without bytes.
    pub fn new(head: H) -> Self {
        Message { head, bytes: Vec::new() }
    }

    /// A message with bytes.
    pub fn with(head: H, bytes: impl Into<Vec<u8>>) -> Self {
        Message { head, bytes: bytes.into() }
    }
}

impl<H: Serialize> Message<H> {
    /// The encoded message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&self.head, &self.bytes, &mut out);
        out
    }
}

/// Appends a [`FromHost::Out`] message, as [`encode`] does, but faster: it is sent with every delta.
pub(crate) fn encode_out(end: u64, bytes: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    let length = bytes.len();
    // Writing into memory cannot fail.
    drop(writeln!(out, "{OUT}{end},{OUT_BYTES}{length}}}"));
    out.extend_from_slice(bytes);
}

const OUT: &str = r#"{"kind":"out","end":"#;
const OUT_BYTES: &str = r#""bytes":"#;

/// The head of a message.
pub(crate) trait Head: DeserializeOwned {
    /// Fast path: the head and the number of bytes that follow, if it is a frequent one in our own spelling.
    fn read_frequent(_: &[u8]) -> Option<(Self, u64)> {
        None
    }
}

impl Head for ToHost {}

impl Head for FromHost {
    fn read_frequent(head: &[u8]) -> Option<(Self, u64)> {
        let numbers = std::str::from_utf8(head).ok()?.strip_prefix(OUT)?.strip_suffix('}')?;
        let (end, bytes) = numbers.split_once(',')?;
        let bytes = bytes.strip_prefix(OUT_BYTES)?;
        Some((FromHost::Out { end: end.parse().ok()? }, bytes.parse().ok()?))
    }
}

/// Appends an encoded message.
pub(crate) fn encode<H: Serialize>(head: &H, bytes: &[u8], out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Line<'a, H> {
        #[serde(flatten)]
        head: &'a H,
        #[serde(skip_serializing_if = "is_nothing")]
        bytes: usize,
    }
    let line = Line { head, bytes: bytes.len() };
    // Heads contain text and numbers, which can always be serialized.
    if serde_json::to_writer(&mut *out, &line).is_ok() {
        out.push(b'\n');
        out.extend_from_slice(bytes);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_nothing(bytes: &usize) -> bool {
    *bytes == 0
}

/// Reads the messages of one side.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    from: BufReader<R>,
    head: Vec<u8>,
    bytes_max: u64,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Creates a reader of messages with up to `bytes_max` bytes.
    pub(crate) fn new(from: R, bytes_max: u64) -> Self {
        Reader { from: BufReader::with_capacity(4 << 10, from), head: Vec::new(), bytes_max }
    }

    /// The next message; `None` when the other side has closed. The future must not be dropped before it
    /// completes.
    pub(crate) async fn next<H: Head>(&mut self) -> io::Result<Option<Message<H>>> {
        self.head.clear();
        let limit = HOST_HEAD_BYTES_MAX;
        let count = (&mut self.from).take(limit).read_until(b'\n', &mut self.head).await?;
        if count == 0 {
            return Ok(None);
        }
        if self.head.pop() != Some(b'\n') {
            return Err(invalid("a head without a line break"));
        }
        let (head, length) = if let Some(read) = H::read_frequent(&self.head) {
            read
        } else {
            let length: Length = serde_json::from_slice(&self.head)?;
            (serde_json::from_slice(&self.head)?, length.bytes)
        };
        if length > self.bytes_max {
            return Err(invalid("more bytes than a message may have"));
        }
        // The buffer grows with the received bytes, and not with the length in the head.
        let mut bytes =
            Vec::with_capacity(usize::try_from(length).unwrap_or(usize::MAX).min(HOST_READ_BYTES));
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

/// Omits the secret.
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
