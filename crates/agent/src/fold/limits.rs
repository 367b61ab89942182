//! Bounds of what a fold remembers, so that no session, however long or hostile, can fill the memory.

/// Bytes of one block that are remembered while it streams, to compare them with the whole block. Answers of
/// models are a few hundred kilobytes at most; past this a whole block is taken to begin with what was streamed.
pub(super) const BLOCK_BYTES_MAX: usize = 4 << 20;

/// Bytes of a turn's blocks that are remembered, so that they can be taken back. What is older than this stays
/// shown for good.
pub(super) const SHOWN_BYTES_MAX: usize = 8 << 20;

/// Blocks of a turn that are remembered. A turn of a thousand rounds has a few thousand.
pub(super) const BLOCKS_MAX: usize = 20_000;

/// Sub-agents that are remembered. A session with more of them at once has other troubles.
pub(super) const AGENTS_MAX: usize = 512;

/// Calls that wait for their result. The model makes a few dozen at once at most.
pub(super) const CALLS_MAX: usize = 4_096;

/// Tasks that are remembered, running or not.
pub(super) const TASKS_MAX: usize = 1_024;

/// Prompts that are remembered until a turn answers them.
pub(super) const PROMPTS_MAX: usize = 1_024;

/// Prompts without an id whose words are remembered until they are echoed; few are, and words can be long.
pub(super) const UNNAMED_MAX: usize = 16;

/// Things to do in one list; more than anybody reads.
pub(super) const TODOS_MAX: usize = 1_000;

/// Questions that are open at once.
pub(super) const ASKS_MAX: usize = 1_024;

/// Slash commands that are remembered by name.
pub(super) const COMMANDS_MAX: usize = 4_096;

/// How often a running call is reported by the clock, in milliseconds. The agent itself reports after 30 seconds.
pub(super) const TOOL_PROGRESS_EVERY_MS: i64 = 10_000;
