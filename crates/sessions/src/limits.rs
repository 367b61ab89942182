//! Limits of sessions, each with its reason.

use std::time::Duration;

use tidings_api::INPUT_BYTES_MAX;

/// Characters of the rules that a line of the audit log names; a rule can hold a whole script.
pub const AUDIT_RULE_CHARS: usize = 1000;

/// Entries of a folder that are looked at for one list.
pub const FOLDER_ENTRIES_MAX: usize = 20_000;

/// Time between the start of the server and its first look for sessions to archive: the start comes first.
pub const ARCHIVE_FIRST_AFTER: Duration = Duration::from_secs(60);

/// Interval at which sessions are archived.
pub const ARCHIVE_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Time before its deletion at which a session is archived: a machine may be off for days.
pub const ARCHIVE_MARGIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Sessions in one list of the archive.
pub const ARCHIVE_LIST_MAX: usize = 1000;

/// Archived sessions that stay unpacked after they were read; the one that was read longest ago goes first.
pub const ARCHIVE_UNPACKED_MAX: usize = 8;

/// Bytes of archived sessions that one search unpacks, the newest sessions first: some seconds of work.
pub const ARCHIVE_SEARCH_BYTES_MAX: u64 = 1 << 30;

/// Bytes that `git` may print: the paths of a very large repository, or the longest diff that the page shows.
pub const GIT_BYTES_MAX: usize = 4 << 20;

/// Bytes of a diff that are shown.
pub const DIFF_BYTES_MAX: usize = 1 << 20;

/// Untracked files that are listed.
pub const UNTRACKED_MAX: usize = 1000;

/// Entries of a folder in one list of a file browser.
pub const FILE_ITEMS_MAX: usize = 2000;

/// Bytes of a file that are shown.
pub const FILE_SHOWN_BYTES_MAX: u64 = 512 << 10;

/// Bytes of the files that one prompt mentions, which the server adds to it. A queue has room for them.
pub const MENTIONED_BYTES_MAX: usize = 256 << 10;

/// Mentions of files in one prompt that the server resolves.
pub const MENTIONS_MAX: usize = 16;

/// Files that are staged, or left out of a diff, at once: their names are arguments of `git`.
pub const STAGED_PATHS_MAX: usize = 1000;

/// Bytes of the message of a commit.
pub const COMMIT_MESSAGE_BYTES_MAX: usize = 20_000;

/// Bytes of the name of a branch that is made for a session.
pub const BRANCH_BYTES_MAX: usize = 100;

/// Time that `git` may take.
pub const GIT_WAIT: Duration = Duration::from_secs(10);

/// Time that `git` may take to stage, commit, or make a worktree.
pub const GIT_WRITE_WAIT: Duration = Duration::from_secs(120);

/// Time for which a client that is ahead of a replica waits for it: one that comes from another server of the
/// fleet, or that has just started a session there.
pub const REPLICA_WAIT: Duration = Duration::from_secs(5);

/// Interval at which such a client looks.
pub const REPLICA_EVERY: Duration = Duration::from_millis(20);

/// Tool calls of one session whose digests are remembered until they complete. An agent has a few under way.
pub const JUDGED_MAX: usize = 256;

/// The highest turn that a client may claim. Turns are counted on from the highest claim, and the page's
/// numbers are exact far beyond this.
pub const TURN_MAX: u64 = 1 << 32;

/// Pause of a session before it retries to write to a full disk. An operator has to make room first.
pub const RETRY_WHEN_FULL: Duration = Duration::from_secs(1);

/// Time to wait for the agent's answer to a command while the disk is full. The answer is queued behind
/// events that cannot be stored.
pub const FULL_COMMAND_WAIT: Duration = Duration::from_secs(2);

/// Characters of the last message that a list of sessions shows. More does not fit a line.
pub const LAST_LINE_CHARS: usize = 160;

/// Characters of an error that are kept with a session; the event has all of them.
pub const ERROR_CHARS: usize = 4000;

/// Prompts that wait in one session. No user reads a longer list.
pub const QUEUE_MAX: usize = 100;

