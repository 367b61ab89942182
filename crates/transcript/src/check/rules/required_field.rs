//! Rule: an entry of the tree has the fields that all entries have.

use tidings_protocol::entry::EntryKind;

use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("required-field");

/// Entries of the tree have `type`, `uuid`, `timestamp` and `sessionId`; a compaction step has a `subtype`.
#[derive(Debug)]
pub(super) struct RequiredField;

impl Check for RequiredField {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let entry = &seen.entry;
        let mut missing = Vec::new();
        if seen.is_missing("type") {
            missing.push("`type`");
        }
        if entry.kind().is_chained() {
            if seen.is_missing("uuid") {
                missing.push("`uuid`");
            }
            if seen.is_missing("timestamp") {
                missing.push("`timestamp`");
            }
            if seen.is_missing("sessionId") {
                missing.push("`sessionId`");
            }
        }
        if entry.kind() == EntryKind::CompactSystem && seen.is_missing("message") {
            missing.push("`message`");
        }
        if missing.is_empty() {
            return;
        }
        let severity = file.profile.severity(Severity::Warning);
        found.about(RULE, severity, seen, format!("{} missing", are(&missing)));
    }
}

fn are(keys: &[&str]) -> String {
    format!("{} {}", keys.join(", "), if keys.len() == 1 { "is" } else { "are" })
}
