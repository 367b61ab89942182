//! Rule: an entry has the fields that its type needs.

use tidings_protocol::entry::{CompactOperation, Dialect, EntryKind};
use tidings_protocol::json::Raw;

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("conditional-field");

/// Fields that an entry needs depending on its type. Those of a tool call have a rule of their own.
#[derive(Debug)]
pub(super) struct ConditionalField;

impl Check for ConditionalField {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let (missing, because) = match seen.entry.kind() {
            EntryKind::User if is_missing_message(seen) && !is_command(seen) => {
                ("message", "a `user` entry that is not a command")
            }
            // The CLI's own system entries carry their text in other fields.
            EntryKind::System
                if (file.profile == Profile::Strict || seen.dialect == Dialect::Seed)
                    && seen.is_missing("message") =>
            {
                ("message", "a `system` entry")
            }
            EntryKind::CompactSystem if is_compacted(seen) && seen.is_missing("metadata") => {
                ("metadata", "a finished compaction")
            }
            _ => return,
        };
        let severity = file.profile.severity(Severity::Warning);
        found.about(RULE, severity, seen, format!("`{missing}` is missing; {because} has one"));
    }
}

/// An empty message counts as present.
fn is_missing_message(seen: &CheckedEntry<'_>) -> bool {
    seen.get("message").is_none_or(Raw::is_null)
}

/// Slash commands in the flat dialect need no text.
fn is_command(seen: &CheckedEntry<'_>) -> bool {
    seen.entry.subtype().as_deref() == Some("command")
        || ["command", "commandName"].iter().any(|key| !seen.is_missing(key))
}

fn is_compacted(seen: &CheckedEntry<'_>) -> bool {
    let operation = seen.get("message").and_then(Raw::text);
    operation.is_some_and(|operation| operation == CompactOperation::COMPACTED.as_str())
}
