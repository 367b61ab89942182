//! What a registry makes of a question.

use jiff::Timestamp;
use tidings_agent::OutcomeFuture;
use tidings_agent::pending::Outcome;
use tidings_agent::permissions::{Answer, Ask, PermissionRegistry, Requested};

pub(crate) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Asks what somebody has to answer.
pub(crate) fn wait(registry: &PermissionRegistry, ask: Ask) -> OutcomeFuture<Answer> {
    match registry.request(ask, None, NOW).unwrap() {
        Requested::Waiting(waiting) => waiting,
        Requested::Settled(outcome) => panic!("{outcome:?}"),
    }
}

/// Asks what is answered already.
pub(crate) fn settled(registry: &PermissionRegistry, ask: Ask) -> Outcome<Answer> {
    match registry.request(ask, None, NOW).unwrap() {
        Requested::Settled(outcome) => outcome,
        Requested::Waiting(_) => panic!("nobody has answered"),
    }
}
