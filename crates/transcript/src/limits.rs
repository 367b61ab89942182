//! Every bound of this crate, each with its reason.

/// What is read at once. Large enough that the calls do not count, small enough to stay in the processor's cache.
pub const BLOCK_BYTES: usize = 512 << 10;

/// The longest line that is read; a longer one is reported with its place. Pictures travel inside lines, and two of
/// these must fit into what reading a file of any size may take.
pub const LINE_BYTES_MAX: usize = 24 << 20;

/// How much of a line over the cap is kept to recognise it by.
pub const OVERSIZED_HEAD_BYTES: usize = 4096;

/// How many times over the bytes of a damaged line may be looked at to find whole records in it.
pub const SALVAGE_PASSES_MAX: usize = 16;
