//! What is done to credentials and to trust, in the audit log.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Auth;
use crate::caller::Caller;
use crate::journal::AuditDraft;
use crate::limits::AUDIT_RULE_CHARS;

/// Takes lines for the audit log. It must not wait.
pub type AuditSink = Arc<dyn Fn(AuditDraft) + Send + Sync>;

/// The sink of a guard, once there is one.
#[derive(Default)]
pub(super) struct Audited(OnceLock<AuditSink>);

impl fmt::Debug for Audited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Audited")
    }
}

impl Auth {
    /// Says once where lines for the audit log go. Until then there are none.
    pub fn audit_to(&self, sink: AuditSink) {
        drop(self.0.audited.0.set(sink));
    }

    /// Notes that somebody has done something, such as `device revoked`, and to what.
    pub(super) fn note(&self, caller: &Caller, done: &str, about: &str, digest: Option<&str>) {
        let Some(sink) = self.0.audited.0.get() else { return };
        sink(AuditDraft {
            at: self.settings().clock.now(),
            who: caller.name.clone(),
            device: caller.device.clone(),
            session: None,
            ask: None,
            decision: done.to_owned(),
            rule: Some(about.chars().take(AUDIT_RULE_CHARS).collect()),
            scope: None,
            digest: digest.map(str::to_owned),
            changed: None,
            latency_ms: None,
        });
    }
}