/// Bytes of the queue of one session, written as JSON: one prompt of the longest kind, or many short ones.
/// The queue is part of the session's settings, which are written with each change.
pub const QUEUE_BYTES_MAX: usize = INPUT_BYTES_MAX + (64 << 10);

/// Bytes of the launch settings of a session, written as JSON: instructions, tools, MCP servers. They are
/// part of its settings too.
pub const LAUNCH_BYTES_MAX: usize = 256 << 10;

/// Agents that run at the same time unless the configuration says otherwise. Each is a process of a few
/// hundred megabytes.
pub const LIVE_MAX: usize = 32;

/// Interval at which a prompt that an earlier server accepted checks for a free agent slot. Its sender has
/// already waited for a server to start.
pub const ROOM_EVERY: Duration = Duration::from_secs(1);

/// Commands that wait for one session's actor. When the queue is full, callers wait.
pub const ACTOR_QUEUE_MAX: usize = 32;

/// Notices that a slow receiver may be behind; past it the receiver has to read the list again.
pub const NOTICES_MAX: usize = 1024;

/// Bytes that are read at once from the spool of a host that is gone.
#[cfg(unix)]
pub const SPOOL_READ_BYTES: usize = 64 << 10;

/// Interval between two health checks of an agent's host. Each costs both sides a few microseconds.
#[cfg(unix)]
pub const HEALTH_CHECK_EVERY: Duration = Duration::from_millis(750);

/// The latest that the answer may come. Together with the interval it is less than the two seconds that are
/// documented.
#[cfg(unix)]
pub const HEALTH_CHECK_WAIT: Duration = Duration::from_secs(1);

/// Time to wait for the end of a command before its caller gets the newest event instead.
pub const COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Time for finding the commit of a folder when a session begins; a session without it has no start to
/// compare with.
pub const BASE_COMMIT_WAIT: Duration = Duration::from_secs(2);

/// Interval at which sessions are checked for a limit of the plan that was reset.
pub const CONTINUE_CHECK_EVERY: Duration = Duration::from_secs(1);

/// Time after the reset of a limit at which a session continues by itself. It tries only once, and clocks
/// differ.
pub const CONTINUE_DELAY: Duration = Duration::from_secs(30);

/// Time for which a request stays open after the last client that could answer has left, where the policy can
/// decide without. A phone that is put away for a moment comes back sooner.
pub const ABANDONED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Time after which an unused agent is ended, unless the configuration says otherwise.
pub const PARK_AFTER: Duration = Duration::from_secs(30 * 60);

/// Time for sessions to end when the server stops.
pub const DRAIN_WAIT: Duration = Duration::from_secs(10);

/// Bytes of events of a session on disk that are imported with it. Of longer ones the newest part is, and the
/// file has the rest. Sessions of weeks have tens of megabytes, which take some seconds.
pub const IMPORTED_BYTES_MAX: usize = 256 << 20;

/// Events that are stored with one write while a session on disk is imported.
pub const IMPORTED_PORTION_EVENTS: usize = 1000;

/// Portions that were read before the one that is being stored.
pub const IMPORTED_PORTIONS_WAITING: usize = 2;

/// Commands of one session that are remembered, for clients that missed the response to theirs. They are part
/// of the session's row, and no client sends as many before the first is answered.
pub const COMMANDS_REMEMBERED: usize = 64;

/// Events that are searched for one tool call. A long day of work has as many.
pub const CALL_EVENTS_MAX: usize = 100_000;

/// The same in bytes: some tenths of a second of reading.
pub const CALL_BYTES_MAX: usize = 64 << 20;

/// Bytes of an output that Claude Code has put into a file of its own, as they are shown with its call. A
/// browser draws a part of that.
pub const PERSISTED_OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Bytes of events that are read for one snapshot. Merged they are a fraction of that, and further back than
/// users scroll on a phone.
pub const SNAPSHOT_READ_BYTES_MAX: usize = 16 << 20;

/// Snapshots that are made at the same time; others wait. Each holds several times what it reads.
pub const SNAPSHOTS_AT_ONCE: usize = 4;

