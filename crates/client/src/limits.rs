//! All limits of this crate, with their reasons.

use std::time::Duration;

/// Events that a transport may be ahead of the reader. The reader seldom waits, so this is only slack.
pub(crate) const EVENTS_AHEAD_MAX: usize = 256;

/// Queued lines of the conversation. When the queue is full, the sender waits.
pub(crate) const DATA_LINES_MAX: usize = 64;

/// Queued lines of the control protocol; they are written before lines of the conversation.
pub(crate) const CONTROL_LINES_MAX: usize = 256;

/// Frames that a subscriber may be behind before it loses the oldest.
pub(crate) const QUEUE_FRAMES_MAX: usize = 1 << 16;

/// Bytes that a subscriber may be behind before it loses the oldest frames. One image can be a line of
/// several megabytes, so the number of frames alone bounds nothing.
pub(crate) const QUEUE_BYTES_MAX: usize = 64 << 20;

/// Open control requests of the CLI. A session opens a handful; more is a runaway.
pub(crate) const CLI_REQUESTS_MAX: usize = 1024;

/// Settled requests that are remembered, to tell a late answer from an answer to an unknown request.
pub(crate) const SETTLED_MAX: usize = 1024;

/// Tool calls whose turn is remembered, so that late frames of sub-agents are assigned to it.
pub(crate) const CALLS_REMEMBERED_MAX: usize = 4096;

/// Open prompts. The CLI merges queued prompts, so this is not reached in practice.
pub(crate) const PROMPTS_OPEN_MAX: usize = 4096;

/// Queued messages between the CLI and a server in this process. When the queue is full, a server waits, or
/// its message is dropped.
#[cfg(feature = "mcp")]
pub(crate) const MCP_MESSAGES_MAX: usize = 256;

/// Cancellations that arrive before their call; there is at most one per overtaken task.
#[cfg(feature = "mcp")]
pub(crate) const MCP_CANCELLED_MAX: usize = 64;

/// The last part of stderr that is kept for error messages, in bytes.
pub(crate) const STDERR_TAIL_BYTES: usize = 64 << 10;

/// The part of stderr that is quoted in an error message, in bytes.
pub(crate) const STDERR_SHOWN_BYTES: usize = 2048;

/// Longer lines of stderr are truncated to this many bytes.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 64 << 10;

/// The part of a non-JSON line that is kept, in bytes.
pub(crate) const NOISE_BYTES_MAX: usize = 4096;

/// The longest argument. Linux allows 128 KiB per argument; much less suffices for everything that can only
/// be passed as an argument.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 32 << 10;

/// Longer schemas are sent in the handshake, to leave room for the rest of the command line.
pub(crate) const SCHEMA_ARGUMENT_BYTES_MAX: usize = 8 << 10;

/// The longest command line. Windows allows 32,767 characters; the same limit holds on all systems.
pub(crate) const COMMAND_LINE_BYTES_MAX: usize = 30_000;

/// Timeout of `initialize`. Slow disks and many plugins have taken 80 seconds.
pub(crate) const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(120);

/// Longest time until a deadline: a longer one cannot be added to the current time.
pub(crate) const DEADLINE_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// Timeout of any other control request.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of a hook unless its matcher sets one; the same as the CLI's own.
pub(crate) const HOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// Our timeout of a hook expires this much before the CLI's, so that our answer counts.
pub(crate) const HOOK_MARGIN: Duration = Duration::from_millis(500);

/// Longest wait of an interrupt for the turn to begin: the CLI ignores an interrupt before that.
pub(crate) const INTERRUPT_HOLD: Duration = Duration::from_secs(10);

/// Timeout of an interrupt request. The CLI confirms it at once, or never.
pub(crate) const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for an interrupted turn to stop when a session closes. The CLI needs some tenths of a second; a turn
/// that still runs after that is stopped together with its process.
pub(crate) const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// Delay between closing a session and failing the turns that are awaited. A result that is already in the
/// pipe is read in that time.
pub(crate) const RELEASE_AFTER: Duration = Duration::from_millis(20);

