//! Rule: a tool call names its tool and its input.

use tidings_protocol::entry::EntryKind;
use tidings_protocol::json::Raw;

use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("complete-tool-call");

/// A tool call names its tool and input: `toolName` and `toolArguments`, or `id`, `name` and `input` of a
/// block.
#[derive(Debug)]
pub(super) struct CompleteToolCall;

impl Check for CompleteToolCall {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        if seen.entry.kind() != EntryKind::Assistant {
            return;
        }
        let missing = match seen.entry.message_view().content {
            Some(content) if content.is_array() => missing_block_keys(content),
            _ => missing_flat_keys(seen),
        };
        if !missing.is_empty() {
            let severity = file.profile.severity(Severity::Warning);
            found.about(RULE, severity, seen, format!("The tool call lacks {}", missing.join(" and ")));
        }
    }
}

fn missing_flat_keys(seen: &CheckedEntry<'_>) -> Vec<&'static str> {
    let keys = [("toolName", "`toolName`"), ("toolArguments", "`toolArguments`")];
    let missing = keys.iter().filter(|(key, _)| seen.is_missing(key)).map(|(_, shown)| *shown);
    let missing: Vec<&str> = missing.collect();
    let is_call = seen.entry.subtype().as_deref() == Some("tool_use") || missing.len() == 1;
    if is_call { missing } else { Vec::new() }
}

fn missing_block_keys(content: Raw<'_>) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for block in content.items() {
        if block.get("type").and_then(Raw::text).is_none_or(|name| name != "tool_use") {
            continue;
        }
        let text = |key| block.get(key).and_then(Raw::text).is_some_and(|text| !text.get().is_empty());
        if !text("id") {
            missing.push("`id`");
        }
        if !text("name") {
            missing.push("`name`");
        }
        if block.get("input").is_none() {
            missing.push("`input`");
        }
    }
    missing
}
