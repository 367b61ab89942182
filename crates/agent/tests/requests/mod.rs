//! Helpers that register permission requests.

use jiff::Timestamp;
use tidings_agent::OutcomeFuture;
use tidings_agent::permissions::{Answer, Ask, PermissionRegistry, Requested};
use tidings_protocol::ui::RequestOutcome;

pub(crate) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Registers a request that stays open.
pub(crate) fn wait(registry: &PermissionRegistry, ask: Ask) -> OutcomeFuture<Answer> {
    match registry.request(ask, None, NOW).unwrap() {
        Requested::Waiting(waiting) => waiting,
        other => panic!("{other:?}"),
    }
}

/// Registers a request that is settled immediately.
pub(crate) fn settled(registry: &PermissionRegistry, ask: Ask) -> RequestOutcome<Answer> {
    match registry.request(ask, None, NOW).unwrap() {
        Requested::Settled(outcome) => outcome,
        other => panic!("the request is open: {other:?}"),
    }
}