/// Time for the CLI to finish after the end of its input: it still writes its session file.
pub(crate) const CLOSE_GRACE: Duration = Duration::from_secs(5);

/// Time for the CLI to exit after SIGTERM before it is killed. Together with the close grace this stays under
/// eleven seconds.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(5);

/// Time for a killed process to disappear.
pub(crate) const KILL_GRACE: Duration = Duration::from_secs(1);

/// Time to read remaining output after the process has exited: a grandchild may hold the pipe open for ever.
pub(crate) const DRAIN: Duration = Duration::from_millis(500);

/// Longest wait of a single prompt for background work after its result; the same as in the official SDKs.
pub(crate) const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

/// Longest wait for the turn that follows the end of background work: the CLI announces both together.
pub(crate) const TURN_FOLLOWS: Duration = Duration::from_millis(500);

/// Time for a host to send the next prompt of a recording while a turn runs: such prompts were queued, and a
/// host that queues prompts sends them together.
pub(crate) const REPLAY_PATIENCE: Duration = Duration::from_secs(5);

/// Timeout of `claude --version`.
pub(crate) const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of git when it lists the worktrees of a repository; the same as in the official SDKs.
#[cfg(feature = "sessions")]
pub(crate) const WORKTREES_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes read of git's output. Ten thousand worktrees fit in it.
#[cfg(feature = "sessions")]
pub(crate) const WORKTREES_BYTES_MAX: u64 = 4 << 20;

/// First delay of a pool after a spare failed to start; it doubles with each failure.
pub(crate) const SPARE_RETRY_MIN: Duration = Duration::from_secs(1);

/// Longest delay of a pool between attempts to start a spare.
pub(crate) const SPARE_RETRY_MAX: Duration = Duration::from_secs(60);

/// Deltas that arrive faster than this are a burst: a model takes ten times as long for each.
pub(crate) const BURST_GAP: Duration = Duration::from_micros(500);

/// Number of fast deltas that make a burst; the first deltas of an answer are never delayed.
pub(crate) const BURST_DELTAS: u32 = 32;

/// Time that the deltas of a burst are collected before they are read together; too short for a user to
/// notice.
pub(crate) const BURST_REST: Duration = Duration::from_millis(1);

/// The longest header of a message between a host and its bridge. Lists of some thousand process ids are the
/// longest.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_HEAD_BYTES_MAX: u64 = 64 << 10;

/// The longest message to a host: a line for the CLI, which may contain images, or a launch request.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_BYTES_MAX: u64 = 64 << 20;

/// Approximate length of a spool file. Files are removed as wholes, so this is what an idle host keeps on
/// disk.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_FILE_BYTES: u64 = 1 << 20;

/// Output of the CLI that a host keeps for a disconnected bridge; then it stops reading, and the CLI blocks.
/// An hour of a busy session is some megabytes.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_BYTES_MAX: u64 = 64 << 20;

/// Room in a spool in addition to the longest line: a line that does not fit could never be sent.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_SLACK_BYTES: u64 = 1 << 20;

/// Bytes that a host reads and sends at once. The buffer is small to keep the memory of a host small.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_READ_BYTES: usize = 16 << 10;

/// The longest line that a host inspects. A permission request for a written file can be long.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINE_BYTES_MAX: usize = 8 << 20;

/// Bytes of open requests that a host remembers; their number is bounded by [`CLI_REQUESTS_MAX`].
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_OPEN_BYTES_MAX: usize = 16 << 20;

/// Ids of written lines that a host remembers. A bridge repeats at most the lines that were unconfirmed when
/// it died.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_IDS_MAX: usize = 4096;

/// The longest id of a line: a UUID with a prefix.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_ID_BYTES_MAX: usize = 256;

/// Lines that a host queues for a CLI that does not read; more are refused. A bridge sends them in order.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINES_MAX: usize = 64;

