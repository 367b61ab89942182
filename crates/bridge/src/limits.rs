//! Limits of this crate, each with its reason.

use std::time::Duration;

/// Bytes of the body of a prompt, or of a new session with a prompt. Clients apply it too, so the protocol
/// crate defines it.
pub(crate) use tidings_protocol::api::INPUT_BYTES_MAX;

/// The longest body of one event. The CLI's own lines may have 64 MiB, and an event wraps one of them.
pub(crate) const BODY_BYTES_MAX: usize = 65 << 20;

/// The longest name: a session's key, an event's kind, the id of a client's command or of an ask. The longest
/// names in use are UUIDs with a prefix.
pub(crate) const NAME_BYTES_MAX: usize = 200;

/// The longest text about a session or a decision: a folder, a title, a state, a rule. Longer than any path
/// may be.
pub(crate) const TEXT_BYTES_MAX: usize = 8 << 10;

/// The settings of one session, and the body of one ask. A tool input is rarely longer; a longer one goes
/// into the event, and the ask refers to it.
pub(crate) const BLOB_BYTES_MAX: usize = 4 << 20;

/// Labels of one session. They are for telling sessions apart, not for storing things.
pub(crate) const LABELS_MAX: usize = 64;

/// CLI sessions that one session went through. Each fork and each `/clear` adds one.
pub(crate) const CLI_SESSIONS_MAX: usize = 10_000;

/// Events in one append. A host that comes back with more sends several.
pub(crate) const DRAFTS_MAX: usize = 4096;

/// Events in one page, whatever the caller requests.
pub(crate) const PAGE_EVENTS_MAX: usize = 4096;

/// Bytes in one page, whatever the caller requests; a single event that is longer is a page of its own.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;

/// Sessions, asks, projects or audit entries in one list.
pub(crate) const LIST_MAX: usize = 1000;

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

/// Events that one step of retention removes, so that appends do not wait behind it.
pub(crate) const RETAIN_STEP: usize = 2000;

/// Characters of the rules that a line of the audit log names; a rule can hold a whole script.
pub(crate) const AUDIT_RULE_CHARS: usize = 1000;

/// Tool calls of one session whose digests are remembered until they complete. An agent has a few under way.
pub(crate) const JUDGED_MAX: usize = 256;

/// The highest turn that a client may claim. Turns are counted on from the highest claim, and the page's
/// numbers are exact far beyond this.
pub(crate) const TURN_MAX: u64 = 1 << 32;

/// Database pages that a backup copies between two progress reports: four mebibytes.
pub(crate) const BACKUP_PAGES: i32 = 1024;

/// Interval between two searches for events that are too old to keep. The bound is set in days, so an hour is
/// precise enough.
pub(crate) const RETAIN_EVERY: Duration = Duration::from_secs(60 * 60);

/// Pages of the file that are given back after retention, for the same reason as [`RETAIN_STEP`].
pub(crate) const VACUUM_PAGES: usize = 512;

/// Bytes that a journal in memory may hold. It is for demos and tests.
pub(crate) const MEMORY_BYTES_MAX: usize = 256 << 20;

/// Bytes of the newest events that the broadcast keeps for each session with subscribers. All subscribers
/// share it; those further behind read from the journal.
pub(crate) const TAIL_BYTES_MAX: usize = 512 << 10;

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

/// Pause of a session before it retries to write to a full disk. An operator has to make room first.
pub(crate) const RETRY_WHEN_FULL: Duration = Duration::from_secs(1);

/// Time to wait for the agent's answer to a command while the disk is full. The answer is queued behind
/// events that cannot be stored.
pub(crate) const FULL_COMMAND_WAIT: Duration = Duration::from_secs(2);

/// Characters of the last message that a list of sessions shows. More does not fit a line.
pub(crate) const LAST_LINE_CHARS: usize = 160;

/// Characters of an error that are kept with a session; the event has all of them.
pub(crate) const ERROR_CHARS: usize = 4000;

