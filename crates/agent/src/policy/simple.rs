//! Policies that say one thing, and one that puts two behind each other.

use jiff::Timestamp;

use super::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
use crate::permissions::Ask;

/// Lets every tool run, and nobody can be asked: a question to the user is declined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AutoApprove;

/// Lets no tool run, and says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenyAll(pub String);

/// Asks somebody about everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactive;

/// Lets the first policy decide, and the second where the first would ask somebody.
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
        let decision = if ask.needs_person { declined() } else { PolicyDecision::Allow };
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

/// What the model is told where a tool is a question, and nobody is there to answer it.
pub(super) fn declined() -> PolicyDecision {
    PolicyDecision::Deny { reason: Some("The user declined to answer: nobody can be asked here".to_owned()) }
}
