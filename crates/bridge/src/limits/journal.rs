//! Limits of the journal, and of events on their way to subscribers.

use std::time::Duration;

/// The longest body of one event. The CLI's own lines may have 64 MiB, and an event wraps one of them.
pub(crate) const BODY_BYTES_MAX: usize = 65 << 20;

/// Labels of one session. They are for telling sessions apart, not for storing things.
pub(crate) const LABELS_MAX: usize = 64;

/// CLI sessions that one session went through. Each fork and each `/clear` adds one.
pub(crate) const CLI_SESSIONS_MAX: usize = 10_000;

/// Events in one append. A host that comes back with more sends several.
pub(crate) const DRAFTS_MAX: usize = 4096;

/// Bits of an event's row number that are its sequence number; the rest is the session's handle.
/// A session of a thousand deltas per second fills them in 34 years, and eight million sessions fit above
/// them.
pub(crate) const SEQ_BITS: u32 = 40;

/// The highest sequence number.
pub(crate) const SEQ_MAX: u64 = (1 << SEQ_BITS) - 1;

/// The highest handle: the remaining bits of a signed 64-bit number.
pub(crate) const HANDLE_MAX: u64 = (1 << (63 - SEQ_BITS)) - 1;

/// Ended epochs that are remembered for each session. One is added by each loss of power, and a client that
/// was away for sixteen of them starts again.
pub(crate) const PAST_EPOCHS_MAX: usize = 16;

/// Time for which the id of a command is remembered after its event was removed. No client retries for longer
/// than a day.
pub(crate) const CLIENT_ID_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Asks that may be open in one session; the registries of `tidings-agent` allow as many.
pub(crate) const OPEN_ASKS_MAX: usize = 4096;

/// Projects of one journal. Each is a folder that a user chose.
pub(crate) const PROJECTS_MAX: usize = 10_000;

/// Calls that wait for the writer of a journal. When the queue is full, callers wait, and with them the CLI
/// behind them.
pub(crate) const WRITER_QUEUE_MAX: usize = 1024;

/// Bytes that wait for the writer, counted in [`WRITER_ROOM_UNIT`]s. It must hold one event of the longest
/// kind.
pub(crate) const WRITER_ROOM_BYTES_MAX: usize = 128 << 20;

/// The grain in which waiting bytes are counted: a semaphore's permits are 32-bit, and a small call costs one
/// of them.
pub(crate) const WRITER_ROOM_UNIT: usize = 1 << 10;

/// Calls that are committed together. More would only delay the first of them.
pub(crate) const COMMIT_CALLS_MAX: usize = 256;

/// Bytes that are committed together, for the same reason.
pub(crate) const COMMIT_BYTES_MAX: usize = 4 << 20;

/// The longest call that is stored on the caller's thread: a few pages of a file, which the kernel takes in
/// microseconds.
pub(crate) const DELTA_BYTES_MAX: usize = 16 << 10;

/// Deltas that wait for the tables, which take them in one transaction. With this many the transaction costs
/// each delta next to nothing; with more the last of them would wait noticeably.
pub(crate) const DELTAS_MAX: usize = 64;

/// Bytes of deltas that wait, for the same reason.
pub(crate) const DELTAS_BYTES_MAX: usize = 64 << 10;

/// Deltas that wait while the tables have no room for them; past it appends fail.
pub(crate) const DELTAS_STUCK_MAX: usize = 4 * DELTAS_MAX;

/// The length of the delta log: all deltas that can wait, with their framing.
pub(crate) const DELTA_LOG_BYTES_MAX: u64 = 8 << 20;

/// Connections that read at the same time. Two cores are the common machine, and pages are short.
pub(crate) const READERS_MAX: usize = 4;

/// Prepared statements that a connection keeps; there are about forty different ones.
pub(crate) const STATEMENTS_MAX: usize = 64;

/// Bytes written after which the log is copied into the main file. Below it copying costs more than it saves;
/// above it reads get slower, since readers search the log first.
pub(crate) const CHECKPOINT_BYTES: usize = 16 << 20;

/// The length of the log at which writers wait until all of it is copied, so that it begins anew.
pub(crate) const WAL_BYTES_MAX: u64 = 64 << 20;