/// Events at the beginning of a session that are searched for the first prompt, once for sessions that an
/// earlier version made. It is among the first ten.
pub const FIRST_PROMPT_EVENTS_MAX: usize = 100;

/// Bytes of one tool's result that a snapshot shows. The call itself has the rest.
pub const SNAPSHOT_RESULT_BYTES_MAX: usize = 8 << 10;

/// Interval between two checks for the rule that a user agreed to in the agent's settings file.
pub const RULE_EVERY: Duration = Duration::from_millis(250);

/// Number of these checks; the agent writes the rule as soon as it has the answer.
pub const RULE_CHECKS_MAX: u32 = 20;

/// Time for a host to end its agent and remove its folder, before the folder of a dead host is removed.
#[cfg(unix)]
pub const HOST_END_WAIT: Duration = Duration::from_secs(15);

/// Time for an adopted agent to repeat its open requests. The client sends it with the first message.
#[cfg(unix)]
pub const REPEATED_REQUEST_WAIT: Duration = Duration::from_secs(10);

/// The budget, in dollars, passed to an agent whose budget is used up: less than any turn costs.
pub const LEAST_BUDGET_USD: f64 = 1e-6;

/// Tool calls of an observed session that hooks have announced and not ended. Agents run far fewer at once.
pub const ANNOUNCED_CALLS_MAX: usize = 256;

/// Bytes at the end of a session file in which open tool calls are looked for.
pub const CALLS_BYTES_MAX: u64 = 1 << 20;

/// Time between two readings of an observed session's files, if nothing reports a change. Network drives do
/// not.
pub const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// The same for a session that its process reports as idle: a change of that report comes first.
pub const FOLLOW_IDLE_EVERY: Duration = Duration::from_secs(10);

/// Shortest time between two readings: an entry is often written together with others.
pub const FOLLOW_PAUSE: Duration = Duration::from_millis(30);

/// Time for the process of a terminal to end in order when its session is taken over.
pub const TAKE_OVER_WAIT: Duration = Duration::from_secs(10);

/// Time between two searches for processes of the CLI, if nothing reports a change.
pub const PROCESSES_EVERY: Duration = Duration::from_secs(1);

/// Longest time for which a starting server waits for its first search for processes: clients see the
/// sessions that run as they are.
pub const FIRST_SEARCH_WAIT: Duration = Duration::from_secs(2);

/// Time for which a session file must be known to grow before its session is shown without a process: one
/// that has just started describes itself a moment later.
pub const GROWING_FOR: Duration = Duration::from_secs(2);

/// Time after the end of a process in which its last entries may still be reported.
pub const WRITER_LATE: Duration = Duration::from_secs(10);

/// Age of the newest entry of a growing session file. Older entries were copied or restored.
pub const GROWING_ENTRY_AGE_MAX: Duration = Duration::from_secs(60);

/// Session files without a known process that are looked at or followed. People have a few; a synchronised
/// folder may have thousands.
pub const GROWING_FILES_MAX: usize = 64;

/// Bytes at the end of a growing session file in which its writer is looked for.
pub const GROWING_TAIL_BYTES: u64 = 256 << 10;

/// Time without growth after which a session without a known process is over. Tools run for up to ten
/// minutes.
pub const GROWING_SETTLES_AFTER: Duration = Duration::from_secs(600);

/// Time without an entry after which a turn of an idle process is over, if its file does not say so.
pub const IDLE_AFTER: Duration = Duration::from_secs(3);

/// Time after which a dialog that no hook has told of makes its session wait. A hook tells of it in a moment,
/// and a dialog that was answered here closes in a moment; files are looked at every second.
pub const DIALOG_AFTER: Duration = Duration::from_secs(2);

/// The same for a screen in the middle of a turn, which the user may have opened.
pub const SCREEN_AFTER: Duration = Duration::from_secs(10);

/// Lines of a session file that wait to become events.
pub const FOLLOWED_LINES_WAITING: usize = 64;

/// Bytes at the end of a session file that become events when the session is observed for the first time.
pub const FOLLOWED_BYTES_MAX: u64 = 4 << 20;

/// Time in which the session file names the call of a permission request, if no hook has done so.
pub const CALL_NAMED_WITHIN: Duration = Duration::from_millis(500);

