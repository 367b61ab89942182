//! Every bound of this crate, with its reason.

use std::time::Duration;

/// Events that a carrier may be ahead of the reader. The reader seldom waits, so this is only slack.
pub(crate) const EVENTS_AHEAD_MAX: usize = 256;

/// Lines that wait to be written and belong to the conversation. A full lane makes the sender wait, not grow.
pub(crate) const DATA_LINES_MAX: usize = 64;

/// Lines that wait to be written and belong to the control protocol; they are written before the others.
pub(crate) const CONTROL_LINES_MAX: usize = 256;

/// How much a subscriber may be behind before it loses the oldest frames: as many frames …
pub(crate) const QUEUE_FRAMES_MAX: usize = 1 << 16;

/// … and as many bytes. One picture can be a line of several megabytes, so the number of frames alone bounds nothing.
pub(crate) const QUEUE_BYTES_MAX: usize = 64 << 20;

/// Questions of the CLI that may be open at once. A session asks for a handful; more is a runaway.
pub(crate) const ASKS_MAX: usize = 1024;

/// Answers that are remembered to tell a late one apart from an unknown one.
pub(crate) const SETTLED_MAX: usize = 1024;

/// Tool calls whose turn is remembered, so that late frames of sub-agents find it.
pub(crate) const CALLS_REMEMBERED_MAX: usize = 4096;

/// Prompts without an end. The CLI merges what waits, so this is never reached in earnest.
pub(crate) const PROMPTS_OPEN_MAX: usize = 4096;

/// Messages on their way between the CLI and a server in this process. A server that says more waits, or is not heard.
#[cfg(feature = "mcp")]
pub(crate) const MCP_MESSAGES_MAX: usize = 256;

/// Calls that were taken back before they came, of which there is at most one for each task that was overtaken.
#[cfg(feature = "mcp")]
pub(crate) const MCP_TAKEN_BACK_MAX: usize = 64;

/// The end of the error output that is kept for error messages.
pub(crate) const STDERR_TAIL_BYTES: usize = 64 << 10;

/// How much of the error output stands in the sentence of an error.
pub(crate) const STDERR_SHOWN_BYTES: usize = 2048;

/// A line of the error output that is longer is cut here.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 64 << 10;

/// How much of a line that is no frame is kept to show.
pub(crate) const NOISE_BYTES_MAX: usize = 4096;

/// Linux takes 128 KiB per argument; far less is plenty for everything that has no other way in.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 32 << 10;

/// A schema that is longer goes by the handshake; the rest of the command line needs room too.
pub(crate) const SCHEMA_ARGUMENT_BYTES_MAX: usize = 8 << 10;

/// Windows takes 32,767 characters for a whole command line, and other systems are not asked for more.
pub(crate) const COMMAND_LINE_BYTES_MAX: usize = 30_000;

/// The answer to `initialize`. Slow disks and many plugins have taken 80 seconds.
pub(crate) const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(120);

/// The answer to any other request.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a hook may take unless its matcher says otherwise: what the CLI itself waits.
pub(crate) const HOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// Our own end of a hook comes this much before the CLI's, so that it is us who say what its silence means.
pub(crate) const HOOK_MARGIN: Duration = Duration::from_millis(500);

/// How long an interrupt waits for the turn to begin: the CLI takes it for nothing before that.
pub(crate) const INTERRUPT_HOLD: Duration = Duration::from_secs(10);

/// The receipt of an interrupt is written at once, or never.
pub(crate) const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time that an interrupted turn has to stop when a session ends. The CLI needs some tenths of a second; a turn that goes on
/// after that is stopped together with its process.
pub(crate) const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// Time between the wish to end a session and the failure of the turns that are waited for. A result that is already in
/// the pipe is read in that time.
pub(crate) const RELEASE_AFTER: Duration = Duration::from_millis(20);

/// How long the CLI may take to finish after the end of its input: it still writes its session file.
pub(crate) const CLOSE_GRACE: Duration = Duration::from_secs(5);

/// How long the CLI may take after SIGTERM before it is killed. Together with the grace it stays under eleven seconds.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(5);

/// How long a killed process may take to be gone.
pub(crate) const KILL_GRACE: Duration = Duration::from_secs(1);

/// How long output is still read after the process has ended: a grandchild may hold the pipe open for ever.
pub(crate) const DRAIN: Duration = Duration::from_millis(500);

