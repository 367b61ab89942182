//! All limits of this crate, with reasons.

use std::time::Duration;

/// Inputs that may be queued for one session of a front end, for example while it starts. Further inputs are
/// refused with an error event.
pub(crate) const INPUTS_WAITING_MAX: usize = 256;

/// Requests that may be open in one registry. A session opens a handful, and a hundred sessions fit; more is
/// a runaway, and is refused.
pub(crate) const OPEN_MAX: usize = 4096;

/// Settled requests that are remembered, so that the sender of a late answer gets the winning one.
pub(crate) const SETTLED_MAX: usize = 4096;

/// Batches that are remembered after all their members were settled, for the same reason.
pub(crate) const BATCHES_MAX: usize = 256;

/// Answers that are held until the CLI asks. One assistant message has far fewer calls.
pub(crate) const HELD_MAX: usize = 1024;

/// Grants of one session. A user who allowed a thousand things one by one no longer reviews them.
pub(crate) const GRANTS_MAX: usize = 1024;

/// Members of one batch. More cannot be reviewed at a glance; the rest forms the next batch.
pub(crate) const BATCH_MEMBERS_MAX: usize = 32;

/// Length of the longest command that is parsed, in bytes. Rules do not decide about longer ones.
pub(crate) const COMMAND_BYTES_MAX: usize = 64 << 10;

/// Simple commands in one command line, for the same reason.
pub(crate) const COMMANDS_MAX: usize = 512;

/// Nesting depth of commands: `bash -c "bash -c …"`, `$( $( … ) )`.
pub(crate) const COMMAND_DEPTH_MAX: usize = 8;

/// Folders in which one command may run, since each `cd` before it may have failed. Its words are judged for
/// each folder.
pub(crate) const FOLDERS_MAX: usize = 16;

/// Length in bytes of a file of git that is read for a decision. A list of ten thousand references is
/// shorter.
pub(crate) const GIT_FILE_BYTES_MAX: u64 = 1 << 20;

/// Directory entries that are examined for symbolic links which a shell pattern may match. Listing this many
/// takes a few milliseconds.
pub(crate) const DISK_ENTRIES_MAX: usize = 4096;

/// Depth to which a digest normalizes an input; deeper values are hashed as they are written.
pub(crate) const DIGEST_DEPTH_MAX: usize = 128;

/// Characters of a command or path in the sentence that describes a request. The full text is in its target.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 400;

/// Questions in one form of an MCP server.
pub(crate) const FORM_FIELDS_MAX: usize = 64;

/// Choices of one question.
pub(crate) const CHOICES_MAX: usize = 256;

/// Length of the longest answer to a question, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Decisions that the unattended policy caches.
pub(crate) const DECISIONS_CACHED_MAX: usize = 100;

/// Lifetime of a cached decision.
pub(crate) const DECISION_CACHED: Duration = Duration::from_secs(60 * 60);

/// Lifetime of a cached decision that the user asked to remember.
pub(crate) const DECISION_REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// Notes that the parts of a session may queue for the event task: prompts, and requests that open or are
/// settled.
pub(crate) const NOTES_MAX: usize = 256;

/// Time that closing a session waits for its last events to be taken. A front end reads them within
/// milliseconds, unless it is the caller that waits.
pub(crate) const LAST_EVENTS_WAIT: Duration = Duration::from_secs(5);

/// Time in which requests are gathered before they are shown: parallel calls are asked about within a few
/// milliseconds, and a user does not notice the delay.
pub(crate) const GATHER_TIME: Duration = Duration::from_millis(20);

/// Interval of ticks to a running session, so that users see how long a call has been running.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// Bytes of agent output between two saved snapshots of a session. At most this much is read again when the
/// session is adopted.
pub(crate) const SNAPSHOT_EVERY_BYTES: u64 = 256 << 10;