/// Time for which a request of a sub-agent is held. One that runs in the background shows its dialog only
/// afterwards.
pub const SUBAGENT_HOLD: Duration = Duration::from_secs(30);

/// Largest program that is read to find out whether it is this one. A debug build has a quarter of this.
pub const HOOK_PROGRAM_BYTES_MAX: u64 = 1 << 30;

/// Programs of hooks that are remembered. There is one, and another one after each upgrade.
pub const HOOK_PROGRAMS_MAX: usize = 32;

/// Time for the CLI to close a dialog that was answered by a hook.
pub const DIALOG_CLOSES_WITHIN: Duration = Duration::from_secs(5);

/// Time after the end of a dialog within which the CLI reports the answer that it took. It takes a fifth of a
/// second.
pub const REPORT_WAIT: Duration = Duration::from_secs(3);

/// Time after that for the report of a denial, if the CLI works on. A machine may be busy.
pub const SILENT_DENIAL_WAIT: Duration = Duration::from_secs(7);

/// The same after an approval, if the CLI works on: it reports nothing unless it was rejected before.
pub const APPROVAL_WAIT: Duration = Duration::from_millis(400);

/// Interval of attempts to type a prompt that waits for the input line of a terminal.
pub const TYPING_EVERY: Duration = Duration::from_millis(400);

/// Time in which the session file of an idle CLI shows a prompt that was typed. Some commands never appear
/// there.
pub const TYPED_SHOWN_WITHIN: Duration = Duration::from_secs(10);

/// Folders whose projects are named for a fleet; sessions in others belong together by their folder only.
pub const NAMED_PROJECTS_MAX: usize = 1000;

/// Bytes of the name of a repository: longer ones are not names that people use.
pub const REPOSITORY_NAME_BYTES_MAX: usize = 512;

/// Agents that are started at the same time to list their past sessions. Each is a process of a few hundred
/// megabytes.
pub const AGENT_LISTS_AT_ONCE: usize = 1;

/// Time for such an agent to answer, its start included. Its adapter gives up a little earlier, with a
/// reason.
pub const AGENT_LIST_WAIT: Duration = Duration::from_secs(25);

/// Time for such an agent to end after its answer, before it is killed.
pub const AGENT_LIST_EXIT: Duration = Duration::from_secs(10);

/// Bytes of an agent's list of its sessions: a thousand of them, with long titles and folders.
pub const AGENT_LIST_BYTES_MAX: u64 = 8 << 20;

/// Time for a running agent to say what it offers. Claude Code and adapters of other agents answer by
/// themselves, so one that takes longer does not run; what it offered last is shown then.
pub const AGENT_OFFER_WAIT: Duration = Duration::from_secs(5);

/// Time in which an agent that loosened its mode must confirm that it is back; it is stopped otherwise.
pub const MODE_RESTORE_WAIT: Duration = Duration::from_secs(10);

/// Number of times that one agent is switched back to its mode before it is stopped.
pub const MODE_RESTORES_MAX: u32 = 3;

/// Folders with a policy of their own. Every session that appears is compared with them.
pub const FOLDER_POLICIES_MAX: usize = 1000;

/// Length of the name of a default model in bytes.
pub const MODEL_NAME_BYTES_MAX: usize = 200;

/// Folders that users trusted.
pub const TRUSTED_FOLDERS_MAX: usize = 10_000;

/// Trusted folders in one list: each of them is inspected for it.
pub const TRUSTED_LIST_MAX: usize = 200;

/// Depth of folders that are searched.
pub const TRUST_DEPTH_MAX: usize = 8;

/// Files of a folder that are searched. A repository has some dozens.
pub const TRUST_FILES_MAX: usize = 2000;

/// The longest file that is searched for commands. A longer one counts as an unreadable command.
pub const TRUST_FILE_BYTES_MAX: u64 = 1 << 20;

/// Parent folders that are searched.
pub const TRUST_LEVELS_MAX: usize = 64;

/// The longest text of one finding. A user has to read it.
pub const TRUST_TEXT_CHARS_MAX: usize = 4000;
