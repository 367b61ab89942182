//! Every bound of this crate, with its reason.

use std::time::Duration;

/// Bytes of the body of a prompt, or of a new session with one. Clients obey it too, so it stands where they find it.
pub(crate) use tidings_protocol::api::INPUT_BYTES_MAX;

/// The longest body of one event. The CLI's own lines may have 64 MiB, and an event wraps one of them.
pub(crate) const BODY_BYTES_MAX: usize = 65 << 20;

/// The longest name: a session's key, an event's kind, the id of a client's command or of an ask.
/// The longest that anybody sends is a UUID with a prefix.
pub(crate) const NAME_BYTES_MAX: usize = 200;

/// The longest text about a session or a decision: a folder, a title, a state, a rule. Longer than any path may be.
pub(crate) const TEXT_BYTES_MAX: usize = 8 << 10;

/// The settings of one session, and the body of one ask. A tool input is rarely longer; whoever has more puts it into
/// the event and refers to it.
pub(crate) const BLOB_BYTES_MAX: usize = 4 << 20;

/// Labels of one session. They are for telling sessions apart, not for storing things.
pub(crate) const LABELS_MAX: usize = 64;

/// CLI sessions that one session went through. Each fork and each `/clear` adds one.
pub(crate) const CLI_SESSIONS_MAX: usize = 10_000;

/// Events in one append. A host that comes back with more sends several.
pub(crate) const DRAFTS_MAX: usize = 4096;

/// Events in one page, whatever was asked for.
pub(crate) const PAGE_EVENTS_MAX: usize = 4096;

/// Bytes in one page, whatever was asked for; a single event that is longer is a page of its own.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;

/// Sessions, asks, projects or audit entries in one list.
pub(crate) const LIST_MAX: usize = 1000;

/// Bits of an event's row number that are its sequence number; the rest is the session's handle.
/// A session of a thousand deltas per second fills them in 34 years, and eight million sessions fit above them.
pub(crate) const SEQ_BITS: u32 = 40;

/// The highest sequence number.
pub(crate) const SEQ_MAX: u64 = (1 << SEQ_BITS) - 1;

/// The highest handle: what is left of a signed 64-bit number.
pub(crate) const HANDLE_MAX: u64 = (1 << (63 - SEQ_BITS)) - 1;

/// Ended epochs that are remembered for each session. One is added by each loss of power, and a client that was away
/// for sixteen of them starts again.
pub(crate) const PAST_EPOCHS_MAX: usize = 16;

/// How long the id of a command is remembered after its event was removed: a client that retries for longer than a
/// day is not retrying.
pub(crate) const CLIENT_ID_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Asks that may be open in one session; the registries of `tidings-agent` allow as many.
pub(crate) const OPEN_ASKS_MAX: usize = 4096;

/// Projects of one journal. Each is a folder that somebody chose.
pub(crate) const PROJECTS_MAX: usize = 10_000;

/// Calls that wait for the writer of a journal. Past it callers wait, and the CLI behind them bears it.
pub(crate) const WRITER_QUEUE_MAX: usize = 1024;

/// Bytes that wait for the writer, counted in [`WRITER_ROOM_UNIT`]s. It must hold one event of the longest kind.
pub(crate) const WRITER_ROOM_BYTES_MAX: usize = 128 << 20;

/// The grain in which waiting bytes are counted: a semaphore's permits are 32-bit, and a small call costs one of them.
pub(crate) const WRITER_ROOM_UNIT: usize = 1 << 10;

/// Calls that are committed together. More would only delay the first of them.
pub(crate) const COMMIT_CALLS_MAX: usize = 256;

/// Bytes that are committed together, for the same reason.
pub(crate) const COMMIT_BYTES_MAX: usize = 4 << 20;

/// The longest call that is stored where it is made: some pages of a file, which the kernel takes in microseconds.
pub(crate) const PIECE_BYTES_MAX: usize = 16 << 10;

/// Pieces of text that wait until they are put into the tables together. With so many the transaction costs each of them next
/// to nothing, and with more the last of them would wait noticeably.
pub(crate) const PIECES_MAX: usize = 64;

/// Bytes of pieces that wait, for the same reason.
pub(crate) const PIECES_BYTES_MAX: usize = 64 << 10;

