//! Limits of sessions and their agents.

use std::time::Duration;

use super::INPUT_BYTES_MAX;

/// Time for which a client that is ahead of a replica waits for it: one that comes from another server of the
/// fleet, or that has just started a session there.
pub(crate) const REPLICA_WAIT: Duration = Duration::from_secs(5);

/// Interval at which such a client looks.
pub(crate) const REPLICA_EVERY: Duration = Duration::from_millis(20);

/// Tool calls of one session whose digests are remembered until they complete. An agent has a few under way.
pub(crate) const JUDGED_MAX: usize = 256;

/// The highest turn that a client may claim. Turns are counted on from the highest claim, and the page's
/// numbers are exact far beyond this.
pub(crate) const TURN_MAX: u64 = 1 << 32;

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

/// The settings of one session, written as JSON.
pub(crate) const SETTINGS_BYTES_MAX: usize = 9 << 20;

/// Bytes of the launch settings of a session, written as JSON: instructions, tools, MCP servers. They are
/// part of its settings too.
pub(crate) const LAUNCH_BYTES_MAX: usize = 256 << 10;

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

/// Bytes of events of a session on disk that are imported with it. Of longer ones the newest part is, and the
/// file has the rest. Sessions of weeks have tens of megabytes, which take some seconds.
pub(crate) const IMPORTED_BYTES_MAX: usize = 256 << 20;

/// Events that are stored with one write while a session on disk is imported.
pub(crate) const IMPORTED_PORTION_EVENTS: usize = 1000;

/// Portions that were read before the one that is being stored.
pub(crate) const IMPORTED_PORTIONS_WAITING: usize = 2;

/// Commands of one session that are remembered, for clients that missed the response to theirs. They are part
/// of the session's row, and no client sends as many before the first is answered.
pub(crate) const COMMANDS_REMEMBERED: usize = 64;

/// Events that are searched for one tool call. A long day of work has as many.
pub(crate) const CALL_EVENTS_MAX: usize = 100_000;

/// The same in bytes: some tenths of a second of reading.
pub(crate) const CALL_BYTES_MAX: usize = 64 << 20;

/// The least cost in dollars that a session shows besides the lines of its files. Smaller differences come
/// from rounding.
pub(crate) const UNLISTED_USD_MIN: f64 = 1e-5;

/// Bytes of an output that Claude Code has put into a file of its own, as they are shown with its call. A
/// browser draws a part of that.
pub(crate) const PERSISTED_OUTPUT_BYTES_MAX: u64 = 16 << 20;

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

/// Interval between two checks for the rule that a user agreed to in the agent's settings file.
pub(crate) const RULE_EVERY: Duration = Duration::from_millis(250);

/// Number of these checks; the agent writes the rule as soon as it has the answer.
pub(crate) const RULE_CHECKS_MAX: u32 = 20;

/// Time for a host to end its agent and remove its folder, before the folder of a dead host is removed.
#[cfg(unix)]
pub(crate) const HOST_END_WAIT: Duration = Duration::from_secs(15);

/// Time for an adopted agent to repeat its open requests. The client sends it with the first message.
#[cfg(unix)]
pub(crate) const REPEATED_REQUEST_WAIT: Duration = Duration::from_secs(10);

/// The shortest length to which strings inside a value are cut before the whole value is left out.
pub(crate) const SNAPSHOT_STRING_BYTES_MIN: usize = 200;

/// The budget, in dollars, passed to an agent whose budget is used up: less than any turn costs.
pub(crate) const LEAST_BUDGET_USD: f64 = 1e-6;

/// Tool calls of an observed session that hooks have announced and not ended. Agents run far fewer at once.
pub(crate) const ANNOUNCED_CALLS_MAX: usize = 256;

/// Bytes at the end of a session file in which open tool calls are looked for.
pub(crate) const CALLS_BYTES_MAX: u64 = 1 << 20;

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

/// Time after which a dialog that no hook has told of makes its session wait. A hook tells of it in a moment,
/// and a dialog that was answered here closes in a moment; files are looked at every second.
pub(crate) const DIALOG_AFTER: Duration = Duration::from_secs(2);

/// The same for a screen in the middle of a turn, which the user may have opened.
pub(crate) const SCREEN_AFTER: Duration = Duration::from_secs(10);

/// Lines of a session file that wait to become events.
pub(crate) const FOLLOWED_LINES_WAITING: usize = 64;

/// Bytes at the end of a session file that become events when the session is observed for the first time.
pub(crate) const FOLLOWED_BYTES_MAX: u64 = 4 << 20;

