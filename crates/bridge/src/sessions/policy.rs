//! Who answers before a person does.

use std::sync::Arc;

use jiff::Timestamp;
use tidings_agent::permissions::Ask;
use tidings_agent::policy::{
    AutoApprove, Decided, DenyAll, Interactive, PermissionPolicy, RuleTable, Then, TimeoutAction, Unattended,
};
use tidings_protocol::api::Policy;

use crate::hub::Hub;
use crate::journal::Key;

pub(super) fn policy(policy: Policy, hub: &Hub, key: &Key) -> Arc<dyn PermissionPolicy> {
    match policy {
        Policy::Ask => Arc::new(Interactive),
        Policy::Standard => Arc::new(Then(RuleTable::standard(), Interactive)),
        Policy::Unattended => Arc::new(WhileNobodyWatches {
            hub: hub.clone(),
            key: key.clone(),
            watched: Then(RuleTable::standard(), Interactive),
            alone: Then(RuleTable::standard(), Unattended::new(TimeoutAction::Deny)),
        }),
        Policy::Deny => {
            Arc::new(DenyAll("Nothing that has to be asked about may run in this session".to_owned()))
        }
        Policy::Allow => Arc::new(AutoApprove),
    }
}

/// A person is asked while one watches; the risk decides while nobody does.
struct WhileNobodyWatches {
    hub: Hub,
    key: Key,
    watched: Then<RuleTable, Interactive>,
    alone: Then<RuleTable, Unattended>,
}

impl PermissionPolicy for WhileNobodyWatches {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        if self.hub.watchers(&self.key) > 0 {
            self.watched.decide(ask, now)
        } else {
            self.alone.decide(ask, now)
        }
    }

    fn supports_interaction(&self) -> bool {
        self.hub.watchers(&self.key) > 0
    }
}
