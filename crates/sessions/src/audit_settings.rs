//! Records changes of permissions and limits in the audit log.

use serde::Serialize;
use tidings_journal::AuditDraft;

use super::Sessions;
use super::running::command_ids;
use crate::Caller;
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
            let digest = is_secret.then(|| command_ids::digest(value));
            let text = (!is_secret).then(|| value.to_string());
            self.audit_line(caller, Some(session), format!("set {field}"), text, digest).await;
        }
    }

    /// Records an action on a session, or on files of the server's user.
    pub async fn audit_action(&self, caller: &Caller, session: Option<&str>, action: &str, object: &str) {
        self.audit_line(caller, session, action.to_owned(), Some(object.to_owned()), None).await;
    }

    async fn audit_line(
        &self,
        caller: &Caller,
        session: Option<&str>,
        decision: String,
        rule: Option<String>,
        digest: Option<String>,
    ) {
        let draft = AuditDraft {
            device: caller.device.clone(),
            session: session.map(str::to_owned),
            rule: rule.map(|rule| rule.chars().take(AUDIT_RULE_CHARS).collect()),
            digest,
            ..AuditDraft::new(self.config().clock.now(), caller.name.as_str(), decision)
        };
        let what = draft.decision.clone();
        if let Err(error) = self.broadcast().journal().audit(draft).await {
            tracing::error!(session, what, %error, "failed to write to the audit log");
        }
    }
}