/// Pieces that wait while there is no room for them in the tables; then whoever has more of them is told.
pub(crate) const PIECES_STUCK_MAX: usize = 4 * PIECES_MAX;

/// The length of the log of pieces: all that can wait, and what belongs to it.
pub(crate) const PIECE_LOG_BYTES_MAX: u64 = 8 << 20;

/// Connections that read at the same time. Two cores are the common machine, and pages are short.
pub(crate) const READERS_MAX: usize = 4;

/// Prepared statements that a connection keeps; there are about forty different ones.
pub(crate) const STATEMENTS_MAX: usize = 64;

/// Bytes written after which the log is copied into the main file. Below it the copying costs more than it saves,
/// above it reading gets slower, since readers look into the log first.
pub(crate) const CHECKPOINT_BYTES: usize = 16 << 20;

/// The length of the log from which on writers wait until all of it was copied, so that it begins anew.
pub(crate) const WAL_BYTES_MAX: u64 = 64 << 20;

/// What a call adds to the log beside its own bytes, about: the log holds whole pages, and even a short event touches
/// its own page and that of its session.
pub(crate) const CALL_LOG_BYTES: usize = 8 << 10;

/// The length that the log file is cut to when it was longer: a long reader or a backup lets it grow.
pub(crate) const WAL_KEPT_BYTES: i64 = 32 << 20;

/// How long a connection waits for another one of the same process. Only a checkpoint ever makes it wait.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(5);

/// How large the file of a journal may get, unless its owner says otherwise. It works at this size, and a disk that a
/// server fills by itself is a fault of the server.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 64 << 30;

/// Events that one step of retention removes, so that appends are not kept waiting behind it.
pub(crate) const RETAIN_STEP: usize = 2000;

/// Characters of the rules that a line of the audit log names; a rule can hold a whole script.
pub(crate) const AUDIT_RULE_CHARS: usize = 1000;

/// Calls of tools of one session whose digests are remembered until their end is told. An agent has a few under way.
pub(crate) const JUDGED_MAX: usize = 256;

/// The highest turn that a client may claim. Turns are counted on from the highest claim, and pages count them in numbers that are exact
/// far beyond this.
pub(crate) const TURN_MAX: u64 = 1 << 32;

/// Pages that a backup copies before it tells how far it is: four mebibytes.
pub(crate) const BACKUP_PAGES: i32 = 1024;

/// How often events are looked for that are too old to be kept. Whoever sets a bound in days does not miss an hour.
pub(crate) const RETAIN_EVERY: Duration = Duration::from_secs(60 * 60);

/// Pages of the file that are given back after retention, for the same reason.
pub(crate) const VACUUM_PAGES: usize = 512;

/// What a journal in memory may hold. It is for demos and tests; whoever has more has a disk.
pub(crate) const MEMORY_BYTES_MAX: usize = 256 << 20;

/// Bytes of the newest events that the hub keeps for each session that is watched. It is shared by all watchers, and
/// whoever is further behind reads from the journal.
pub(crate) const TAIL_BYTES_MAX: usize = 512 << 10;

/// The same in events, since an event costs memory even if its body is empty.
pub(crate) const TAIL_EVENTS_MAX: usize = 2048;

/// How many bytes may be published while a watcher takes nothing, unless it says otherwise. A phone that changes its
/// network is away for seconds; one that is away for longer does better to come back with its cursor.
pub(crate) const WATCHER_BYTES_UNTAKEN: u64 = 4 << 20;

/// Bytes that a watcher takes from the hub or the journal at once. A thousand watchers that are stuck hold as much each.
pub(crate) const PORTION_BYTES_MAX: usize = 64 << 10;

/// The same in events, so that nobody holds the lock of the hub for long.
pub(crate) const PORTION_EVENTS_MAX: usize = 128;

/// How long a session waits before it asks a full disk again. Somebody has to make room first.
pub(crate) const RETRY_WHEN_FULL: Duration = Duration::from_secs(1);

/// How long the agent's answer to a command is waited for while the disk is full. It stands behind events that cannot be stored.
pub(crate) const FULL_COMMAND_WAIT: Duration = Duration::from_secs(2);

/// Characters of what was last said that a list of sessions shows. More does not fit a line.
pub(crate) const LAST_LINE_CHARS: usize = 160;

/// Characters of what went wrong that are kept with a session; the event has all of them.
pub(crate) const ERROR_CHARS: usize = 4000;

