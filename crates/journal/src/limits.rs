//! Limits of the journal, and of events on their way to subscribers, each with its reason.

use std::time::Duration;

/// The longest name: a session's key, an event's kind, the id of a client's command or of an ask. The longest
/// names in use are UUIDs with a prefix.
pub const NAME_BYTES_MAX: usize = 200;

/// The longest text about a session or a decision: a folder, a title, a state, a rule. Longer than any path
/// may be.
pub const TEXT_BYTES_MAX: usize = 8 << 10;

/// A document, and the body of one ask. A tool input is rarely longer; a longer one goes
/// into the event, and the ask refers to it.
pub const BLOB_BYTES_MAX: usize = 4 << 20;

/// Events in one page, whatever the caller requests.
pub const PAGE_EVENTS_MAX: usize = 4096;

/// Bytes in one page, whatever the caller requests; a single event that is longer is a page of its own.
pub const PAGE_BYTES_MAX: usize = 4 << 20;

/// Sessions, asks, projects or audit entries in one list.
pub const LIST_MAX: usize = 1000;

/// The longest file that is read; a thousand devices need less.
pub const PRIVATE_FILE_BYTES_MAX: u64 = 4 << 20;

/// The length from which on an event is written in parts and held once for all subscribers. A client that
/// reads nothing holds about as much.
pub const LONG_EVENT_BYTES: usize = 64 << 10;

/// The longest body of one event. The CLI's own lines may have 64 MiB, and an event wraps one of them.
pub const BODY_BYTES_MAX: usize = 65 << 20;

/// Labels of one session. They are for telling sessions apart, not for storing things.
pub const LABELS_MAX: usize = 64;

/// CLI sessions that one session went through. Each fork and each `/clear` adds one.
pub const CLI_SESSIONS_MAX: usize = 10_000;

/// Events in one append. A host that comes back with more sends several.
pub const DRAFTS_MAX: usize = 4096;

/// Bits of an event's row number that are its sequence number; the rest is the session's handle.
/// A session of a thousand deltas per second fills them in 34 years, and eight million sessions fit above
/// them.
pub const SEQ_BITS: u32 = 40;

/// The highest sequence number.
pub const SEQ_MAX: u64 = (1 << SEQ_BITS) - 1;

/// The highest handle: the remaining bits of a signed 64-bit number.
pub const HANDLE_MAX: u64 = (1 << (63 - SEQ_BITS)) - 1;

/// Ended epochs that are remembered for each session. One is added by each loss of power, and a client that
/// was away for sixteen of them starts again.
pub const PAST_EPOCHS_MAX: usize = 16;

/// Time for which the id of a command is remembered after its event was removed. No client retries for longer
/// than a day.
pub const CLIENT_ID_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Asks that may be open in one session; the registries of `tidings-agent` allow as many.
pub const OPEN_ASKS_MAX: usize = 4096;

/// Projects of one journal. Each is a folder that a user chose.
pub const PROJECTS_MAX: usize = 10_000;

/// Calls that wait for the writer of a journal. When the queue is full, callers wait, and with them the CLI
/// behind them.
pub const WRITER_QUEUE_MAX: usize = 1024;

/// Bytes that wait for the writer, counted in [`WRITER_ROOM_UNIT`]s. It must hold one event of the longest
/// kind.
pub const WRITER_ROOM_BYTES_MAX: usize = 128 << 20;

/// The grain in which waiting bytes are counted: a semaphore's permits are 32-bit, and a small call costs one
/// of them.
pub const WRITER_ROOM_UNIT: usize = 1 << 10;

/// Calls that are committed together. More would only delay the first of them.
pub const COMMIT_CALLS_MAX: usize = 256;

/// Bytes that are committed together, for the same reason.
pub const COMMIT_BYTES_MAX: usize = 4 << 20;

/// The longest call that is stored on the caller's thread: a few pages of a file, which the kernel takes in
/// microseconds.
pub const DELTA_BYTES_MAX: usize = 16 << 10;

/// Deltas that wait for the tables, which take them in one transaction. With this many the transaction costs
/// each delta next to nothing; with more the last of them would wait noticeably.
pub const DELTAS_MAX: usize = 64;

/// Bytes of deltas that wait, for the same reason.
pub const DELTAS_BYTES_MAX: usize = 64 << 10;

/// Deltas that wait while the tables have no room for them; past it appends fail.
pub const DELTAS_STUCK_MAX: usize = 4 * DELTAS_MAX;

/// The length of the delta log: all deltas that can wait, with their framing.
pub const DELTA_LOG_BYTES_MAX: u64 = 8 << 20;

/// Connections that read at the same time. Two cores are the common machine, and pages are short.
pub const READERS_MAX: usize = 4;

/// Prepared statements that a connection keeps; there are about forty different ones.
pub const STATEMENTS_MAX: usize = 64;

/// above it reads get slower, since readers search the log first.
pub const CHECKPOINT_BYTES: usize = 16 << 20;

