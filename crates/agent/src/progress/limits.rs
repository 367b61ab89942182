//! All limits of this module, with reasons.

/// Bytes of text that are buffered until a sentence or line ends. Progress is reported in short sentences;
/// longer text is searched in segments of this size.
pub(super) const SEGMENT_BYTES_MAX: usize = 4 << 10;

/// Bytes of an overlong segment that are searched again with the next one, so that a phrase across the
/// boundary is found.
pub(super) const OVERLAP_BYTES: usize = 256;

/// Mentions of sub-agents that are stored, so that none is reported twice. A turn has a handful.
pub(super) const MENTIONS_MAX: usize = 64;

/// Maximum length of a task in characters: one line on a phone.
pub(super) const TASK_CHARS_MAX: usize = 100;

/// Minimum length of a line in characters to count as a task.
pub(super) const TASK_CHARS_MIN: usize = 10;

/// Lines that may lie between "Done: 5" and "Total: 20".
pub(super) const DONE_LINES: usize = 3;

/// Sub-agents that are stored. The oldest that has ended is dropped first; Claude Code runs a few dozen at
/// once.
pub(super) const AGENTS_MAX: usize = 1024;