/// Prompts that wait in one session. No user reads a longer list.
pub(crate) const QUEUE_MAX: usize = 100;

/// Bytes of the queue of one session, written as JSON: one prompt of the longest kind, or many short ones.
/// The queue is part of the session's settings, which are written with each change.
pub(crate) const QUEUE_BYTES_MAX: usize = INPUT_BYTES_MAX + (64 << 10);

/// Bytes of the launch settings of a session, written as JSON: instructions, tools, MCP servers. They are
/// part of its settings too.
pub(crate) const LAUNCH_BYTES_MAX: usize = 256 << 10;

// Whatever clients send, the settings have room left for what agents report; a session that cannot store that
// ends.
const _: () = assert!(QUEUE_BYTES_MAX + LAUNCH_BYTES_MAX + (512 << 10) <= BLOB_BYTES_MAX);

/// Agents that run at the same time unless the configuration says otherwise. Each is a process of a few
/// hundred megabytes.
pub(crate) const LIVE_MAX: usize = 32;

/// Interval at which a prompt that an earlier server accepted checks for a free agent slot. Its sender has
/// already waited for a server to start.
pub(crate) const ROOM_EVERY: Duration = Duration::from_secs(1);

/// Commands that wait for one session's actor. When the queue is full, callers wait.
pub(crate) const ACTOR_QUEUE_MAX: usize = 32;

/// Notices that a slow receiver may be behind; past it the receiver has to read the list again.
pub(crate) const NOTICES_MAX: usize = 1024;

/// Bytes that are read at once from the spool of a host that is gone.
#[cfg(unix)]
pub(crate) const SPOOL_READ_BYTES: usize = 64 << 10;

/// Interval between two health checks of an agent's host. Each costs both sides a few microseconds.
#[cfg(unix)]
pub(crate) const HEALTH_CHECK_EVERY: Duration = Duration::from_millis(750);

/// The latest that the answer may come. Together with the interval it is less than the two seconds that are
/// documented.
#[cfg(unix)]
pub(crate) const HEALTH_CHECK_WAIT: Duration = Duration::from_secs(1);

/// Time to wait for the end of a command before its caller gets the newest event instead.
pub(crate) const COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Time for finding the commit of a folder when a session begins; a session without it has no start to
/// compare with.
pub(crate) const BASE_COMMIT_WAIT: Duration = Duration::from_secs(2);

/// Time between the start of the server and its first look for sessions to archive: the start comes first.
pub(crate) const ARCHIVE_FIRST_AFTER: Duration = Duration::from_secs(60);

/// Interval at which sessions are archived.
pub(crate) const ARCHIVE_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Time before its deletion at which a session is archived: a machine may be off for days.
pub(crate) const ARCHIVE_MARGIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Sessions in one list of the archive.
pub(crate) const ARCHIVE_LIST_MAX: usize = 1000;

/// Archived sessions that stay unpacked after they were read; the one that was read longest ago goes first.
pub(crate) const ARCHIVE_UNPACKED_MAX: usize = 8;

/// Bytes of archived sessions that one search unpacks, the newest sessions first: some seconds of work.
pub(crate) const ARCHIVE_SEARCH_BYTES_MAX: u64 = 1 << 30;

/// Folders in one list for a picker.
pub(crate) const FOLDER_ITEMS_MAX: usize = 500;

/// Entries of a folder that are looked at for one list.
pub(crate) const FOLDER_ENTRIES_MAX: usize = 20_000;

/// Interval at which sessions are checked for a limit of the plan that was reset.
pub(crate) const CONTINUE_CHECK_EVERY: Duration = Duration::from_secs(1);

/// Time after the reset of a limit at which a session continues by itself. It tries only once, and clocks
/// differ.
pub(crate) const CONTINUE_DELAY: Duration = Duration::from_secs(30);

