//! Limits and times of a fleet, each with its reason.

use std::time::Duration;

/// Events in one unit: enough to make the cost of a unit small, and few enough for a reader to apply at once.
pub const UNIT_EVENTS_MAX: usize = 1000;

/// Bytes of events in one unit, unless one event alone is longer.
pub const UNIT_BYTES_MAX: usize = 384 << 10;

/// Bytes of one message. Servers accept 1 MiB by default, headers included.
pub const PART_BYTES_MAX: usize = 512 << 10;

/// Messages of one atomic batch; the limit of the server.
pub const PARTS_MAX: usize = 1000;

/// Bytes of a request to another node: one message, with room for its headers.
pub const REQUEST_BYTES_MAX: usize = 900 << 10;

/// Bytes of a reply, in as many messages as it needs.
pub const REPLY_BYTES_MAX: usize = 64 << 20;

/// Interval of pings to the server: a stopped server is noticed after two of them.
pub const PING_EVERY: Duration = Duration::from_secs(1);

/// Time for one call to the server. A new leader of a cluster needs about 5 seconds, in several attempts.
pub const CALL_MAX: Duration = Duration::from_secs(3);

/// Time for connecting.
pub const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Longest pause between two attempts.
pub const RETRY_MAX: Duration = Duration::from_secs(2);

/// Pause before another attempt while the storage is full.
pub const FULL_RETRY: Duration = Duration::from_secs(1);

/// Interval of heartbeats.
pub const BEAT_EVERY: Duration = Duration::from_secs(1);

/// Time without a heartbeat after which a node is unreachable.
pub const BEAT_LOST: Duration = Duration::from_secs(5);

/// Time for a command that the owner has to answer.
pub const COMMAND_MAX: Duration = Duration::from_secs(30);

/// Interval in which a reader stores its position in the stream.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Deleted sessions whose messages wait to be removed: a thousand are removed in about a second.
pub const REMOVALS_MAX: usize = 10_000;

/// Attempts to remove the messages of a deleted session: a new leader is found meanwhile.
pub const REMOVE_ATTEMPTS: usize = 5;

/// Lifetime of a request for messages: a reader that the server has lost is noticed after it.
pub const PULL_MAX: Duration = Duration::from_secs(4);

/// Messages that are on their way to a reader at most.
pub const PULL_MESSAGES: usize = 500;

/// Interval in which the server tells a waiting reader that it is still there; it misses two at most.
pub const PULL_BEAT: Duration = Duration::from_millis(1500);

/// Interval in which a node looks at the stream and the bucket, to notice that they were replaced or purged.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Time in which the same session is published again once at most, however many nodes ask for it.
pub const AGAIN_EVERY: Duration = Duration::from_secs(10);

/// Time for which a unit of an unknown node waits for the node's membership, which comes on another way.
pub const MEMBERSHIP_WAIT: Duration = Duration::from_secs(1);

/// Time for which a name that is not a member is not searched for again.
pub const STRANGER_FOR: Duration = Duration::from_secs(10);

/// Names that are remembered for that.
pub const STRANGERS_MAX: usize = 1000;

/// Sessions that are published at the same time.
pub const REPLICATION_TASKS: usize = 4;

/// Requests of other nodes that are handled at the same time.
pub const REQUESTS_AT_ONCE: usize = 64;

/// Numbers of requests that are remembered for each sender, against repeated ones.
pub const REQUEST_WINDOW: u64 = 4096;

/// Runs of senders that are remembered.
pub const SENDERS_MAX: usize = 10_000;

/// Members and devices of a fleet.
pub const RECORDS_MAX: usize = 100_000;

/// Keys of a fleet that are kept. Each removal of a member adds one; what was encrypted with a dropped one
/// cannot be read from the stream, and is asked for again.
pub const FLEET_KEYS_MAX: usize = 64;

/// Time for which a message with an unknown key waits for it: the key comes on another way.
pub const KEY_WAIT: Duration = Duration::from_secs(10);

/// Pages of a node's heads: the sessions of one node are spread over them, and only changed ones are sent.
pub const HEAD_PAGES: usize = 16;

/// Interval in which a page of heads is sent again without a change: the bucket may have lost it.
pub const HEADS_EVERY: Duration = Duration::from_secs(30);

/// Heads in one page: a message of the server holds about as many.
pub const PAGE_HEADS_MAX: usize = 5000;

/// Pairing codes that are remembered as used. They live for a minute.
pub const USED_PAIRINGS_MAX: usize = 1000;

/// Time for which an invitation is valid.
pub const INVITE_LIFETIME: Duration = Duration::from_secs(15 * 60);
