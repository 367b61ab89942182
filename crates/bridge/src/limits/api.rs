//! Limits of requests, connections and subscriptions.

use std::time::Duration;

/// Folders in one list for a picker.
pub(crate) const FOLDER_ITEMS_MAX: usize = 500;

/// Bytes of a message that comes in on a WebSocket (F132). Longer prompts go over HTTP.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Sessions that one WebSocket may subscribe to: more than any client has open at once.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 256;

/// WebSocket connections at the same time: fewer than all connections, to leave room for plain requests.
pub(crate) const SOCKETS_MAX: usize = 3_072;

/// Requests of one WebSocket that are under way. Past it the server stops reading from it.
pub(crate) const REQUESTS_MAX: usize = 32;

/// Time that a WebSocket may stay open without a credential.
pub(crate) const SIGN_IN_WAIT: Duration = Duration::from_secs(10);

/// Time that a client gets to read the reason before its connection is closed.
pub(crate) const FAREWELL_WAIT: Duration = Duration::from_secs(1);

/// Interval between two heartbeats of a stream. Proxies cut off streams that are silent for 30 s.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Heartbeats that a client may leave unanswered. They are counted and not timed, so that a server that was
/// suspended does not take its own silence for that of its clients (F133).
pub(crate) const HEARTBEATS_MISSED_MAX: u32 = 3;

/// Bytes that are written to a stream at once, if there are as many.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

/// Bytes that are read from a WebSocket at once. The library below fills as many with zeros each time it
/// polls for input, which happens for each delta that is sent.
pub(crate) const SOCKET_READ_BYTES: usize = 2 << 10;

/// The longest time that deltas are held back to be sent together.
pub(crate) const COALESCED_MAX: Duration = Duration::from_secs(5);

/// Revocations that may be queued before the streams have seen them. A stream that misses one is closed, to
/// be safe.
pub(crate) const REVOCATIONS_MAX: usize = 64;

/// Entries in a page of a list, unless the request says otherwise.
pub(crate) const LIST_DEFAULT: usize = 100;

/// Events of a snapshot, after merging.
pub(crate) const SNAPSHOT_EVENTS_MAX: usize = 2000;

/// Bytes of a snapshot: what a phone takes in one go.
pub(crate) const SNAPSHOT_BYTES_MAX: usize = 2 << 20;

/// Paths that are offered as completion: about a screen of them.
pub(crate) const COMPLETIONS_MAX: usize = 50;

/// Folders that are searched for completion where there is no `git`.
pub(crate) const FOLDERS_MAX: usize = 2000;

/// Requests about sessions on disk at the same time: reading takes the time, and a disk serves one or two
/// well.
pub(crate) const TRANSCRIPT_JOBS_MAX: usize = 4;

/// Time that such a request waits for the ones before it. The page's user has left by then.
pub(crate) const TRANSCRIPT_WAIT: Duration = Duration::from_secs(20);

/// Bytes of one page of events of a session on disk.
pub(crate) const TRANSCRIPT_PAGE_BYTES_MAX: usize = 256 << 10;

/// Bytes of such a page for clients that want nothing cut, which write a file: few pages, since each is read
/// from the beginning.
pub(crate) const TRANSCRIPT_WHOLE_PAGE_BYTES_MAX: usize = 4 << 20;

/// Bytes of the input or output of one tool in such a page: a screen or two.
pub(crate) const TRANSCRIPT_RESULT_BYTES_MAX: usize = 8 << 10;

/// The longest pattern of a search: a regular expression can take memory far beyond its own length.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 10;

/// Characters of a prompt that are shown to tell branches apart.
pub(crate) const PROMPT_SHOWN_CHARS: usize = 200;

/// Messages that a phone gets when it reconnects, the newest ones; those before them are history (S2.25).
pub(crate) const MOBILE_QUEUE_MAX: usize = 1000;

/// Time that a phone may be away and still get missed messages by itself (S2.25).
pub(crate) const MOBILE_QUEUE_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of a message in the list of missed messages: a line.
pub(crate) const MOBILE_SUMMARY_CHARS: usize = 120;

/// The text of one message to a phone; longer texts come in several messages.
pub(crate) const MOBILE_TEXT_BYTES: usize = 64 << 10;

/// Messages of one long text that are made at once.
pub(crate) const MOBILE_PART_MESSAGES: usize = 2;

/// The part of a text that a phone gets. The longest answers of a model have less.
pub(crate) const MOBILE_TEXT_BYTES_MAX: usize = 1 << 20;

/// The last line of a session in the message of its end.
pub(crate) const MOBILE_SUMMARY_LINE_CHARS: usize = 2000;

/// Distinct files that are counted as changed by a session.
pub(crate) const MOBILE_FILES_MAX: usize = 1000;

/// Pages of history that are searched for the newest list of slash commands.
pub(crate) const COMMANDS_PAGES_MAX: usize = 16;

/// Positions of phones whose translator is cached, so that a phone that reconnects often does not cause a
/// computation from the beginning. Each is some kilobytes.
pub(crate) const RECOVERY_CHECKPOINTS_MAX: usize = 256;

/// Events that are read at once while a translator is computed.
pub(crate) const RECOVERY_PART_EVENTS: usize = 1024;

/// The same in bytes.
pub(crate) const RECOVERY_PART_BYTES: usize = 256 << 10;

/// Missed messages that one `session_sync` announces. The first part announces one, and each part twice as
/// many as the one before, up to this: a phone makes progress even if its connection breaks after a kilobyte.
pub(crate) const MOBILE_SYNC_PART_MAX: usize = 32;

/// Time in which the head of the response to a hook is sent: half of what the hook waits.
pub(crate) const HOOK_REPLY: Duration = Duration::from_millis(50);

/// The longest message of a hook: the input of a tool call, and its result.
pub(crate) const HOOK_BYTES_MAX: usize = 33 << 20;

/// Bytes of keys in one message to a terminal.
pub(crate) const TERMINAL_KEYS_BYTES_MAX: usize = 64 << 10;

/// Messages of a terminal's host that are read ahead of a slow client. The host skips output for slow
/// readers.
pub(crate) const TERMINAL_MESSAGES_WAITING: usize = 8;

/// Time that a request for the attachments of a prompt waits for the CLI's session file.
pub(crate) const PROMPT_FILE_WAIT: Duration = Duration::from_secs(2);

/// Interval at which that file is read.
pub(crate) const PROMPT_FILE_POLL: Duration = Duration::from_millis(100);

/// The least cost in dollars that a session shows besides the lines of its files. Smaller differences come
/// from rounding.
pub(crate) const UNLISTED_USD_MIN: f64 = 1e-5;