/// Time for which a request stays open after the last client that could answer has left, where the policy can
/// decide without. A phone that is put away for a moment comes back sooner.
pub(crate) const ABANDONED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Time after which an unused agent is ended, unless the configuration says otherwise.
pub(crate) const PARK_AFTER: Duration = Duration::from_secs(30 * 60);

/// Time for sessions to end when the server stops.
pub(crate) const DRAIN_WAIT: Duration = Duration::from_secs(10);

/// Events of a session on disk that are imported with it. The file has the rest.
pub(crate) const IMPORTED_EVENTS_MAX: usize = 5000;

/// The same in bytes.
pub(crate) const IMPORTED_BYTES_MAX: usize = 8 << 20;

/// Commands of one session that are remembered, for clients that missed the response to theirs. They are part
/// of the session's row, and no client sends as many before the first is answered.
pub(crate) const COMMANDS_REMEMBERED: usize = 64;
/// Bytes of the body of a request. A patch, an answer or a command is far shorter.
pub(crate) const BODY_REQUEST_BYTES_MAX: usize = 1 << 20;

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

/// Time that writing one message to a client may take: a minute is more than any working network needs.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(60);

/// Send buffer of a connection; the kernel keeps about twice that. At a round trip of 100 ms it carries a
/// megabyte per second.
pub(crate) const SEND_BUFFER_BYTES: usize = 128 << 10;

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

/// Bytes of deltas that are held back; then they are sent whatever the time.
pub(crate) const COALESCED_BYTES_MAX: usize = 64 << 10;

/// Revocations that may be queued before the streams have seen them. A stream that misses one is closed, to
/// be safe.
pub(crate) const REVOCATIONS_MAX: usize = 64;

/// Entries in a page of a list, unless the request says otherwise.
pub(crate) const LIST_DEFAULT: usize = 100;

/// Events of a snapshot, after merging.
pub(crate) const SNAPSHOT_EVENTS_MAX: usize = 2000;

/// Bytes of a snapshot: what a phone takes in one go.
pub(crate) const SNAPSHOT_BYTES_MAX: usize = 2 << 20;

/// Events that are searched for one tool call. A long day of work has as many.
pub(crate) const CALL_EVENTS_MAX: usize = 100_000;

/// The same in bytes: some tenths of a second of reading.
pub(crate) const CALL_BYTES_MAX: usize = 64 << 20;

/// Paths that are offered as completion: about a screen of them.
pub(crate) const COMPLETIONS_MAX: usize = 50;

/// Bytes that `git` may print: the paths of a very large repository, or the longest diff that the page shows.
pub(crate) const GIT_BYTES_MAX: usize = 4 << 20;

/// Bytes of a diff that are shown.
pub(crate) const DIFF_BYTES_MAX: usize = 1 << 20;

/// Untracked files that are listed.
pub(crate) const UNTRACKED_MAX: usize = 1000;

/// Entries of a folder in one list of a file browser.
pub(crate) const FILE_ITEMS_MAX: usize = 2000;

/// Bytes of a file that are shown.
pub(crate) const FILE_SHOWN_BYTES_MAX: u64 = 512 << 10;

/// Files that are staged, or left out of a diff, at once: their names are arguments of `git`.
pub(crate) const STAGED_PATHS_MAX: usize = 1000;

/// Bytes of the message of a commit.
pub(crate) const COMMIT_MESSAGE_BYTES_MAX: usize = 20_000;

/// Bytes of the name of a branch that is made for a session.
pub(crate) const BRANCH_BYTES_MAX: usize = 100;

/// Time that `git` may take.
pub(crate) const GIT_WAIT: Duration = Duration::from_secs(10);

/// Time that `git` may take to stage, commit, or make a worktree.
pub(crate) const GIT_WRITE_WAIT: Duration = Duration::from_secs(120);

/// Folders that are searched for completion where there is no `git`.
pub(crate) const FOLDERS_MAX: usize = 2000;

