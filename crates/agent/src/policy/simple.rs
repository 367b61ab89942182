//! Policies with a constant decision, and a combination of two policies.

use jiff::Timestamp;

use super::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
use crate::permissions::Ask;

/// Allows every tool, except in protected folders. Questions to the user are declined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AutoApprove;

/// Denies every tool, with this message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenyAll(pub String);

/// Asks the user about everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactive;

/// Uses the decision of the first policy, or that of the second if the first would ask the user.
///
/// ```
/// use tidings_agent::policy::{RuleTable, Then, TimeoutAction, Unattended};
///
/// let while_nobody_is_connected = Then(RuleTable::standard(), Unattended::new(TimeoutAction::Deny));
/// # let _ = while_nobody_is_connected;
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Then<A, B>(pub A, pub B);

impl PermissionPolicy for AutoApprove {
    fn decide(&self, ask: &Ask, _now: Timestamp) -> Decided {
        let decision = match ask {
            _ if ask.needs_person => declined(),
            _ if ask.is_protected() => PolicyDecision::AskUser,
            _ => PolicyDecision::Allow,
        };
        Decided::new(decision, "auto-approve", DecisionSource::DefaultPolicy)
    }

    fn supports_interaction(&self) -> bool {
        false
    }
}

impl PermissionPolicy for DenyAll {
    fn decide(&self, _ask: &Ask, _now: Timestamp) -> Decided {
        let decision = PolicyDecision::Deny { reason: Some(self.0.clone()) };
        Decided::new(decision, "deny-all", DecisionSource::DefaultPolicy)
    }

    fn supports_interaction(&self) -> bool {
        false
    }
}

impl PermissionPolicy for Interactive {
    fn decide(&self, _ask: &Ask, _now: Timestamp) -> Decided {
        Decided::new(PolicyDecision::AskUser, "interactive", DecisionSource::DefaultPolicy)
    }

    fn supports_interaction(&self) -> bool {
        true
    }
}

impl<A: PermissionPolicy, B: PermissionPolicy> PermissionPolicy for Then<A, B> {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        let first = self.0.decide(ask, now);
        if first.decision == PolicyDecision::AskUser { self.1.decide(ask, now) } else { first }
    }

    fn supports_interaction(&self) -> bool {
        self.1.supports_interaction()
    }
}

/// The decision about a question to the user if no user can be asked.
pub(super) fn declined() -> PolicyDecision {
    PolicyDecision::Deny {
        reason: Some("The user declined to answer: no user can be asked in this session".to_owned()),
    }
}
