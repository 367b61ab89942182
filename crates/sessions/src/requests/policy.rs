//! Policies, which may answer before a user does.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use tidings_agent::permissions::Ask;
use tidings_agent::policy::{
    AutoApprove, Decided, DenyAll, Interactive, PermissionPolicy, RuleTable, Then, TimeoutAction, Unattended,
};
use tidings_api::Policy;
use tidings_journal::Key;
use tidings_journal::broadcast::Broadcast;

use crate::Config;
use crate::limits::JUDGED_MAX;

pub(crate) fn policy(
    policy: Policy,
    broadcast: &Broadcast,
    key: &Key,
    judged: &Arc<JudgedRequests>,
) -> Arc<dyn PermissionPolicy> {
    let policy = named(policy, broadcast, key);
    Arc::new(RecordingPolicy { policy, judged: Arc::clone(judged) })
}

/// The policy of a new agent. A server that no longer allows `allow` asks instead.
pub(crate) fn allowed(policy: Policy, config: &Config) -> Policy {
    if policy == Policy::Allow && !config.allow_bypass { Policy::Ask } else { policy }
}

fn named(policy: Policy, broadcast: &Broadcast, key: &Key) -> Arc<dyn PermissionPolicy> {
    match policy {
        Policy::Ask | Policy::Unknown => Arc::new(Interactive),
        Policy::Standard => Arc::new(Then(RuleTable::standard(), Interactive)),
        Policy::Unattended => Arc::new(AskWhileAttended {
            broadcast: broadcast.clone(),
            key: key.clone(),
            attended: Then(RuleTable::standard(), Interactive),
            unattended: Then(RuleTable::standard(), Unattended::new(TimeoutAction::Deny)),
        }),
        Policy::Deny => {
            Arc::new(DenyAll("The policy of this session denies every permission request".to_owned()))
        }
        Policy::Allow => Arc::new(AutoApprove),
    }
}

/// Asks users while one is subscribed who can answer; otherwise the risk decides.
struct AskWhileAttended {
    broadcast: Broadcast,
    key: Key,
    attended: Then<RuleTable, Interactive>,
    unattended: Then<RuleTable, Unattended>,
}

impl PermissionPolicy for AskWhileAttended {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        if self.broadcast.is_attended(&self.key) {
            self.attended.decide(ask, now)
        } else {
            self.unattended.decide(ask, now)
        }
    }

    fn supports_interaction(&self) -> bool {
        self.broadcast.is_attended(&self.key)
    }
}

/// Digests of recently judged requests. The event of a decision without an ask says who made it and not about
/// which input; the audit log needs both.
#[derive(Debug, Default)]
pub(crate) struct JudgedRequests(Mutex<VecDeque<(String, String)>>);

impl JudgedRequests {
    /// The digest of a recently judged tool call.
    pub(crate) fn digest_of(&self, tool_use_id: &str) -> Option<String> {
        self.0.lock().iter().rev().find(|(id, _)| id == tool_use_id).map(|(_, digest)| digest.clone())
    }

    fn record(&self, ask: &Ask) {
        let mut judged = self.0.lock();
        if judged.len() >= JUDGED_MAX {
            judged.pop_front();
        }
        judged.push_back((ask.key.tool_use_id.clone(), ask.digest.to_string()));
    }
}

/// Delegates to another policy, and records the digests.
struct RecordingPolicy {
    policy: Arc<dyn PermissionPolicy>,
    judged: Arc<JudgedRequests>,
}

impl PermissionPolicy for RecordingPolicy {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        self.judged.record(ask);
        self.policy.decide(ask, now)
    }

    fn supports_interaction(&self) -> bool {
        self.policy.supports_interaction()
    }
}
