//! Limits for the state of a fold, so that no session, however long or hostile, can exhaust memory.

/// Bytes of one streaming block that are stored, for the comparison with the complete block.
/// Answers of models have a few hundred kilobytes at most. Beyond the limit, the complete block is assumed to
/// begin with the streamed text.
pub(super) const BLOCK_BYTES_MAX: usize = 4 << 20;

/// Bytes of a turn's blocks that are stored for retraction. Older text cannot be retracted.
pub(super) const SHOWN_BYTES_MAX: usize = 8 << 20;

/// Blocks of a turn that are stored. A turn of a thousand rounds has a few thousand.
pub(super) const BLOCKS_MAX: usize = 20_000;

/// Sub-agents that are stored, running or not.
pub(super) const AGENTS_MAX: usize = 512;

/// Calls without a result. A model makes a few dozen at once at most.
pub(super) const CALLS_MAX: usize = 4_096;

/// Tasks that are stored, running or not.
pub(super) const TASKS_MAX: usize = 1_024;

/// Prompts that are stored until a turn answers them.
pub(super) const PROMPTS_MAX: usize = 1_024;

/// Prompts without an id whose text is stored until it is echoed. They are rare, and texts can be long.
pub(super) const UNNAMED_MAX: usize = 16;

/// Items in one to-do list.
pub(super) const TODOS_MAX: usize = 1_000;

/// Requests that are open at once.
pub(super) const ASKS_MAX: usize = 1_024;

/// Slash commands that are stored by name.
pub(super) const COMMANDS_MAX: usize = 4_096;

/// Interval in milliseconds at which running calls are reported by the clock. The agent itself reports after
/// 30 seconds.
pub(super) const TOOL_PROGRESS_EVERY_MS: i64 = 10_000;
