//! Limits of a fleet.

use std::time::Duration;

/// Interval at which the heads of changed sessions are announced to the fleet.
pub(crate) const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);

/// Time without an event after which the hash of a session's events is announced, too.
pub(crate) const HASH_AFTER: Duration = Duration::from_secs(2);

/// Events at the end of a session that the hash covers: reading more of them at each pause costs too much.
pub(crate) const HASHED_EVENTS: u64 = 256;

/// Hashes that are computed in one interval, so that a start with many sessions costs little at a time.
pub(crate) const HASHES_AT_ONCE: usize = 50;

/// Time without progress after which missing events are asked for: the stream may still bring them.
pub(crate) const ASK_AFTER: Duration = Duration::from_secs(4);

/// Sessions in one request for missing events.
pub(crate) const ASKED_SESSIONS: usize = 100;

/// Interval at which the end of the audit log is read for the fleet.
pub(crate) const AUDIT_HEAD_EVERY: Duration = Duration::from_secs(1);