/// Prompts that wait in one session. Nobody reads so long a list.
pub(crate) const QUEUE_MAX: usize = 100;

/// Bytes of what waits in one session, written as JSON: one prompt of the longest kind, or many short ones. They wait in the
/// settings of their session, which are written with each change.
pub(crate) const QUEUE_BYTES_MAX: usize = INPUT_BYTES_MAX + (64 << 10);

/// Bytes of how a session is started, written as JSON: instructions, tools, MCP servers. They stand in its settings too.
pub(crate) const LAUNCH_BYTES_MAX: usize = 256 << 10;

// Whatever people send, there is room left in the settings for what agents tell; a session that cannot store that ends.
const _: () = assert!(QUEUE_BYTES_MAX + LAUNCH_BYTES_MAX + (512 << 10) <= BLOB_BYTES_MAX);

/// Agents that run at the same time unless the owner says otherwise. Each is a process of a few hundred megabytes.
pub(crate) const LIVE_MAX: usize = 32;

/// How often is looked whether there is room for an agent whose prompt an earlier server had accepted. Whoever sent it has waited for
/// a server to start.
pub(crate) const ROOM_EVERY: Duration = Duration::from_secs(1);

/// Orders that wait for one session. Past it callers wait.
pub(crate) const ORDERS_MAX: usize = 32;

/// Notices that somebody who is slow may be behind; then the list has to be read again.
pub(crate) const NOTICES_MAX: usize = 1024;

/// Bytes that are read at once of what a host that is gone had kept.
#[cfg(unix)]
pub(crate) const REMAINS_PIECE_BYTES: usize = 64 << 10;

/// How often the host of an agent is asked how things stand. It costs both some microseconds.
#[cfg(unix)]
pub(crate) const PULSE_EVERY: Duration = Duration::from_millis(750);

/// How late the answer may be. With the time between two questions it is less than the two seconds that are promised.
#[cfg(unix)]
pub(crate) const PULSE_LATE: Duration = Duration::from_secs(1);

/// How long the end of a command is waited for before its caller is told the newest event instead.
pub(crate) const COMMAND_WAIT: Duration = Duration::from_secs(10);

/// How long what a person was asked waits for them once nobody watches who could answer, where the policy can do without. A phone that is
/// put away for a moment comes back sooner.
pub(crate) const ABANDONED_AFTER: Duration = Duration::from_secs(5 * 60);

/// After how long an agent that nobody uses is ended unless the owner says otherwise.
pub(crate) const PARK_AFTER: Duration = Duration::from_secs(30 * 60);

/// How long sessions are given to end when the server does.
pub(crate) const DRAIN_WAIT: Duration = Duration::from_secs(10);

/// Events of a session on disk that are taken over with it. Who wants more reads the file.
pub(crate) const ADOPTED_EVENTS_MAX: usize = 5000;

/// The same in bytes.
pub(crate) const ADOPTED_BYTES_MAX: usize = 8 << 20;

/// Commands of one session that are remembered, for clients that did not hear what came of theirs. They stand in the row
/// of the session, and nobody sends as many before the first is answered.
pub(crate) const COMMANDS_REMEMBERED: usize = 64;
/// Bytes of the body of a request. A patch, an answer or a command is far shorter.
pub(crate) const BODY_REQUEST_BYTES_MAX: usize = 1 << 20;

/// Bytes of a message that comes in on a WebSocket (F132). Longer prompts go over HTTP.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Sessions that are watched on one WebSocket: more than anybody has open at once.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 256;

/// Web sockets at the same time: fewer than connections, so that those who only ask find room beside them.
pub(crate) const SOCKETS_MAX: usize = 3_072;

/// Requests of one WebSocket that are under way. Past it nothing more is read from it.
pub(crate) const REQUESTS_MAX: usize = 32;

/// How long a WebSocket may stay open without a credential.
pub(crate) const SIGN_IN_WAIT: Duration = Duration::from_secs(10);

/// How long one message may take to be written to a client: a minute is more than any network that still works.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(60);

/// Bytes that the kernel keeps of what a client has not taken yet; it keeps about twice that. At a tenth of a second from
/// here to there and back it carries a megabyte a second.
pub(crate) const SEND_BUFFER_BYTES: usize = 128 << 10;

