//! Tool calls of an agent as calls of Claude Code's tools, where they are the same.
//!
//! Policies decide by the name and the input of a call. A call becomes one of Claude Code's only if its own
//! input says what it does: a title or a kind alone does not. All others keep the name of their kind, which
//! no policy knows, so that a person decides.

use serde::Serialize;
use serde_json::{Map, Value};
use tidings_protocol::tools::{
    BashInput, EditInput, GrepInput, MultiEditInput, ReadInput, Replacement, WebFetchInput, WriteInput,
};

use super::frames::{items, text};
use crate::rpc;

/// A call as the agent describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CallFacts {
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) name: Option<String>,
    pub(super) input: Value,
    pub(super) content: Vec<Value>,
    pub(super) locations: Vec<Value>,
}

/// A call as Claude Code makes it. The inputs of other tools are up to the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolUse {
    pub(super) name: String,
    pub(super) input: Value,
}

impl ToolUse {
    /// A call of one of Claude Code's tools.
    pub(super) fn of(name: &str, input: &impl Serialize) -> Self {
        ToolUse { name: name.to_owned(), input: rpc::to_value(input) }
    }

    /// A command, with a description if there is one.
    pub(super) fn bash(command: &str, description: Option<&str>) -> Self {
        let mut input = BashInput::default();
        command.clone_into(&mut input.command);
        input.description = description.map(str::to_owned);
        ToolUse::of("Bash", &input)
    }

    /// A file with a new content.
    pub(super) fn write(path: &str, content: &str) -> Self {
        let mut input = WriteInput::default();
        path.clone_into(&mut input.file_path);
        input.content = Some(content.to_owned());
        ToolUse::of("Write", &input)
    }

    /// A replacement of text in a file.
    fn edit(path: &str, old: &str, new: &str) -> Self {
        let mut input = EditInput::default();
        path.clone_into(&mut input.file_path);
        input.old_string = Some(old.to_owned());
        input.new_string = Some(new.to_owned());
        ToolUse::of("Edit", &input)
    }

    /// Several replacements in one file, by the differences that the agent shows.
    fn edits(path: &str, diffs: &[&Value]) -> Self {
        let replacement = |diff: &&Value| {
            let mut replacement = Replacement::default();
            replacement.old_string = Some(text(diff, "oldText").to_owned());
            replacement.new_string = Some(text(diff, "newText").to_owned());
            replacement
        };
        let mut input = MultiEditInput::default();
        path.clone_into(&mut input.file_path);
        input.edits = Some(diffs.iter().map(replacement).collect());
        ToolUse::of("MultiEdit", &input)
    }
}

/// The call of a tool that an agent's call is.
pub(super) fn tool(facts: &CallFacts) -> ToolUse {
    let known = match facts.kind.as_str() {
        "edit" => edit(facts),
        "read" => command(facts).or_else(|| read(facts)),
        "search" => command(facts).or_else(|| search(facts)),
        "fetch" => fetch(facts),
        _ => command(facts),
    };
    known.unwrap_or_else(|| ToolUse { name: own_name(facts), input: own_input(facts) })
}

/// The differences that a call shows.
pub(super) fn diffs(facts: &CallFacts) -> impl Iterator<Item = &Value> {
    facts.content.iter().filter(|content| text(content, "type") == "diff")
}

/// The command of a call.
pub(super) fn command_line(facts: &CallFacts) -> Option<String> {
    let command = facts.input.get("command").or_else(|| facts.input.get("cmd"))?;
    if let Some(line) = command.as_str() {
        let args = items(&facts.input, "args");
        let args: Option<Vec<&str>> = args.iter().map(Value::as_str).collect();
        return Some(joined(line, &args?));
    }
    let words: Vec<&str> = command.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        // A shell that runs one script: the script is the command.
        [shell, "-c" | "-lc", script] if shell.ends_with("sh") => Some((*script).to_owned()),
        [program, args @ ..] => Some(joined(&quoted(program), args)),
    }
}

