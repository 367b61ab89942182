//! Every bound of this crate, with its reason.

use std::time::Duration;

/// Inputs that wait for one session of a front end, as while it starts; more are refused with an error event.
pub(crate) const INPUTS_WAITING_MAX: usize = 256;

/// Questions that may be open in one registry. A session asks for a handful, and a hundred sessions fit; more is a
/// runaway, and is refused.
pub(crate) const OPEN_MAX: usize = 4096;

/// Settled questions that are remembered, so that a late answer learns who was first.
pub(crate) const SETTLED_MAX: usize = 4096;

/// Batches that are remembered after all their members were settled, for the same reason.
pub(crate) const BATCHES_MAX: usize = 256;

/// Answers that wait for the CLI to ask. One assistant message has far fewer calls.
pub(crate) const HELD_MAX: usize = 1024;

/// Grants of one session. A person who allowed a thousand things one by one has stopped to look at them.
pub(crate) const GRANTS_MAX: usize = 1024;

/// Members of one batch. More cannot be judged at a glance; the rest forms the next batch.
pub(crate) const BATCH_MEMBERS_MAX: usize = 32;

/// The longest command that is parsed; a longer one is nothing that a rule should decide about.
pub(crate) const COMMAND_BYTES_MAX: usize = 64 << 10;

/// Simple commands in one command line, for the same reason.
pub(crate) const COMMANDS_MAX: usize = 512;

/// How deep commands may nest in each other: `bash -c "bash -c …"`, `$( $( … ) )`.
pub(crate) const COMMAND_DEPTH_MAX: usize = 8;

/// Folders in which one command may run, since each `cd` before it may have failed. Its words are judged for each of them.
pub(crate) const FOLDERS_MAX: usize = 16;

/// Entries of folders that are looked at for links that a pattern of the shell may stand for. A listing of so many takes
/// some milliseconds.
pub(crate) const DISK_ENTRIES_MAX: usize = 4096;

/// How deep a digest looks into an input; what lies deeper is taken as it is written.
pub(crate) const DIGEST_DEPTH_MAX: usize = 128;

/// How much of a command or path stands in the sentence that describes a request. The whole is in its target.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 400;

/// Questions in one form of an MCP server.
pub(crate) const FORM_FIELDS_MAX: usize = 64;

/// Choices of one question.
pub(crate) const CHOICES_MAX: usize = 256;

/// The longest answer to a question.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Decisions that the unattended policy remembers …
pub(crate) const DECISIONS_CACHED_MAX: usize = 100;

/// … for this long, …
pub(crate) const DECISION_CACHED: Duration = Duration::from_secs(60 * 60);

/// … or for this long where somebody asked to remember it.
pub(crate) const DECISION_REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// What the parts of a session may have to tell before they wait: prompts, and questions as they open and are settled.
pub(crate) const NOTES_MAX: usize = 256;

/// How long a session that is closed waits until its last events are taken. A front end reads them within milliseconds,
/// unless it is the one that waits.
pub(crate) const LAST_EVENTS_WAIT: Duration = Duration::from_secs(5);

/// How long questions gather before they are shown: calls that run side by side are asked about within a few
/// milliseconds, and a person cannot tell the difference.
pub(crate) const GATHER_TIME: Duration = Duration::from_millis(20);

/// How often a running session is told the time, so that people see for how long a call has been running.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// How much of the agent's output may lie between what is kept for whoever goes on with a session: so much is read again then.
pub(crate) const KEEP_EVERY_BYTES: u64 = 256 << 10;