/// How long one prompt waits for background work after its result: what the official SDKs wait.
pub(crate) const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

/// How long the turn that follows on the end of background work may take to begin: it is announced in the same breath.
pub(crate) const TURN_FOLLOWS: Duration = Duration::from_millis(500);

/// How long `claude --version` may take.
pub(crate) const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long git may take to name the worktrees of a repository: what the official SDKs wait.
#[cfg(feature = "sessions")]
pub(crate) const WORKTREES_TIMEOUT: Duration = Duration::from_secs(5);

/// What is read of git's answer. Ten thousand worktrees fit in it.
#[cfg(feature = "sessions")]
pub(crate) const WORKTREES_BYTES_MAX: u64 = 4 << 20;

/// How long a pool waits before it starts another spare when one could not be started; each failure doubles it …
pub(crate) const SPARE_RETRY_MIN: Duration = Duration::from_secs(1);

/// … up to this.
pub(crate) const SPARE_RETRY_MAX: Duration = Duration::from_secs(60);

/// Pieces that follow each other faster than this are a burst: a model takes ten times as long for each.
pub(crate) const BURST_GAP: Duration = Duration::from_micros(500);

/// So many of them make one; the first of an answer are never held up.
pub(crate) const BURST_PIECES: u32 = 32;

/// How long pieces of a burst gather before they are read together. Nobody sees the difference.
pub(crate) const BURST_REST: Duration = Duration::from_millis(1);

/// The head of a message between a host and its bridge: names and numbers. Some thousand process ids are the longest.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_HEAD_BYTES_MAX: u64 = 64 << 10;

/// What one message to a host may carry: a line for the CLI, which may hold pictures, or what is to be started.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_BYTES_MAX: u64 = 64 << 20;

/// Files of a spool are about this long. They are removed as wholes, so this is what an idle host keeps on disk.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_FILE_BYTES: u64 = 1 << 20;

/// What a host keeps of the CLI's output for a bridge that is away; then it stops reading, and the CLI waits.
/// An hour of a busy session is some megabytes.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_BYTES_MAX: u64 = 64 << 20;

/// What a spool holds beside the longest line: a line that does not fit could never be sent on.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_BESIDE_A_LINE: u64 = 1 << 20;

/// What a host reads and sends at once. It is small so that a host is.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_PIECE_BYTES: usize = 16 << 10;

/// The longest line that a host looks into. A question about a file that is written whole can be long.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINE_BYTES_MAX: usize = 8 << 20;

/// Open questions that a host remembers, in bytes; in number they are bounded by [`ASKS_MAX`].
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_OPEN_BYTES_MAX: usize = 16 << 20;

/// Names of lines that a host remembers as written. A bridge repeats at most what it had under way when it died.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_IDS_MAX: usize = 4096;

/// The longest name of a line: a uuid with a word before it.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_ID_BYTES_MAX: usize = 256;

/// Lines that a host holds for a CLI that does not read; more are refused. A bridge sends one after the other.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINES_MAX: usize = 64;

/// Answers that wait for a bridge that does not read; it is cut off when there are more.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_REPLIES_MAX: usize = 1024;

/// Connections of which nobody knows yet what they want.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_STRANGERS_MAX: usize = 16;

/// How long a connection may take to say what it wants, and a host to be told what to start.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_GREETING: Duration = Duration::from_secs(10);

/// How long a host waits before it tries again to write to a disk that is full.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_RETRY: Duration = Duration::from_millis(500);

/// How long a host waits for a bridge, unless told otherwise: longer than a restart or an upgrade takes, and shorter than
/// a forgotten agent should run.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LEASE: Duration = Duration::from_secs(600);

/// The record of a host, and the word on how its CLI ended.
#[cfg(all(unix, feature = "host"))]
pub(crate) const RECORD_BYTES_MAX: u64 = 64 << 10;

/// Lines on their way to a CLI that its host has not confirmed; a half of what it holds.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINES_AHEAD: usize = HOST_LINES_MAX / 2;

/// A longer line goes alone, so that a host never has to hold more than it can.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LONG_LINE_BYTES: usize = 1 << 20;

/// How long a host may take to answer. It starts a process at most.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_ANSWER: Duration = Duration::from_secs(30);
