//! The requests that lines of the audit log are about. The log has their digests; the requests themselves are
//! in the journal for as long as their sessions are.

use serde::Serialize;
use serde_json::Value;
use tidings_journal::{AskId, AuditEntry, Key};

use super::Sessions;
use super::requests::asks::{PendingRequest, pending_request};
use crate::limits::AUDIT_RULE_CHARS;

/// The request that a line of the audit log is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditedRequest {
    /// Name of the tool.
    tool: String,
    /// The command, path or URL.
    target: String,
    /// The same of the input that ran in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran: Option<String>,
}

impl Sessions {
    /// The request of a line, if its session is still there.
    pub async fn audited_request(&self, entry: &AuditEntry) -> Option<AuditedRequest> {
        let key = Key::new(entry.session.as_deref()?).ok()?;
        let id = AskId::new(entry.ask.as_deref()?).ok()?;
        let journal = self.broadcast().journal();
        let ask = journal.known_ask(&key, &id).await.ok()??;
        let PendingRequest::Permission(permission) = pending_request(&ask, 0)? else { return None };
        let tool = permission.details.tool_name;
        let target = permission.request.map(|request| request.target);
        let ran = match entry.changed {
            Some(_) => {
                let outcome = journal.outcome(&key, &id).await.ok().flatten();
                let answer = outcome.and_then(|outcome| outcome.answer().cloned());
                let answer: Option<Value> = answer.and_then(|answer| serde_json::from_str(&answer).ok());
                answer.and_then(|answer| Some(target_of(answer.get("updated_input")?)))
            }
            None => None,
        };
        let target = target.unwrap_or_else(|| target_of(&permission.details.input));
        Some(AuditedRequest { tool, target: shortened(&target), ran: ran.as_deref().map(shortened) })
    }
}

/// The member of an input that names what the call is about, or else the whole input.
fn target_of(input: &Value) -> String {
    let named = ["command", "file_path", "notebook_path", "url", "path"];
    let text = named.iter().find_map(|name| input.get(name)?.as_str());
    text.map_or_else(|| input.to_string(), str::to_owned)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(AUDIT_RULE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
