//! What the tree of a session can find wrong; damaged lines are the reader's to report.

use tidings_protocol::entry::{Entry, EntryRef};
use tidings_protocol::json::same_json;

use super::Node;
use crate::{Finding, Place, Rule, Severity};

/// The parent that an entry names is not in its file.
pub const DANGLING_PARENT: Rule = Rule::new("dangling-parent");
/// An entry names itself as its parent.
pub const SELF_PARENT: Rule = Rule::new("self-parent");
/// Entries follow each other in a circle.
pub const PARENT_CYCLE: Rule = Rule::new("parent-cycle");
/// A uuid stands in the file more than once, with the same content.
pub const REPEATED_UUID: Rule = Rule::new("repeated-uuid");
/// A uuid stands in the file more than once, with another content.
pub const CONFLICTING_UUID: Rule = Rule::new("conflicting-uuid");
/// A tool was called and never answered.
pub const MISSING_RESULT: Rule = Rule::new("missing-tool-result");
/// A tool answered that was never called.
pub const MISSING_CALL: Rule = Rule::new("missing-tool-call");

pub(super) fn finding(rule: Rule, severity: Severity, node: &Node, message: String) -> Finding {
    Finding { rule, severity, place: node.place, message, uuid: node.uuid.as_deref().map(Into::into) }
}

/// About an entry whose uuid is known already; `before` is the copy that counted so far.
pub(super) fn repeated(node: &Node, entry: &EntryRef<'_>, place: Place, before: Option<&Entry>) -> Finding {
    let line = node.place.line;
    let (rule, severity, message) = match before {
        Some(before) if before.raw() == entry.raw() => {
            (REPEATED_UUID, Severity::Note, format!("The same entry as in line {line}"))
        }
        Some(before) if same_payload(&before.as_ref(), entry) => {
            (REPEATED_UUID, Severity::Note, format!("Line {line} again, with other metadata"))
        }
        Some(_) => (
            CONFLICTING_UUID,
            Severity::Warning,
            format!("Another content than in line {line} under the same uuid"),
        ),
        None => (CONFLICTING_UUID, Severity::Warning, format!("The uuid of line {line} again")),
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
