//! What the tree of a session can find wrong; damaged lines are the reader's to report, and [`check`](crate::check) looks
//! at far more. Where both find the same, the rules have the same names.

use tidings_protocol::entry::{Entry, EntryRef};
use tidings_protocol::json::same_json;

use super::Node;
use crate::{Finding, Place, Rule, Severity};

/// The parent that an entry names is in its file.
pub const KNOWN_PARENT: Rule = Rule::new("known-parent");
/// No entry follows itself, be it over others.
pub const PARENT_CYCLE: Rule = Rule::new("parent-cycle");
/// A uuid stands in a file once.
pub const UNIQUE_UUID: Rule = Rule::new("unique-uuid");
/// Entries of the same uuid have the same content.
pub const CONFLICTING_COPIES: Rule = Rule::new("conflicting-copies");
/// A tool that was called has answered.
pub const TOOL_RESULT_MISSING: Rule = Rule::new("tool-result-missing");
/// A tool that answered was called.
pub const TOOL_CALL_MISSING: Rule = Rule::new("tool-call-missing");

pub(super) fn finding(rule: Rule, severity: Severity, node: &Node, message: String) -> Finding {
    Finding { rule, severity, place: node.place, message, uuid: node.uuid.as_deref().map(Into::into) }
}

/// About an entry whose uuid is known already; `before` is the copy that counted so far.
pub(super) fn repeated(node: &Node, entry: &EntryRef<'_>, place: Place, before: Option<&Entry>) -> Finding {
    let line = node.place.line;
    let (rule, severity, message) = match before {
        Some(before) if before.raw() == entry.raw() => {
            (UNIQUE_UUID, Severity::Note, format!("The same entry as in line {line}"))
        }
        Some(before) if same_payload(&before.as_ref(), entry) => {
            (UNIQUE_UUID, Severity::Note, format!("Line {line} again, with other metadata"))
        }
        Some(_) => (
            CONFLICTING_COPIES,
            Severity::Warning,
            format!("Another content than in line {line} under the same uuid"),
        ),
        None => (CONFLICTING_COPIES, Severity::Warning, format!("The uuid of line {line} again")),
    };
    Finding { rule, severity, place, message, uuid: node.uuid.as_deref().map(Into::into) }
}

/// Whether two entries say the same, whatever is written around it.
fn same_payload(a: &EntryRef<'_>, b: &EntryRef<'_>) -> bool {
    const SAYING: [&str; 7] =
        ["type", "subtype", "message", "content", "attachment", "toolUseResult", "toolArguments"];
    SAYING.iter().all(|key| match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => same_json(a, b),
        (None, None) => true,
        _ => false,
    })
}
