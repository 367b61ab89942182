//! Every bound of this module, each with its reason.

/// How much text is held while waiting for the end of a sentence or a line. Progress is told in short sentences; a
/// longer run of text is looked through in pieces of this size.
pub(super) const PIECE_BYTES_MAX: usize = 4 << 10;

/// How much of an overlong piece is kept for the next one, so that a phrase on the cut is still found.
pub(super) const OVERLAP_BYTES: usize = 256;

/// How many mentions of sub-agents are remembered so that none is reported twice. A turn mentions a handful.
pub(super) const MENTIONS_MAX: usize = 64;

/// How many characters of a task are kept: one line on a phone.
pub(super) const TASK_CHARS_MAX: usize = 100;

/// A line of fewer characters says too little to stand for a task.
pub(super) const TASK_CHARS_MIN: usize = 10;

/// How many lines may lie between "Done: 5" and "Total: 20".
pub(super) const DONE_LINES: usize = 3;

/// How many sub-agents are remembered. The oldest that has ended makes room; Claude Code runs a few dozen at once.
pub(super) const AGENTS_MAX: usize = 1024;
