//! Audit log entries for changes to credentials and trust.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tidings_journal::AuditDraft;
use tidings_sessions::Caller;
use tidings_sessions::limits::AUDIT_RULE_CHARS;

use super::Auth;
use super::peer::Peer;

/// A sink for audit log entries. It must not block.
pub type AuditSink = Arc<dyn Fn(AuditDraft) + Send + Sync>;

/// The sink, once it is set.
#[derive(Default)]
pub(super) struct AuditSlot(OnceLock<AuditSink>);

impl fmt::Debug for AuditSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditSlot")
    }
}

impl Auth {
    /// Sets the sink for audit log entries. Only the first call counts; earlier entries are dropped.
    pub fn audit_to(&self, sink: AuditSink) {
        drop(self.0.audit_slot.0.set(sink));
    }

    /// Writes an entry: the caller, the action, such as `device revoked`, and its object.
    pub(super) fn audit(&self, caller: &Caller, done: &str, about: &str, digest: Option<&str>) {
        self.audit_as((caller.name.clone(), caller.device.clone()), done, about, digest);
    }

    /// Writes an entry about a wrong credential, such as `sign-in failed`. An address that tries many gets
    /// few entries.
    pub(super) fn audit_failure(&self, done: &str, peer: &Peer) {
        if self.0.limiter.logs_failure(peer) {
            self.audit_as(("unknown".to_owned(), None), done, &peer.to_string(), None);
        }
    }

    fn audit_as(
        &self,
        (who, device): (String, Option<String>),
        done: &str,
        about: &str,
        digest: Option<&str>,
    ) {
        let Some(sink) = self.0.audit_slot.0.get() else { return };
        sink(AuditDraft {
            device,
            rule: Some(about.chars().take(AUDIT_RULE_CHARS).collect()),
            digest: digest.map(str::to_owned),
            ..AuditDraft::new(self.settings().clock.now(), who, done)
        });
    }
}
