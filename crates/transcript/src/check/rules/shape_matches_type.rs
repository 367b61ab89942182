//! Rule: an entry has the shape that its type requires.

use tidings_protocol::entry::{AssistantSubtype, CompactOperation, Dialect, EntryKind};
use tidings_protocol::json::{Raw, Text};

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("shape-matches-type");

/// An entry has the shape that its type requires.
#[derive(Debug)]
pub(super) struct ShapeMatchesType;

impl Check for ShapeMatchesType {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let mut wrong = Vec::new();
        fields(seen, &mut wrong);
        match file.profile {
            // The rewrite dialect has types and messages of its own.
            Profile::Strict if file.dialect != Dialect::Rewrite => seed(seen, &mut wrong),
            _ => message(seen, &mut wrong),
        }
        let severity = file.profile.severity(Severity::Warning);
        for sentence in wrong {
            found.about(RULE, severity, seen, sentence);
        }
    }
}

/// Types of the common keys, for every type of entry.
fn fields(seen: &CheckedEntry<'_>, wrong: &mut Vec<String>) {
    if !seen.entry.kind().is_chained() && seen.entry.kind() != EntryKind::Unknown {
        return;
    }
    for (key, value) in &seen.members {
        let key = key.get();
        let expected = match &*key {
            "type" | "uuid" | "sessionId" if value.text().is_none() => "a string",
            "parentUuid" if value.text().is_none() && !value.is_null() => "a string or `null`",
            "timestamp" if value.text().is_none() && value.f64().is_none() => "a string",
            "isSidechain" | "isMeta" | "isError" | "isDeleted" | "isAborted"
                if value.bool().is_none() && !value.is_null() =>
            {
                "true or false"
            }
            "subtype" | "userType" if value.text().is_none() && !value.is_null() => "a string",
            _ => continue,
        };
        wrong.push(format!("`{key}` should be {expected}"));
    }
}

/// The message of an entry in a file of the CLI.
fn message(seen: &CheckedEntry<'_>, wrong: &mut Vec<String>) {
    let role = match seen.entry.kind() {
        EntryKind::User => "user",
        EntryKind::Assistant => "assistant",
        EntryKind::Attachment if !seen.get("attachment").is_some_and(Raw::is_object) => {
            wrong.push("`attachment` should be an object".to_owned());
            return;
        }
        _ => return,
    };
    let Some(message) = seen.get("message").filter(|message| !message.is_null() && message.text().is_none())
    else {
        return;
    };
    if !message.is_object() {
        wrong.push("`message` should be an object or a string".to_owned());
        return;
    }
    match message.get("content") {
        Some(content) if content.text().is_some() || content.is_array() => {}
        _ => wrong.push("`message.content` should be a string or a list of blocks".to_owned()),
    }
    if let Some(found) = message.get("role").and_then(Raw::text)
        && found != role
    {
        wrong.push(format!("`message.role` is `{}` in an entry of type `{role}`", found.get()));
    }
}

/// The tables of the session specification: the shape of a message, and the keys of each type.
fn seed(seen: &CheckedEntry<'_>, wrong: &mut Vec<String>) {
    let kind = seen.entry.kind();
    let own: &[&str] = match kind {
        EntryKind::User => &["userType"],
        EntryKind::Assistant => &["subtype", "toolName", "toolArguments"],
        EntryKind::System => &["subtype", "isError", "isMeta"],
        EntryKind::CompactSystem => &["metadata"],
        _ => {
            if let Some(name) = seen.entry.type_name() {
                wrong.push(format!("`{name}` is not one of the four types"));
            }
            return;
        }
    };
    if let Some(message) =
        seen.get("message").filter(|message| !message.is_null() && message.text().is_none())
    {
        let found = if message.is_object() { "an object" } else { "something else" };
        wrong.push(format!("`message` should be a string and is {found}"));
    }
    for key in ["toolName", "toolArguments", "metadata"] {
        if !own.contains(&key) && seen.get(key).is_some() {
            wrong.push(format!("`{key}` does not belong to `{kind}`"));
        }
    }
    for (key, is_object) in [("toolArguments", true), ("metadata", true), ("toolName", false)] {
        let Some(value) = seen.get(key).filter(|value| own.contains(&key) && !value.is_null()) else {
            continue;
        };
        if is_object && !value.is_object() {
            wrong.push(format!("`{key}` should be an object"));
        } else if !is_object && value.text().is_none() {
            wrong.push(format!("`{key}` should be a string"));
        }
    }
    subtype(seen, wrong);
}

/// The fields required by a subtype.
fn subtype(seen: &CheckedEntry<'_>, wrong: &mut Vec<String>) {
    let subtype = seen.entry.subtype();
    let flag = |key: &str| seen.get(key).and_then(Raw::bool) == Some(true);
    match (seen.entry.kind(), subtype.as_deref()) {
        (EntryKind::Assistant, Some(name)) if !is_known(name, AssistantSubtype::KNOWN) => {
            wrong.push(format!("`{name}` is not a subtype of `assistant`"));
        }
        (EntryKind::Assistant, Some(name)) if name != "tool_use" && seen.get("toolName").is_some() => {
            wrong.push(format!("`toolName` does not belong to the subtype `{name}`"));
        }
        (EntryKind::System, Some("error")) if !flag("isError") => {
            wrong.push("`isError` should be true in an error".to_owned());
        }
        (EntryKind::System, Some("meta")) if !flag("isMeta") => {
            wrong.push("`isMeta` should be true in metadata".to_owned());
        }
        (EntryKind::System, Some(name)) if !is_known(name, &["tool_result", "error", "meta"]) => {
            wrong.push(format!("`{name}` is not a subtype of `system`"));
        }
        (EntryKind::CompactSystem, _) => {
            let operation = seen.get("message").and_then(Raw::text).map(Text::get);
            if let Some(name) = operation.filter(|name| !is_known(name, CompactOperation::KNOWN)) {
                wrong.push(format!("`{name}` is not a step of a compaction"));
            }
        }
        _ => {}
    }
}

fn is_known(name: &str, known: &[&str]) -> bool {
    known.contains(&name)
}