/// Bytes of events that are read for one snapshot. Merged they are a fraction of that, and further back than
/// users scroll on a phone.
pub(crate) const SNAPSHOT_READ_BYTES_MAX: usize = 16 << 20;

/// Snapshots that are made at the same time; others wait. Each holds several times what it reads.
pub(crate) const SNAPSHOTS_AT_ONCE: usize = 4;

/// Events at the beginning of a session that are searched for the first prompt, once for sessions that an
/// earlier version made. It is among the first ten.
pub(crate) const FIRST_PROMPT_EVENTS_MAX: usize = 100;

/// Bytes of one tool's result that a snapshot shows. The call itself has the rest.
pub(crate) const SNAPSHOT_RESULT_BYTES_MAX: usize = 8 << 10;
/// Devices that have credentials. Each request compares its own credential with all of them.
pub(crate) const DEVICES_MAX: usize = 256;

/// Time for which the credential of a new device is kept for a client that retries: as long as clients retry,
/// and no longer.
pub(crate) const DEVICE_REPEATED_FOR: Duration = Duration::from_secs(10 * 60);

/// New devices that are remembered in that time. An admin makes them by hand.
pub(crate) const DEVICE_REPEATS_MAX: usize = 64;

/// Folders that one device is limited to.
pub(crate) const DEVICE_FOLDERS_MAX: usize = 64;

/// The name of a device, in characters: it has to fit into a line of a list.
pub(crate) const DEVICE_NAME_CHARS_MAX: usize = 64;

/// One-time codes that wait to be used. A fleet is paired with credentials instead.
pub(crate) const CODES_MAX: usize = 16;

/// Wrong codes after which the waiting codes are void: five guesses at fifty bits.
pub(crate) const CODE_TRIES_MAX: u32 = 5;

/// Addresses whose requests are counted separately, before idle ones are forgotten.
pub(crate) const RATE_ADDRESSES_MAX: usize = 4096;

/// Connections at the same time: a thousand subscribers, and room for plain requests.
pub(crate) const CONNECTIONS_MAX: usize = 4096;

/// Open files that the server requests from the kernel: for its connections, three for each running agent,
/// and its journal. The hard limit is not used, since it can be a thousand million.
#[cfg(unix)]
pub(crate) const OPEN_FILES_WANTED: u64 = 16_384;

/// Connections from one address at the same time. Behind a proxy, all clients share one address.
pub(crate) const ADDRESS_CONNECTIONS_MAX: usize = 2048;

/// Time that the head of a request may take. A phone on a bad line needs seconds; a slower client only
/// occupies the connection.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// Time that a connection may stay without a credential after its first byte or the last response that it
/// got. A browser that loads the page opens another one when it needs it.
pub(crate) const AUTH_TIME_MAX: Duration = Duration::from_secs(30);

/// Time that the body of a request may take, besides one second per kibibyte: slower than the slowest phone
/// network.
pub(crate) const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Connections at the same time that have not authenticated. New ones replace old ones.
pub(crate) const UNAUTHENTICATED_MAX: usize = 1024;

/// The same from one address. Behind a proxy all clients share one, and a browser opens six to load the page.
pub(crate) const ADDRESS_UNAUTHENTICATED_MAX: usize = 256;

/// The longest head of a request. Our own cookies and addresses need a tenth of it.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// Folders with a policy of their own. Every session that appears is compared with them.
pub(crate) const FOLDER_POLICIES_MAX: usize = 1000;

/// Folders that users trusted.
pub(crate) const TRUSTED_FOLDERS_MAX: usize = 10_000;

/// Trusted folders in one list: each of them is inspected for it.
pub(crate) const TRUSTED_LIST_MAX: usize = 200;

/// Length of the name of a default model in bytes.
pub(crate) const MODEL_NAME_BYTES_MAX: usize = 200;

/// The longest file that is searched for commands. A longer one counts as an unreadable command.
pub(crate) const TRUST_FILE_BYTES_MAX: u64 = 1 << 20;