/// Approximate bytes that a call adds to the log besides its own: the log holds whole pages, and even a short
/// event touches its own page and that of its session.
pub(crate) const CALL_LOG_BYTES: usize = 8 << 10;

/// The length to which a longer log file is truncated: a long reader or a backup lets it grow.
pub(crate) const WAL_KEPT_BYTES: i64 = 32 << 20;

/// Time that a connection waits for another one of the same process. Only a checkpoint ever makes it wait.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(5);

/// The largest file of a journal, unless the configuration says otherwise. The journal works at this size,
/// and a server must not fill a disk by itself.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 64 << 30;

/// Time after which the log is copied into the main file while calls go on: until then the log is the only
/// copy of what it has.
pub(crate) const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// Time without calls after which the log is copied and emptied.
pub(crate) const CHECKPOINT_IDLE: Duration = Duration::from_secs(1);

/// The longest log that is read to repair a journal: one that no checkpoint could empty.
pub(crate) const WAL_READ_BYTES_MAX: u64 = 1 << 30;

/// The largest journal whose pages are searched for lost rows, since they are in memory then.
pub(crate) const SALVAGED_BYTES_MAX: u64 = 4 << 30;

/// The largest journal whose events are all compared with its heads at the start; of a larger one the ends
/// of each session are. Its events are read once after the start.
pub(crate) const EXAMINED_BYTES_MAX: u64 = 32 << 20;

/// The longest file of heads: eight million sessions do not fit, a million does.
pub(crate) const HEADS_BYTES_MAX: u64 = 1 << 30;

/// Growth of the file of heads after which it is written anew: some thousand commits.
pub(crate) const HEADS_GROWTH_BYTES: u64 = 1 << 20;

/// Losses that are listed; a report with more is not read.
pub(crate) const LOSSES_MAX: usize = 1000;

/// Events that one step of retention removes, so that appends do not wait behind it.
pub(crate) const RETAIN_STEP: usize = 2000;

/// Database pages that a backup copies between two progress reports: four mebibytes.
pub(crate) const BACKUP_PAGES: i32 = 1024;

/// Pages of the file that are given back after retention, for the same reason as [`RETAIN_STEP`].
pub(crate) const VACUUM_PAGES: usize = 512;

/// Bytes that a journal in memory may hold. It is for demos and tests.
pub(crate) const MEMORY_BYTES_MAX: usize = 256 << 20;

/// Memory for the newest events that the broadcast keeps for each session with subscribers. All subscribers
/// share it; those further behind read from the journal.
pub(crate) const TAIL_BYTES_MAX: usize = 512 << 10;

/// The same for all sessions together, who share it evenly: hundreds of sessions with subscribers would
/// otherwise take more memory than the rest of the server.
pub(crate) const TAILS_BYTES_MAX: usize = 16 << 20;

/// The same for each session, however many there are: a second of deltas.
pub(crate) const TAIL_BYTES_MIN: usize = 32 << 10;

/// Memory that an event takes besides its body, which is held a second time as it is sent.
pub(crate) const TAIL_EVENT_BYTES: usize = 512;

/// The same in events, since an event costs memory even if its body is empty.
pub(crate) const TAIL_EVENTS_MAX: usize = 2048;

/// Bytes that may be published while a subscriber takes nothing, unless it sets its own limit. A phone that
/// changes its network is away for seconds; one that is away for longer does better to resume from its
/// cursor.
pub(crate) const WATCHER_BYTES_UNTAKEN: u64 = 4 << 20;

/// Bytes that a subscriber takes from the broadcast or the journal at once. A stuck subscriber holds this
/// much; there may be a thousand of them.
pub(crate) const PORTION_BYTES_MAX: usize = 64 << 10;

/// The same in events, so that the lock of the broadcast is never held for long.
pub(crate) const PORTION_EVENTS_MAX: usize = 128;

/// Events that the inbox may be behind before it reads the journal instead.
pub(crate) const INBOX_BEHIND_MAX: usize = 1024;

/// Damaged events that a journal remembers. A higher number is reported as this one.
pub(crate) const DAMAGED_EVENTS_MAX: usize = 10_000;