/// How long a client gets to read why it is cut off.
pub(crate) const FAREWELL_WAIT: Duration = Duration::from_secs(1);

/// How often a stream gives a sign of life. Proxies cut off what is silent for 30 s.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Signs of life that a client may leave unanswered. They are counted and not timed, so that a server that was
/// asleep does not take its own silence for that of its clients (F133).
pub(crate) const HEARTBEATS_MISSED_MAX: u32 = 3;

/// Bytes that are written to a stream at once, if there are as many.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

/// Bytes that are read from a WebSocket at once. The library below fills as many with zeros each time it looks whether
/// something has come, which is for each piece of text that is sent.
pub(crate) const SOCKET_READ_BYTES: usize = 2 << 10;

/// The longest time that pieces of text are held back to be sent together.
pub(crate) const COALESCED_MAX: Duration = Duration::from_secs(5);

/// Bytes of text that are held back; then they are sent whatever the time.
pub(crate) const COALESCED_BYTES_MAX: usize = 64 << 10;

/// Devices that can be revoked before the streams have looked. Whoever misses one is cut off to be safe.
pub(crate) const REVOCATIONS_MAX: usize = 64;

/// Entries of a page of a list, unless its reader says otherwise.
pub(crate) const LIST_DEFAULT: usize = 100;

/// Events of a snapshot, after they were put together.
pub(crate) const SNAPSHOT_EVENTS_MAX: usize = 2000;

/// Bytes of a snapshot: what a phone takes in one go.
pub(crate) const SNAPSHOT_BYTES_MAX: usize = 2 << 20;

/// Events that are looked through for one call of a tool. A long day of work has as many.
pub(crate) const CALL_EVENTS_MAX: usize = 100_000;

/// The same in bytes: some tenths of a second of reading.
pub(crate) const CALL_BYTES_MAX: usize = 64 << 20;

/// Paths that are offered as completion. Nobody looks at more than a screen of them.
pub(crate) const COMPLETIONS_MAX: usize = 50;

/// Bytes that `git` may print: the paths of a very large repository, or the longest difference that a page shows.
pub(crate) const GIT_BYTES_MAX: usize = 4 << 20;

/// Bytes of a difference that are shown.
pub(crate) const DIFF_BYTES_MAX: usize = 1 << 20;

/// Files that are named because they are not under version control.
pub(crate) const UNTRACKED_MAX: usize = 1000;

/// How long `git` may take.
pub(crate) const GIT_WAIT: Duration = Duration::from_secs(10);

/// Folders that are looked into for completion where there is no `git` to ask.
pub(crate) const FOLDERS_MAX: usize = 2000;

/// Bytes of events that are looked at for one snapshot. Put together they are a fraction of that, and nobody scrolls
/// further back on a phone.
pub(crate) const SNAPSHOT_READ_BYTES_MAX: usize = 16 << 20;

/// Snapshots that are made at the same time; others wait their turn. Each holds several times what it reads.
pub(crate) const SNAPSHOTS_AT_ONCE: usize = 4;

/// Events at the beginning of a session that are looked through for what was said first, once for those that an earlier
/// version has made. It comes among the first ten.
pub(crate) const FIRST_PROMPT_EVENTS_MAX: usize = 100;

/// Bytes of one tool's result that a snapshot shows. The call itself has the rest.
pub(crate) const SNAPSHOT_RESULT_BYTES_MAX: usize = 8 << 10;
/// Devices that have credentials. Each request compares its own with all of them.
pub(crate) const DEVICES_MAX: usize = 256;

/// How long the credential of a new device is kept for a client that asks again: as long as a client tries, and no longer.
pub(crate) const DEVICE_REPEATED_FOR: Duration = Duration::from_secs(10 * 60);

/// New devices that are remembered in that time. An admin makes them by hand.
pub(crate) const DEVICE_REPEATS_MAX: usize = 64;

/// Folders that one device is limited to.
pub(crate) const DEVICE_FOLDERS_MAX: usize = 64;

/// The name of a device, in characters: it has to fit into a line of a list.
pub(crate) const DEVICE_NAME_CHARS_MAX: usize = 64;

/// One-time codes that wait to be used. Whoever pairs a fleet makes credentials instead.
pub(crate) const CODES_MAX: usize = 16;

/// Wrong codes after which those that wait are void: five guesses at fifty bits.
pub(crate) const CODE_TRIES_MAX: u32 = 5;