/// Files of a folder that are searched. A repository has some dozens.
pub(crate) const TRUST_FILES_MAX: usize = 2000;

/// Depth of folders that are searched.
pub(crate) const TRUST_DEPTH_MAX: usize = 8;

/// Parent folders that are searched.
pub(crate) const TRUST_LEVELS_MAX: usize = 64;
/// Interval between two checks for the rule that a user agreed to in the agent's settings file.
pub(crate) const RULE_EVERY: Duration = Duration::from_millis(250);

/// Number of these checks; the agent writes the rule as soon as it has the answer.
pub(crate) const RULE_CHECKS_MAX: u32 = 20;

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

/// Time for a host to end its agent and remove its folder, before the folder of a dead host is removed.
#[cfg(unix)]
pub(crate) const HOST_END_WAIT: Duration = Duration::from_secs(15);

/// Time for an adopted agent to repeat its open requests. The client sends it with the first message.
#[cfg(unix)]
pub(crate) const REPEATED_REQUEST_WAIT: Duration = Duration::from_secs(10);
/// Messages that a phone gets when it reconnects, the newest ones; those before them are history (S2.25).
pub(crate) const MOBILE_QUEUE_MAX: usize = 1000;

/// Time that a phone may be away and still get missed messages by itself (S2.25).
pub(crate) const MOBILE_QUEUE_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of a message in the list of missed messages: a line.
pub(crate) const MOBILE_SUMMARY_CHARS: usize = 120;

/// The text of one message to a phone; longer texts come in several messages.
pub(crate) const MOBILE_TEXT_BYTES: usize = 64 << 10;

/// The part of a text that a phone gets. The longest answers of a model have less.
pub(crate) const MOBILE_TEXT_BYTES_MAX: usize = 1 << 20;

/// The last line of a session in the message of its end.
pub(crate) const MOBILE_SUMMARY_LINE_CHARS: usize = 2000;

/// Distinct files that are counted as changed by a session.
pub(crate) const MOBILE_FILES_MAX: usize = 1000;

/// Attempts for one notification. With the pauses between them they take about two minutes if the target
/// answers at once.
pub(crate) const NOTIFY_TRIES_MAX: u32 = 8;

/// The pause after the first attempt; each later one is twice as long.
pub(crate) const NOTIFY_PAUSE_FIRST: Duration = Duration::from_secs(1);

/// The longest pause, whatever the target requests.
pub(crate) const NOTIFY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Time that a target may take to answer.
pub(crate) const NOTIFY_WAIT: Duration = Duration::from_secs(10);

/// Time that connecting to a target may take.
pub(crate) const NOTIFY_CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Redirects that are followed, on the same host only.
pub(crate) const NOTIFY_REDIRECTS_MAX: usize = 3;

/// The longest pause that a target may request by 429, or by its failures.
pub(crate) const NOTIFY_TARGET_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Reminders of one request.
pub(crate) const NOTIFY_REMINDERS_MAX: usize = 10;

/// Seconds after which the last reminder comes: a week.
pub(crate) const NOTIFY_DELAY_MAX_S: u64 = 7 * 24 * 60 * 60;

/// Sessions, or kinds, whose notifications are switched off.
pub(crate) const NOTIFY_OFF_MAX: usize = 1000;

/// Targets that clients may add, and subscriptions of devices.
pub(crate) const NOTIFY_TARGETS_MAX: usize = 100;

/// Notifications that are sent at the same time.
pub(crate) const NOTIFY_SENDING_MAX: usize = 16;

/// Time for which the acknowledgement of a visible tab counts. Tabs repeat it every twenty seconds.
pub(crate) const VISIBLE_FOR: Duration = Duration::from_secs(45);

/// Items of the inbox. Past it the oldest ones that do not wait are removed.
pub(crate) const INBOX_ITEMS_MAX: usize = 2000;