/// Time in which the session file names the call of a permission request, if no hook has done so.
pub(crate) const CALL_NAMED_WITHIN: Duration = Duration::from_millis(500);

/// Time for which a request of a sub-agent is held. One that runs in the background shows its dialog only
/// afterwards.
pub(crate) const SUBAGENT_HOLD: Duration = Duration::from_secs(30);

/// Largest program that is read to find out whether it is this one. A debug build has a quarter of this.
pub(crate) const HOOK_PROGRAM_BYTES_MAX: u64 = 1 << 30;

/// Programs of hooks that are remembered. There is one, and another one after each upgrade.
pub(crate) const HOOK_PROGRAMS_MAX: usize = 32;

/// Time for the CLI to close a dialog that was answered by a hook.
pub(crate) const DIALOG_CLOSES_WITHIN: Duration = Duration::from_secs(5);

/// Time after the end of a dialog within which the CLI reports the answer that it took. It takes a fifth of a
/// second.
pub(crate) const REPORT_WAIT: Duration = Duration::from_secs(3);

/// Time after that for the report of a denial, if the CLI works on. A machine may be busy.
pub(crate) const SILENT_DENIAL_WAIT: Duration = Duration::from_secs(7);

/// The same after an approval, if the CLI works on: it reports nothing unless it was rejected before.
pub(crate) const APPROVAL_WAIT: Duration = Duration::from_millis(400);

/// Interval of attempts to type a prompt that waits for the input line of a terminal.
pub(crate) const TYPING_EVERY: Duration = Duration::from_millis(400);

/// Time in which the session file of an idle CLI shows a prompt that was typed. Some commands never appear
/// there.
pub(crate) const TYPED_SHOWN_WITHIN: Duration = Duration::from_secs(10);

// Whatever clients send, the settings have room left for what agents report; a session that cannot store that
// ends.
const _: () = assert!(QUEUE_BYTES_MAX + LAUNCH_BYTES_MAX + (512 << 10) <= SETTINGS_BYTES_MAX);

/// Folders whose projects are named for a fleet; sessions in others belong together by their folder only.
pub(crate) const NAMED_PROJECTS_MAX: usize = 1000;

/// Bytes of the name of a repository: longer ones are not names that people use.
pub(crate) const REPOSITORY_NAME_BYTES_MAX: usize = 512;

/// Interval at which the heads of changed sessions are announced to the fleet.
pub(crate) const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);

/// Time without an event after which the hash of a session's events is announced, too.
pub(crate) const HASH_AFTER: Duration = Duration::from_secs(2);

/// Events at the end of a session that the hash covers: reading more of them at each pause costs too much.
pub(crate) const HASHED_EVENTS: u64 = 256;

/// Hashes that are computed in one interval, so that a start with many sessions costs little at a time.
pub(crate) const HASHES_AT_ONCE: usize = 50;

/// Time without progress after which missing events are asked for: the stream may still bring them.
pub(crate) const ASK_AFTER: Duration = Duration::from_secs(4);

/// Sessions in one request for missing events.
pub(crate) const ASKED_SESSIONS: usize = 100;

/// Interval at which the end of the audit log is read for the fleet.
pub(crate) const AUDIT_HEAD_EVERY: Duration = Duration::from_secs(1);

/// Agents that are started at the same time to list their past sessions. Each is a process of a few hundred
/// megabytes.
pub(crate) const AGENT_LISTS_AT_ONCE: usize = 1;

/// Time for such an agent to answer, its start included. Its adapter gives up a little earlier, with a
/// reason.
pub(crate) const AGENT_LIST_WAIT: Duration = Duration::from_secs(25);

/// Time for such an agent to end after its answer, before it is killed.
pub(crate) const AGENT_LIST_EXIT: Duration = Duration::from_secs(10);

/// Bytes of an agent's list of its sessions: a thousand of them, with long titles and folders.
pub(crate) const AGENT_LIST_BYTES_MAX: u64 = 8 << 20;

/// Time for a running agent to say what it offers. Claude Code and adapters of other agents answer by
/// themselves, so one that takes longer does not run; what it offered last is shown then.
pub(crate) const AGENT_OFFER_WAIT: Duration = Duration::from_secs(5);

/// Time in which an agent that loosened its mode must confirm that it is back; it is stopped otherwise.
pub(crate) const MODE_RESTORE_WAIT: Duration = Duration::from_secs(10);

/// Number of times that one agent is switched back to its mode before it is stopped.
pub(crate) const MODE_RESTORES_MAX: u32 = 3;