/// Addresses whose requests are counted each by itself, before those that have been quiet are forgotten.
pub(crate) const RATE_ADDRESSES_MAX: usize = 4096;

/// Connections at the same time. A thousand watchers, and room for those who ask.
pub(crate) const CONNECTIONS_MAX: usize = 4096;

/// Files that a server wants to be able to have open: its connections, three for each agent that runs, and its journal. Not as many
/// as it may, since that can be a thousand million.
#[cfg(unix)]
pub(crate) const OPEN_FILES_WANTED: u64 = 16_384;

/// Connections from one address at the same time. Behind a proxy, everybody comes from one.
pub(crate) const ADDRESS_CONNECTIONS_MAX: usize = 2048;

/// How long the head of a request may take. A phone on a bad line needs seconds; who needs more wants the connection.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// How long a connection may stay without a credential after its first byte or the last answer that it got. A browser that loads
/// the page opens another one when it needs it.
pub(crate) const AUTH_TIME_MAX: Duration = Duration::from_secs(30);

/// How long the body of a request may take, beside a second for each kibibyte of it: slower than the slowest phone network.
pub(crate) const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Connections at the same time that have not authenticated. They make room for each other.
pub(crate) const UNAUTHENTICATED_MAX: usize = 1024;

/// The same from one address. Behind a proxy everybody comes from one, and a browser opens six to load the page.
pub(crate) const ADDRESS_UNAUTHENTICATED_MAX: usize = 256;

/// The longest head of a request. Cookies and addresses of ours need a tenth of it.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// Folders that somebody has agreed to.
pub(crate) const TRUSTED_FOLDERS_MAX: usize = 10_000;

/// The longest file that is looked into for commands. A longer one counts as a command that nobody can read.
pub(crate) const TRUST_FILE_BYTES_MAX: u64 = 1 << 20;

/// Files of a folder that are looked into. A repository has some dozens.
pub(crate) const TRUST_FILES_MAX: usize = 2000;

/// How deep files lie that are looked for.
pub(crate) const TRUST_DEPTH_MAX: usize = 8;

/// How many folders above a folder are looked into.
pub(crate) const TRUST_LEVELS_MAX: usize = 64;
/// How often is looked whether the agent has written the rule that somebody has agreed to.
pub(crate) const RULE_EVERY: Duration = Duration::from_millis(250);

/// How many times; it writes it as soon as it has heard the answer.
pub(crate) const RULE_LOOKS: u32 = 20;

/// Requests about sessions on disk at the same time: reading is what takes the time, and a disk has one head or two.
pub(crate) const TRANSCRIPT_JOBS_MAX: usize = 4;

/// How long such a request waits for those before it. Whoever looks at a page has left by then.
pub(crate) const TRANSCRIPT_WAIT: Duration = Duration::from_secs(20);

/// Bytes of one page of events of a session on disk.
pub(crate) const TRANSCRIPT_PAGE_BYTES_MAX: usize = 256 << 10;

/// Bytes of such a page for those who want nothing cut, who write a file: few pages, of which each is read from the beginning.
pub(crate) const TRANSCRIPT_WHOLE_PAGE_BYTES_MAX: usize = 4 << 20;

/// Bytes of what one tool took or gave, in such a page: a screen or two.
pub(crate) const TRANSCRIPT_RESULT_BYTES_MAX: usize = 8 << 10;

/// The longest pattern of a search: a regular expression can take memory far beyond its own length.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 10;

/// Characters of a prompt that are shown to tell branches apart.
pub(crate) const PROMPT_SHOWN_CHARS: usize = 200;

/// How long a host may take to end what it keeps and to remove its folder, before the folder of one that is gone is removed.
#[cfg(unix)]
pub(crate) const HOST_LEAVES: Duration = Duration::from_secs(15);

/// How long an agent that was joined may take to ask again what it had asked. It is told to the client with the first message.
#[cfg(unix)]
pub(crate) const ASKED_AGAIN_WAIT: Duration = Duration::from_secs(10);
/// Messages that a phone gets when it comes back, the newest ones; those before them are history (S2.25).
pub(crate) const MOBILE_QUEUE_MAX: usize = 1000;

/// How long a phone may be away and get what it missed by itself (S2.25).
pub(crate) const MOBILE_QUEUE_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of a message in the list of what a phone missed: a line.
pub(crate) const MOBILE_SUMMARY_CHARS: usize = 120;