/// Items on one page of the inbox.
pub(crate) const INBOX_PAGE_MAX: usize = 200;

/// Events that the inbox may be behind before it reads the journal instead.
pub(crate) const INBOX_BEHIND_MAX: usize = 1024;

/// Interval at which the inbox is compared with the pending requests of the journal.
pub(crate) const INBOX_COMPARE_EVERY: Duration = Duration::from_secs(60);

/// Length of a message to a browser before encryption. Push services accept 4096 bytes after it.
pub(crate) const PUSH_BYTES_MAX: usize = 3000;

/// Time for which a push service keeps a message for a device that is not connected.
pub(crate) const PUSH_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Validity of the signature that identifies this server to push services, which accept at most a day.
pub(crate) const PUSH_SIGNATURE_VALID: Duration = Duration::from_secs(12 * 60 * 60);

/// Characters of a command or an answer in a notification: a locked screen shows as many.
pub(crate) const NOTIFY_LINE_CHARS: usize = 200;

/// Interval between two checks of the certificate files. Those of private networks are renewed every few
/// weeks.
pub(crate) const CERTIFICATE_EVERY: Duration = Duration::from_secs(60);

/// The shortest length to which strings inside a value are cut before the whole value is left out.
pub(crate) const SNAPSHOT_STRING_BYTES_MIN: usize = 200;

/// Pages of history that are searched for the newest list of slash commands.
pub(crate) const COMMANDS_PAGES_MAX: usize = 16;

/// Time that the whole shutdown may take (P11).
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(14);

/// Time for requests that are under way after everything else has ended.
pub(crate) const DRAIN_REQUESTS_MAX: Duration = Duration::from_secs(2);

/// Interval between two sweeps for expired credentials and renewed certificates.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Time within which a device that is seen again is not recorded again.
pub(crate) const DEVICE_SEEN_AGAIN: Duration = Duration::from_secs(5 * 60);

/// Cookies of one name that are tried; a browser sends several if they were set for several paths.
pub(crate) const COOKIES_SAME_NAME_MAX: usize = 4;

/// Revocations that an endpoint may not have seen yet. An endpoint that misses some closes every connection
/// of a device.
pub(crate) const REVOKED_MAX: usize = 256;

/// The longest file that is read; a thousand devices need less.
pub(crate) const PRIVATE_FILE_BYTES_MAX: u64 = 4 << 20;

/// The longest text of one finding. A user has to read it.
pub(crate) const TRUST_TEXT_CHARS_MAX: usize = 4000;

/// Lifetime of a code. Wall clocks may jump, so a monotonic clock counts it.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// The budget, in dollars, passed to an agent whose budget is used up: less than any turn costs.
pub(crate) const LEAST_BUDGET_USD: f64 = 1e-6;

/// Damaged events that a journal remembers. A higher number is reported as this one.
pub(crate) const DAMAGED_EVENTS_MAX: usize = 10_000;

/// The pause between two pages while all events are checked after the start, so that other readers go first.
pub(crate) const INSPECTION_PAUSE: Duration = Duration::from_millis(10);

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

/// The length from which on an event is written in parts and held once for all subscribers. A client that
/// reads nothing holds about as much.
pub(crate) const LONG_EVENT_BYTES: usize = 64 << 10;

/// Tool calls of an observed session that hooks have announced and not ended. Agents run far fewer at once.
pub(crate) const ANNOUNCED_CALLS_MAX: usize = 256;

/// Time between two readings of an observed session's files, if nothing reports a change. Network drives do
/// not.
pub(crate) const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// The same for a session that its process reports as idle: a change of that report comes first.
pub(crate) const FOLLOW_IDLE_EVERY: Duration = Duration::from_secs(10);

/// Shortest time between two readings: an entry is often written together with others.
pub(crate) const FOLLOW_PAUSE: Duration = Duration::from_millis(30);

