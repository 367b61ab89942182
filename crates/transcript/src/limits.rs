//! All limits of this crate, each with its reason.

use std::time::Duration;

/// Bytes per read. Large enough that system calls do not matter, small enough to stay in the processor's
/// cache.
pub const BLOCK_BYTES: usize = 512 << 10;

/// The longest line that is read; a longer one is reported with its position. Images are embedded in lines,
/// and two lines of this size must fit into the memory that reading a file of any size may use.
pub const LINE_BYTES_MAX: usize = 24 << 20;

/// Bytes kept of a line over the cap, to identify it.
pub const OVERSIZED_HEAD_BYTES: usize = 4096;

/// Number of passes over the bytes of a damaged line when whole records are salvaged from it.
pub const SALVAGE_PASSES_MAX: usize = 16;

/// Bytes of a followed file that are compared to detect its replacement. A line's uuid and timestamp stand
/// within far fewer.
pub const FOLLOW_WINDOW_BYTES: usize = 4 << 10;

/// Number of restarts within one poll of a followed file that another process rewrites at the same time.
pub const FOLLOW_PASSES_MAX: usize = 4;

/// Number of deleted files that a follower remembers, in case they come back.
pub const FOLLOW_GONE_MAX: usize = 1024;

/// The largest cache file that is read. A cache takes about 40 bytes per response, so only a damaged one gets
/// this large.
pub const CACHE_BYTES_MAX: u64 = 512 << 20;

/// Number of findings about one file that are sorted before they are reported.
pub const FINDINGS_HELD_MAX: usize = 4096;

/// Tolerated difference between the clocks of neighbouring lines. The CLI stamps lines up to a second earlier
/// than the line before them.
pub const CLOCK_SLACK_MILLIS: i64 = 1000;

/// The largest sidecar of a sub-agent that is read; real ones have a few hundred bytes.
pub const SIDECAR_BYTES_MAX: u64 = 1 << 20;

/// The longest id or name that the index of a session stores as it is. Real ones have less than a hundred
/// bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Number of search threads. Two keep up with most disks and leave the rest of the machine to other programs.
pub const SEARCH_THREADS: usize = 2;

/// Number of hits of one session that may be buffered behind earlier sessions before its thread blocks.
pub const HITS_KEPT_MAX: usize = 1024;

/// Number of hits of finished sessions that may be buffered behind earlier ones before a thread blocks.
pub const HITS_WAITING_MAX: usize = 4096;

/// Bytes read at either end of a session file for a list. The official SDKs read the same amount, so both
/// show the same titles.
pub const END_BYTES: usize = 64 << 10;

/// Bytes read from the start of a file when the first [`END_BYTES`] contain no prompt: room for a first line
/// with images.
pub const HEAD_BYTES_MAX: u64 = 4 << 20;

/// Bytes searched per step for the last value of a key: most keys stand in every line.
pub(crate) const FIELD_WINDOW_BYTES: usize = 8 << 10;

/// Bytes that may be read to fill in counts of a list that were not explicitly requested: about a third of a
/// second.
pub const LIST_UNREAD_BYTES_MAX: u64 = 64 << 20;

/// The longest manifest of an archived session that is read: room for tens of thousands of files.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// Bytes of an edit's texts that are compared line by line. For longer ones all old lines stand before all
/// new ones, since comparing takes more than linear time.
pub const DIFF_BYTES_MAX: usize = 512 << 10;

/// Bytes of Markdown that are rendered; longer text stays plain, since the markup of so long a page would
/// stall a phone.
pub const MARKDOWN_BYTES_MAX: usize = 512 << 10;

/// Bytes shown from the beginning of a tool's output, unless the full output is requested: about a page…
pub const OUTPUT_HEAD_BYTES: usize = 6 << 10;

/// … and from its end: a few lines, where errors stand.
pub const OUTPUT_TAIL_BYTES: usize = 2 << 10;

/// Bytes shown of a tool's input, of thinking and of a diff, unless the full text is requested.
pub const INPUT_BYTES_SHOWN: usize = 12 << 10;

/// Bytes that an export takes from an output stored in a file of its own, when the full output is requested.
pub const PERSISTED_BYTES_MAX: u64 = 8 << 20;

/// The largest image that is embedded in a page, unless everything is requested.
pub const PICTURE_BYTES_MAX: usize = 1 << 20;

/// Maximum nesting of sub-agents in an export. The CLI itself nests a few levels; the limit keeps a damaged
/// session from overflowing the stack.
pub const AGENT_DEPTH_MAX: usize = 12;

/// Number of bits of a signature that may be set before the index begins another one: an eighth. At this
/// density a text of several trigrams rarely matches a signature that does not contain it.
pub const SIGNATURE_FILL_MAX: u32 = 1 << 13;

/// Bytes of session files that one signature covers at most, so that searching them is quick.
pub const SIGNATURE_COVERS_MAX: u64 = 128 << 10;

/// Number of trigrams of a text that are looked up in the index; more do not narrow the result.
pub const TRIGRAMS_ASKED_MAX: usize = 48;

/// Bytes of unindexed text that a search adds to the index first; more is searched without it.
pub const INDEX_CATCH_UP_BYTES: u64 = 32 << 20;

/// Maximum number of counting threads: more than these wait for the disk.
pub const COUNT_THREADS_MAX: usize = 4;

/// Number of threads that read for a cost report. With more the disk is the limit, and two leave the machine
/// usable.
pub const COST_THREADS_MAX: usize = 2;

/// Below this size, starting a second thread takes longer than it saves.
pub const COST_THREAD_BYTES_MIN: u64 = 4 << 20;

/// Number of conversations in which an entry may be nested before the chain is abandoned. Real agents go a
/// few deep.
pub const NESTING_MAX: usize = 256;

/// Number of sessions that may share an entry before the rest are left out: more means that a template was
/// copied.
pub const SHARERS_MAX: usize = 64;

/// Number of passes that look for HTML and links in Markdown. Text inside a tag becomes visible once the tag
/// is escaped; more than a few such layers do not occur in real prose.
pub const MARKDOWN_LAYERS_MAX: usize = 8;

/// Number of alternatives of a pattern up to which a literal prefilter pays off.
pub const ALTERNATIVES_MAX: usize = 32;

/// Bytes of a running process's description of itself.
pub(crate) const RUNNING_FILE_BYTES_MAX: u64 = 64 << 10;

/// Bytes of the entries that are made from one session of another agent, and of a file that has to be read as
/// a whole. They are held in memory.
pub const CONVERTED_BYTES_MAX: usize = 512 << 20;

/// Number of files and folders below the root of another agent that are looked at. An agent writes one file
/// per session, so more of them are not sessions.
pub const AGENT_FILES_MAX: usize = 1 << 20;

/// Number of damaged lines of one session of another agent that are reported one by one.
pub const DAMAGED_REPORTED_MAX: usize = 1024;

/// Number of unknown kinds of records that are counted one by one; the others are counted together.
pub const UNKNOWN_KINDS_MAX: usize = 256;

/// Bytes of a small file of another agent, such as a list of projects.
pub const AGENT_INDEX_BYTES_MAX: u64 = 16 << 20;

/// Number of attempts to read a database that another process changes while it is read.
pub const DATABASE_READS_MAX: usize = 4;

/// Time to wait for another process that keeps a database from being read.
pub const DATABASE_WAIT: Duration = Duration::from_secs(2);