/// Files that are told apart when those are counted that a session has changed.
pub(crate) const MOBILE_FILES_MAX: usize = 1000;

/// Notifications that wait for one target, for their first try or another. One more drops the oldest that waits for no answer.
pub(crate) const NOTIFY_QUEUE_MAX: usize = 64;

/// How often a notification is tried. With the pauses between them it takes about two minutes if the target answers at once.
pub(crate) const NOTIFY_TRIES_MAX: u32 = 8;

/// The pause after the first try; the next ones are twice as long each.
pub(crate) const NOTIFY_PAUSE_FIRST: Duration = Duration::from_secs(1);

/// The longest pause, whatever the target says.
pub(crate) const NOTIFY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// How long a target may take to answer.
pub(crate) const NOTIFY_WAIT: Duration = Duration::from_secs(10);

/// How long it may take to be reached.
pub(crate) const NOTIFY_CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Redirects that are followed, on the same host only.
pub(crate) const NOTIFY_REDIRECTS_MAX: usize = 3;

/// Sessions whose failures are told once; then all are forgotten, and one may be told again.
pub(crate) const NOTIFY_KNOWN_MAX: usize = 10_000;

/// Characters of a command or an answer in a notification: what a locked screen shows.
pub(crate) const NOTIFY_LINE_CHARS: usize = 200;

/// How often the files of a certificate are looked at. Those of private networks are renewed every few weeks.
pub(crate) const CERTIFICATE_EVERY: Duration = Duration::from_secs(60);

/// The shortest that strings inside of a value are cut to before the value is left out as a whole.
pub(crate) const SNAPSHOT_STRING_BYTES_MIN: usize = 200;

/// Pages of the past that are searched for the newest list of slash commands.
pub(crate) const COMMANDS_PAGES_MAX: usize = 16;

/// How long the whole way out may take (P11).
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(14);

/// How long requests that are under way may take when everything else is done.
pub(crate) const DRAIN_REQUESTS_MAX: Duration = Duration::from_secs(2);

/// How often what ends by itself is looked for: credentials, and certificates that were renewed.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// A device that is seen again within this time is not written down again.
pub(crate) const DEVICE_SEEN_AGAIN: Duration = Duration::from_secs(5 * 60);

/// Cookies of one name that are tried; a browser sends several if they were set for several paths.
pub(crate) const COOKIES_SAME_NAME_MAX: usize = 4;

/// Revocations that a door may not have seen yet. A door that misses some closes everything that has a device.
pub(crate) const REVOKED_MAX: usize = 256;

/// The longest file that is read; a thousand devices need less.
pub(crate) const PRIVATE_FILE_BYTES_MAX: u64 = 4 << 20;

/// The longest text of one finding. A person has to read it.
pub(crate) const TRUST_TEXT_CHARS_MAX: usize = 4000;

/// For how long a code is good. Clocks may jump, so it is counted from when the code was made.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// The budget of an agent that has none left, in dollars: less than any turn costs.
pub(crate) const LEAST_BUDGET_USD: f64 = 1e-6;

/// Damaged events that a journal remembers. More than this are reported as this many.
pub(crate) const DAMAGED_EVENTS_MAX: usize = 10_000;

/// The pause between two pages while all events are checked after the start, so that others read first.
pub(crate) const INSPECTION_PAUSE: Duration = Duration::from_millis(10);

/// Positions of phones whose translator is kept, so that a phone that comes back often is not computed from the beginning. Each
/// is some kilobytes.
pub(crate) const RECOVERY_CHECKPOINTS_MAX: usize = 256;

/// Events that are read at once where a translator is computed.
pub(crate) const RECOVERY_PART_EVENTS: usize = 1024;

/// The same in bytes.
pub(crate) const RECOVERY_PART_BYTES: usize = 256 << 10;

/// Missed messages that one `session_sync` announces. The first part announces one, and each part twice as many as the one before,
/// up to this: a phone whose line breaks after a kilobyte gets on.
pub(crate) const MOBILE_SYNC_PART_MAX: usize = 32;

/// The length of an event from which on it is written in parts and held once for all who watch. A client that reads nothing holds
/// about as much.
pub(crate) const LONG_EVENT_BYTES: usize = 64 << 10;
