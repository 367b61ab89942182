//! Records changes of permissions and limits in the audit log.

use serde::Serialize;

use super::Sessions;
use super::running::commands;
use crate::caller::Caller;
use crate::journal::AuditDraft;
use crate::limits::AUDIT_RULE_CHARS;

/// The fields of requests whose values are recorded.
const AUDITED: [&str; 8] = [
    "policy",
    "budget",
    "permission_mode",
    "mode",
    "allowed_tools",
    "add_dirs",
    "mcp_config",
    "continue_after_limit",
];

impl Sessions {
    /// Records the settings that a request has set, one line for each.
    pub(super) async fn audit_settings(&self, caller: &Caller, session: &str, request: &impl Serialize) {
        let request = serde_json::to_value(request).unwrap_or_default();
        for field in AUDITED {
            let Some(value) = request.get(field).filter(|value| !value.is_null()) else { continue };
            // The configuration of MCP servers can hold secrets.
            let is_secret = field == "mcp_config";
            let text = || value.to_string().chars().take(AUDIT_RULE_CHARS).collect();
            let draft = AuditDraft {
                at: self.config().clock.now(),
                who: caller.name.clone(),
                device: caller.device.clone(),
                session: Some(session.to_owned()),
                ask: None,
                decision: format!("set {field}"),
                rule: (!is_secret).then(text),
                scope: None,
                digest: is_secret.then(|| commands::digest(value)),
                changed: None,
                latency_ms: None,
            };
            if let Err(error) = self.broadcast().journal().audit(draft).await {
                tracing::error!(session, field, %error, "failed to write a change of settings to the audit log");
            }
        }
    }
}