/// Time for the process of a terminal to end in order when its session is taken over.
pub(crate) const TAKE_OVER_WAIT: Duration = Duration::from_secs(10);

/// Time between two searches for processes of the CLI, if nothing reports a change.
pub(crate) const PROCESSES_EVERY: Duration = Duration::from_secs(1);

/// Longest time for which a starting server waits for its first search for processes: clients see the
/// sessions that run as they are.
pub(crate) const FIRST_SEARCH_WAIT: Duration = Duration::from_secs(2);

/// Time for which a session file must be known to grow before its session is shown without a process: one
/// that has just started describes itself a moment later.
pub(crate) const GROWING_FOR: Duration = Duration::from_secs(2);

/// Time after the end of a process in which its last entries may still be reported.
pub(crate) const WRITER_LATE: Duration = Duration::from_secs(10);

/// Age of the newest entry of a growing session file. Older entries were copied or restored.
pub(crate) const GROWING_ENTRY_AGE_MAX: Duration = Duration::from_secs(60);

/// Session files without a known process that are looked at or followed. People have a few; a synchronised
/// folder may have thousands.
pub(crate) const GROWING_FILES_MAX: usize = 64;

/// Bytes at the end of a growing session file in which its writer is looked for.
pub(crate) const GROWING_TAIL_BYTES: u64 = 256 << 10;

/// Time without growth after which a session without a known process is over. Tools run for up to ten
/// minutes.
pub(crate) const GROWING_SETTLES_AFTER: Duration = Duration::from_secs(600);

/// Time without an entry after which a turn of an idle process is over, if its file does not say so.
pub(crate) const IDLE_AFTER: Duration = Duration::from_secs(3);

/// Lines of a session file that wait to become events.
pub(crate) const FOLLOWED_LINES_WAITING: usize = 64;

/// Bytes at the end of a session file that become events when the session is observed for the first time.
pub(crate) const FOLLOWED_BYTES_MAX: u64 = 4 << 20;

/// Time for which a request of a sub-agent is held. One that runs in the background shows its dialog only
/// afterwards.
pub(crate) const SUBAGENT_HOLD: Duration = Duration::from_secs(30);

/// Time for the CLI to close a dialog that was answered by a hook.
pub(crate) const DIALOG_CLOSES_WITHIN: Duration = Duration::from_secs(5);

/// Time after the end of a dialog within which the CLI reports the answer that it took. It takes a fifth of a
/// second.
pub(crate) const REPORT_WAIT: Duration = Duration::from_secs(3);

/// The same after an approval, if the CLI works on: it reports nothing unless it was rejected before.
pub(crate) const APPROVAL_WAIT: Duration = Duration::from_millis(400);

/// Time in which the head of the response to a hook is sent: half of what the hook waits.
pub(crate) const HOOK_REPLY: Duration = Duration::from_millis(50);

/// The longest message of a hook: the input of a tool call, and its result.
pub(crate) const HOOK_BYTES_MAX: usize = 33 << 20;

/// Interval of attempts to type a prompt that waits for the input line of a terminal.
pub(crate) const TYPING_EVERY: Duration = Duration::from_millis(400);

/// Time in which the session file of an idle CLI shows a prompt that was typed. Some commands never appear
/// there.
pub(crate) const TYPED_SHOWN_WITHIN: Duration = Duration::from_secs(10);

/// Bytes of keys in one message to a terminal.
pub(crate) const TERMINAL_KEYS_BYTES_MAX: usize = 64 << 10;

/// Messages of a terminal host that are read ahead of a slow client. The host skips output for slow readers.
pub(crate) const TERMINAL_MESSAGES_WAITING: usize = 8;

/// Time that a request for the attachments of a prompt waits for the CLI's session file.
pub(crate) const PROMPT_FILE_WAIT: Duration = Duration::from_secs(2);

/// Interval at which that file is read.
pub(crate) const PROMPT_FILE_POLL: Duration = Duration::from_millis(100);
