//! Rules that loading the tree of a session checks. The reader reports damaged lines, and
//! [`check`](crate::check) has many more rules. Where both find the same, the rules have the same names.

use tidings_protocol::entry::{Entry, EntryRef};
use tidings_protocol::json::same_json;

use super::Node;
use crate::{Finding, Position, Rule, Severity};

/// The parent that an entry names is in its file.
pub const KNOWN_PARENT: Rule = Rule::new("known-parent");
/// An entry is not its own ancestor.
pub const PARENT_CYCLE: Rule = Rule::new("parent-cycle");
/// A uuid occurs in a file once.
pub const UNIQUE_UUID: Rule = Rule::new("unique-uuid");
/// Entries with the same uuid have the same content.
pub const CONFLICTING_COPIES: Rule = Rule::new("conflicting-copies");
/// A tool call has a result.
pub const TOOL_RESULT_MISSING: Rule = Rule::new("tool-result-missing");
/// A tool result has a call.
pub const TOOL_CALL_MISSING: Rule = Rule::new("tool-call-missing");

pub(super) fn finding(rule: Rule, severity: Severity, node: &Node, message: String) -> Finding {
    Finding { rule, severity, place: node.place, message, uuid: node.uuid.as_deref().map(Into::into) }
}

/// The finding about a repeated uuid; `before` is the copy that counted so far.
pub(super) fn repeated(
    node: &Node,
    entry: &EntryRef<'_>,
    place: Position,
    before: Option<&Entry>,
) -> Finding {
    let line = node.place.line;
    let (rule, severity, message) = match before {
        Some(before) if before.raw() == entry.raw() => {
            (UNIQUE_UUID, Severity::Note, format!("The entry repeats line {line}"))
        }
        Some(before) if same_payload(&before.as_ref(), entry) => {
            (UNIQUE_UUID, Severity::Note, format!("The entry repeats line {line} with other metadata"))
        }
        Some(_) => (
            CONFLICTING_COPIES,
            Severity::Warning,
            format!("The entry has the uuid of line {line} and other contents"),
        ),
        None => (CONFLICTING_COPIES, Severity::Warning, format!("The entry has the uuid of line {line}")),
    };
    Finding { rule, severity, place, message, uuid: node.uuid.as_deref().map(Into::into) }
}

/// Returns true if two entries have the same message, ignoring metadata.
fn same_payload(a: &EntryRef<'_>, b: &EntryRef<'_>) -> bool {
    const SAYING: [&str; 7] =
        ["type", "subtype", "message", "content", "attachment", "toolUseResult", "toolArguments"];
    SAYING.iter().all(|key| match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => same_json(a, b),
        (None, None) => true,
        _ => false,
    })
}