/// The length of the log at which writers wait until all of it is copied, so that it begins anew.
pub const WAL_BYTES_MAX: u64 = 64 << 20;

/// Approximate bytes that a call adds to the log besides its own: the log holds whole pages, and even a short
/// event touches its own page and that of its session.
pub const CALL_LOG_BYTES: usize = 8 << 10;

/// The length to which a longer log file is truncated: a long reader or a backup lets it grow.
pub const WAL_KEPT_BYTES: i64 = 32 << 20;

/// Time that a connection waits for another one of the same process. Only a checkpoint ever makes it wait.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// The largest file of a journal, unless the configuration says otherwise. The journal works at this size,
/// and a server must not fill a disk by itself.
pub const JOURNAL_BYTES_MAX: u64 = 64 << 30;

/// Time after which the log is copied into the main file while calls go on: until then the log is the only
/// copy of what it has.
pub const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// Time without calls after which the log is copied and emptied.
pub const CHECKPOINT_IDLE: Duration = Duration::from_secs(1);

/// The longest log that is read to repair a journal: one that no checkpoint could empty.
pub const WAL_READ_BYTES_MAX: u64 = 1 << 30;

/// The largest journal whose pages are searched for lost rows, since they are in memory then.
pub const SALVAGED_BYTES_MAX: u64 = 4 << 30;

/// The largest journal whose events are all compared with its heads at the start; of a larger one the ends
/// of each session are. Its events are read once after the start.
pub const EXAMINED_BYTES_MAX: u64 = 32 << 20;

/// The longest file of heads: eight million sessions do not fit, a million does.
pub const HEADS_BYTES_MAX: u64 = 1 << 30;

/// Growth of the file of heads after which it is written anew: some thousand commits.
pub const HEADS_GROWTH_BYTES: u64 = 1 << 20;

/// Losses that are listed; a report with more is not read.
pub const LOSSES_MAX: usize = 1000;

/// Events that one step of retention removes, so that appends do not wait behind it.
pub const RETAIN_STEP: usize = 2000;

/// Database pages that a backup copies between two progress reports: four mebibytes.
pub const BACKUP_PAGES: i32 = 1024;

/// Pages of the file that are given back after retention, for the same reason as [`RETAIN_STEP`].
pub const VACUUM_PAGES: usize = 512;

/// Bytes that a journal in memory may hold. It is for demos and tests.
pub const MEMORY_BYTES_MAX: usize = 256 << 20;

/// Memory for the newest events that the broadcast keeps for each session with subscribers. All subscribers
/// share it; those further behind read from the journal.
pub const TAIL_BYTES_MAX: usize = 512 << 10;

/// The same for all sessions together, who share it evenly: hundreds of sessions with subscribers would
/// otherwise take more memory than the rest of the server.
pub const TAILS_BYTES_MAX: usize = 16 << 20;

/// The same for each session, however many there are: a second of deltas.
pub const TAIL_BYTES_MIN: usize = 32 << 10;

/// Memory that an event takes besides its body, which is held a second time as it is sent.
pub const TAIL_EVENT_BYTES: usize = 512;

/// The same in events, since an event costs memory even if its body is empty.
pub const TAIL_EVENTS_MAX: usize = 2048;

/// Bytes that may be published while a subscriber takes nothing, unless it sets its own limit. A phone that
/// changes its network is away for seconds; one that is away for longer does better to resume from its
/// cursor.
pub const WATCHER_BYTES_UNTAKEN: u64 = 4 << 20;

/// Bytes that a subscriber takes from the broadcast or the journal at once. A stuck subscriber holds this
/// much; there may be a thousand of them.
pub const PORTION_BYTES_MAX: usize = 64 << 10;

/// The same in events, so that the lock of the broadcast is never held for long.
pub const PORTION_EVENTS_MAX: usize = 128;

/// Bytes of deltas that are merged into one event; then it is complete, whatever the time.
pub const MERGED_BYTES_MAX: usize = 64 << 10;

/// Memory for merged events that are kept for the subscribers of a session that merge by the same rule. Those
/// further behind merge by themselves.
pub const MERGED_BATCHES_BYTES_MAX: usize = 64 << 10;

/// Bytes of deltas after which a merger looks at them, before its time: fewer than the smallest tail has.
pub const MERGER_BYTES_BEHIND: u64 = 4 << 10;

/// Events that the inbox may be behind before it reads the journal instead.
pub const INBOX_BEHIND_MAX: usize = 1024;

/// Damaged events that a journal remembers. A higher number is reported as this one.
pub const DAMAGED_EVENTS_MAX: usize = 10_000;

/// The settings of one session, written as JSON.
pub const SETTINGS_BYTES_MAX: usize = 9 << 20;

/// The shortest length to which strings inside a value are cut before the whole value is left out.
pub const SNAPSHOT_STRING_BYTES_MIN: usize = 200;