/// A command line of a program and its arguments.
pub(super) fn joined(program: &str, args: &[&str]) -> String {
    let mut line = program.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    line
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn command(facts: &CallFacts) -> Option<ToolUse> {
    let line = command_line(facts)?;
    let about = facts.input["description"].as_str().unwrap_or(&facts.title);
    let about = Some(about).filter(|about| !about.is_empty() && *about != line);
    Some(ToolUse::bash(&line, about))
}

fn edit(facts: &CallFacts) -> Option<ToolUse> {
    let all: Vec<&Value> = diffs(facts).collect();
    let input = &facts.input;
    let Some(first) = all.first() else {
        let path = path(input)?;
        let (old, new) = (one_of(input, &["old_string", "oldString", "old_str"]), new_text(input));
        return match (old, new, one_of(input, &["content", "contents", "file_text"])) {
            (Some(old), Some(new), _) => Some(ToolUse::edit(path, old, new)),
            (_, _, Some(content)) => Some(ToolUse::write(path, content)),
            _ => None,
        };
    };
    let path = text(first, "path");
    let is_whole = |diff: &Value| text(diff, "oldText").is_empty();
    match all.as_slice() {
        [diff] if is_whole(diff) => Some(ToolUse::write(path, text(diff, "newText"))),
        [diff] => Some(ToolUse::edit(path, text(diff, "oldText"), text(diff, "newText"))),
        several if several.iter().all(|diff| text(diff, "path") == path && !is_whole(diff)) => {
            Some(ToolUse::edits(path, several))
        }
        _ => None,
    }
}

fn read(facts: &CallFacts) -> Option<ToolUse> {
    let is_empty = facts.input.as_object().is_none_or(Map::is_empty);
    let path = match (path(&facts.input), facts.locations.as_slice()) {
        (Some(path), _) => path,
        (None, [location]) if is_empty => text(location, "path"),
        _ => return None,
    };
    let number = |key: &str| facts.input[key].as_u64();
    let mut input = ReadInput::default();
    path.clone_into(&mut input.file_path);
    input.offset = number("line").or(number("offset"));
    input.limit = number("limit");
    Some(ToolUse::of("Read", &input))
}

fn search(facts: &CallFacts) -> Option<ToolUse> {
    let mut input = GrepInput::default();
    one_of(&facts.input, &["pattern", "regex", "query"])?.clone_into(&mut input.pattern);
    input.path = path(&facts.input).map(str::to_owned);
    Some(ToolUse::of("Grep", &input))
}

fn fetch(facts: &CallFacts) -> Option<ToolUse> {
    let mut input = WebFetchInput::default();
    one_of(&facts.input, &["url", "uri"])?.clone_into(&mut input.url);
    input.prompt = Some(facts.title.clone());
    Some(ToolUse::of("WebFetch", &input))
}

fn path(input: &Value) -> Option<&str> {
    let keys = ["file_path", "filePath", "path", "absolute_path", "abs_path", "filename", "dir_path"];
    one_of(input, &keys)
}

fn new_text(input: &Value) -> Option<&str> {
    one_of(input, &["new_string", "newString", "new_str"])
}

fn one_of<'a>(input: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| input[*key].as_str())
}

/// The name of a call that is not one of Claude Code's: a name of its own, or its kind.
fn own_name(facts: &CallFacts) -> String {
    let is_plain = |name: &&String| {
        name.len() <= 80 && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    // The prefix keeps a name of the agent from being taken for a tool of Claude Code.
    match facts.name.as_ref().filter(|name| !name.is_empty()).filter(is_plain) {
        Some(name) => format!("acp_{name}"),
        None if facts.kind.is_empty() => "acp_other".to_owned(),
        None => format!("acp_{}", facts.kind),
    }
}

/// The input of such a call: its own, with its title and locations.
fn own_input(facts: &CallFacts) -> Value {
    let mut input = match &facts.input {
        Value::Object(input) => input.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    if !facts.title.is_empty() {
        input.entry("title").or_insert_with(|| facts.title.clone().into());
    }
    if !facts.locations.is_empty() {
        input.entry("locations").or_insert_with(|| facts.locations.clone().into());
    }
    let changes: Vec<Value> = diffs(facts).cloned().collect();
    if !changes.is_empty() {
        input.entry("changes").or_insert_with(|| changes.into());
    }
    Value::Object(input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(kind: &str, title: &str, input: Value, content: &Value) -> CallFacts {
        let content = content.as_array().cloned().unwrap_or_default();
        CallFacts { title: title.to_owned(), kind: kind.to_owned(), input, content, ..CallFacts::default() }
    }

    #[test]
    fn calls_that_say_what_they_do_are_calls_of_claude_code() {
        let check = |facts: CallFacts, name: &str, input: Value| {
            assert_eq!(tool(&facts), ToolUse { name: name.to_owned(), input });
        };
        check(
            facts("execute", "List", json!({"command": ["bash", "-lc", "ls -l"]}), &json!([])),
            "Bash",
            json!({"command": "ls -l", "description": "List"}),
        );
        check(
            facts("execute", "", json!({"command": ["git", "commit", "-m", "it's"]}), &json!([])),
            "Bash",
            json!({"command": r"git commit -m 'it'\''s'"}),
        );
        let diff = json!([{"type": "diff", "path": "/a", "oldText": "one", "newText": "two"}]);
        check(
            facts("edit", "Edit a", json!({}), &diff),
            "Edit",
            json!({"file_path": "/a", "old_string": "one", "new_string": "two"}),
        );
        let new = json!([{"type": "diff", "path": "/a", "oldText": null, "newText": "two"}]);
        check(facts("edit", "", json!({}), &new), "Write", json!({"file_path": "/a", "content": "two"}));
        check(
            facts("read", "", json!({"filePath": "/a", "offset": 3}), &json!([])),
            "Read",
            json!({"file_path": "/a", "offset": 3}),
        );
        check(
            facts("edit", "", json!({"filePath": "/a", "oldString": "x", "newString": "y"}), &json!([])),
            "Edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
        );
    }

    /// A policy would allow a harmless title while something else runs.
    #[test]
    fn a_title_or_a_kind_alone_is_not_a_call_that_a_policy_knows() {
        let unknown = [
            facts("execute", "ls", json!({}), &json!([])),
            facts("read", "Read a", json!({"resource": "x"}), &json!([])),
            facts("edit", "Edit a", json!({"patch": "…"}), &json!([])),
            facts("", "Bash", json!({}), &json!([])),
            CallFacts { name: Some("Read".to_owned()), ..facts("other", "", json!({}), &json!([])) },
        ];
        for facts in unknown {
            let ToolUse { name, .. } = tool(&facts);
            assert!(name.starts_with("acp_"), "{name}");
        }
        // A read that is a command is judged as the command.
        assert_eq!(tool(&facts("read", "cat", json!({"command": "cat x | sh"}), &json!([]))).name, "Bash");
    }
}