/// Replies queued for a bridge that does not read; with more, its connection is closed.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_REPLIES_MAX: usize = 1024;

/// Connections that have not yet sent a greeting.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_GREETINGS_MAX: usize = 16;

/// Time for a connection to send its greeting, and for a new host to receive its launch request.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_GREETING: Duration = Duration::from_secs(10);

/// Delay before a host retries a write to a full disk.
#[cfg(all(unix, feature = "host"))]
pub(crate) const SPOOL_RETRY: Duration = Duration::from_millis(500);

/// Default time that a host waits for a bridge: longer than a restart or an upgrade takes, and shorter than a
/// forgotten agent should run.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LEASE: Duration = Duration::from_secs(600);

/// The longest record of a host, an exit or the holder of a session.
pub(crate) const RECORD_BYTES_MAX: u64 = 64 << 10;

/// Unconfirmed lines on their way to a host; half of its queue.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LINES_AHEAD: usize = HOST_LINES_MAX / 2;

/// Longer lines are sent alone, so that they fit into the host's memory limit.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_LONG_LINE_BYTES: usize = 1 << 20;

/// Time for the agent of a filter to exit after it, before it is killed: its input has ended, and it may have
/// files to write. Shorter than the time for the CLI after SIGTERM, since the filter gets that.
#[cfg(all(unix, feature = "host"))]
pub(crate) const FILTERED_EXIT: Duration = Duration::from_secs(2);

/// Timeout of a host's reply. The slowest operation is starting a process.
#[cfg(all(unix, feature = "host"))]
pub(crate) const HOST_ANSWER: Duration = Duration::from_secs(30);

/// Connections to a terminal at a time; more wait.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const VIEWERS_MAX: usize = 64;

/// Time between two looks for the description of a process.
#[cfg(all(unix, feature = "terminal", feature = "sessions"))]
pub(crate) const DESCRIBED_LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes of an escape sequence that the host of a terminal waits for.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const TERMINAL_SEQUENCE_BYTES_MAX: usize = 4096;

/// Pieces of output, each of at most [`CHUNK_BYTES`], that a viewer may be behind before it skips some.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const TERMINAL_OUTPUTS_WAITING: usize = 64;

/// Pieces of input that wait for the program in a terminal.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const TERMINAL_KEYS_WAITING: usize = 64;

/// Bytes of output that are read at once.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

/// Time after keys in which no prompt is typed: the screen may not show them yet.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const TYPING_PAUSE: Duration = Duration::from_millis(700);

/// Time for a viewer to take a message.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const VIEWER_WRITE_WAIT: Duration = Duration::from_secs(30);

/// Time for the viewers to read the exit status.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const LAST_VIEWERS_WAIT: Duration = Duration::from_secs(2);

/// Time between the hangup of a terminal and the end by force.
#[cfg(all(unix, feature = "terminal"))]
pub(crate) const HANGUP_GRACE: Duration = Duration::from_secs(5);

/// Time for an agent to end whose starter was killed, before its session counts as in use. An agent that gets
/// SIGTERM ends within a second.
pub(crate) const DYING_AGENT_WAIT: Duration = Duration::from_secs(5);

/// Time for a process that has just locked a session to describe itself.
pub(crate) const LOCK_RECORD_WAIT: Duration = Duration::from_millis(200);

/// Time between two looks at the lock of a session.
pub(crate) const LOCK_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Time for one call to a session store. Databases answer in milliseconds, object storage in seconds.
#[cfg(feature = "sessions")]
pub(crate) const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// Sessions of a store that are loaded at the same time for a list: as many connections as a database gives a
/// client.
#[cfg(feature = "sessions")]
pub(crate) const STORE_LOADS_MAX: usize = 16;

/// Pauses before an append to a session store is tried again; the same as in the official SDKs.
#[cfg(feature = "sessions")]
pub(crate) const STORE_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Entries that are appended to a session store at once; the same as in the official SDKs.
#[cfg(feature = "sessions")]
pub(crate) const STORE_ENTRIES_MAX: usize = 500;
