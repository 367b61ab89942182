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

/// How much of a followed file is compared to notice that it was replaced. A line names itself and its time within
/// far less.
pub const FOLLOW_WINDOW_BYTES: usize = 4 << 10;

/// How often one look at a followed file begins anew because somebody rewrites it at the same time.
pub const FOLLOW_PASSES_MAX: usize = 4;

/// How many deleted files a follower remembers, in case they come back.
pub const FOLLOW_GONE_MAX: usize = 1024;

/// The largest cache that is read. One takes about 40 bytes per response, so that only damage makes it this large.
pub const CACHE_BYTES_MAX: u64 = 512 << 20;

/// How many findings about one file are put in order before they are handed out.
pub const FINDINGS_HELD_MAX: usize = 4096;

/// How far clocks of neighbours may be apart. The CLI stamps lines up to a second before the line they follow.
pub const CLOCK_SLACK_MILLIS: i64 = 1000;

/// The largest sidecar of a sub-agent that is read; real ones have some hundred bytes.
pub const SIDECAR_BYTES_MAX: u64 = 1 << 20;

/// The longest id or name that the index of a session keeps as it is. Real ones have less than a hundred bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// How many threads search. Two keep up with most disks and leave the rest of the machine to others.
pub const SEARCH_THREADS: usize = 2;

/// How many hits of one session may wait for the sessions before it, until its thread waits too.
pub const HITS_KEPT_MAX: usize = 1024;

/// How many hits of finished sessions may wait for those before them, until a thread waits too.
pub const HITS_WAITING_MAX: usize = 4096;

/// How much of either end of a session file is read for a list. The official SDKs read as much, so that both see the
/// same titles.
pub const END_BYTES: usize = 64 << 10;

/// How much of the beginning is read when the usual part shows no prompt: a first line with pictures in it fits.
pub const HEAD_BYTES_MAX: u64 = 4 << 20;

/// How much is searched at once when the last value of a key is wanted: most keys stand in every line.
pub(crate) const FIELD_WINDOW_BYTES: usize = 8 << 10;

/// How much may be read to fill in the counts of a list that nobody asked for: about a third of a second.
pub const LIST_UNREAD_BYTES_MAX: u64 = 64 << 20;

/// The longest description of an archived session that is read: room for tens of thousands of files.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The texts of an edit that are compared line by line; of longer ones all old lines stand before all new ones, since
/// comparing takes more than linear time.
pub const DIFF_BYTES_MAX: usize = 512 << 10;

/// Markdown that is shown as such; longer text stands as it is, since a page of its markup would stall a phone.
pub const MARKDOWN_BYTES_MAX: usize = 512 << 10;

/// What is shown of a tool's output, unless everything is wanted: a page of it at its beginning…
pub const OUTPUT_HEAD_BYTES: usize = 6 << 10;

/// … and a few lines of its end, where errors stand.
pub const OUTPUT_TAIL_BYTES: usize = 2 << 10;

/// What is shown of a tool's input, of thinking and of a diff, unless everything is wanted.
pub const INPUT_BYTES_SHOWN: usize = 12 << 10;

/// The part of an output in a file of its own that is taken into an export when everything is wanted.
pub const PERSISTED_BYTES_MAX: u64 = 8 << 20;

/// The largest picture that is put into a page, unless everything is wanted.
pub const PICTURE_BYTES_MAX: usize = 1 << 20;

/// How deep sub-agents of sub-agents are shown inside each other. The CLI itself nests a few levels at most; this
/// keeps a damaged session from filling the stack.
pub const AGENT_DEPTH_MAX: usize = 12;

/// How many bits of a signature may be set before the index begins another: an eighth. Then a text of several trigrams
/// that does not stand there seldom seems to.
pub const SIGNATURE_FILL_MAX: u32 = 1 << 13;

/// How many bytes of session files one signature stands for at most, so that looking there is quick.
pub const SIGNATURE_COVERS_MAX: u64 = 128 << 10;

/// How many trigrams of a text the index is asked for; more do not tell more.
pub const TRIGRAMS_ASKED_MAX: usize = 48;

/// How much unread text a search first adds to the index; more is searched without it.
pub const INDEX_CATCH_UP_BYTES: u64 = 32 << 20;

/// How many threads count at most: more than these wait for the disk.
pub(crate) const COUNT_THREADS_MAX: usize = 4;

/// How many threads read for a sum of costs. The disk is the bound for more, and two leave the machine usable.
pub const COST_THREADS_MAX: usize = 2;

/// Below this, starting a second thread takes longer than it saves.
pub const COST_THREAD_BYTES_MIN: u64 = 4 << 20;

/// How many conversations an entry may be nested in before the chain is given up. Real agents go a few deep.
pub(crate) const NESTING_MAX: usize = 256;

/// How many sessions may share an entry before the others are left out: with more, somebody copied a template.
pub(crate) const SHARERS_MAX: usize = 64;

/// How often HTML and links are looked for again in Markdown. What was hidden by a tag shows once the tag is text; more
/// than a few layers of that are nobody's prose.
pub(crate) const MARKDOWN_LAYERS_MAX: usize = 8;

/// More alternatives of a pattern than this are not worth looking for.
pub(crate) const ALTERNATIVES_MAX: usize = 32;
