//! Tool calls of an agent as calls of Claude Code's tools, where they are the same.
//!
//! Policies decide by the name and the input of a call. A call becomes one of Claude Code's only if its own
//! input says what it does: a title or a kind alone does not. All others keep the name of their kind, which
//! no policy knows, so that a person decides.

use serde_json::{Map, Value, json};

use super::frames::{items, text};

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

/// The name of the tool, and its input.
pub(super) fn tool(facts: &CallFacts) -> (String, Value) {
    let known = match facts.kind.as_str() {
        "edit" => edit(facts),
        "read" => command(facts).or_else(|| read(facts)),
        "search" => command(facts).or_else(|| search(facts)),
        "fetch" => fetch(facts),
        _ => command(facts),
    };
    known.unwrap_or_else(|| (own_name(facts), own_input(facts)))
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

fn command(facts: &CallFacts) -> Option<(String, Value)> {
    let line = command_line(facts)?;
    let mut input = json!({"command": line});
    let about = facts.input["description"].as_str().unwrap_or(&facts.title);
    if !about.is_empty() && about != line {
        input["description"] = json!(about);
    }
    Some(("Bash".to_owned(), input))
}

fn edit(facts: &CallFacts) -> Option<(String, Value)> {
    let all: Vec<&Value> = diffs(facts).collect();
    let input = &facts.input;
    let Some(first) = all.first() else {
        let path = path(input)?;
        let (old, new) = (one_of(input, &["old_string", "oldString", "old_str"]), new_text(input));
        return match (old, new, one_of(input, &["content", "contents", "file_text"])) {
            (Some(old), Some(new), _) => {
                Some(("Edit".to_owned(), json!({"file_path": path, "old_string": old, "new_string": new})))
            }
            (_, _, Some(content)) => {
                Some(("Write".to_owned(), json!({"file_path": path, "content": content})))
            }
            _ => None,
        };
    };
    let path = text(first, "path");
    let is_whole = |diff: &Value| diff["oldText"].as_str().is_none_or(str::is_empty);
    match all.as_slice() {
        [diff] if is_whole(diff) => {
            Some(("Write".to_owned(), json!({"file_path": path, "content": diff["newText"]})))
        }
        [diff] => Some((
            "Edit".to_owned(),
            json!({"file_path": path, "old_string": diff["oldText"], "new_string": diff["newText"]}),
        )),
        several if several.iter().all(|diff| text(diff, "path") == path && !is_whole(diff)) => {
            let edits: Vec<Value> = several
                .iter()
                .map(|diff| json!({"old_string": diff["oldText"], "new_string": diff["newText"]}))
                .collect();
            Some(("MultiEdit".to_owned(), json!({"file_path": path, "edits": edits})))
        }
        _ => None,
    }
}

fn read(facts: &CallFacts) -> Option<(String, Value)> {
    let is_empty = facts.input.as_object().is_none_or(Map::is_empty);
    let path = match (path(&facts.input), facts.locations.as_slice()) {
        (Some(path), _) => path,
        (None, [location]) if is_empty => text(location, "path").to_owned(),
        _ => return None,
    };
    let mut input = json!({"file_path": path});
    for (own, key) in [("offset", "offset"), ("limit", "limit"), ("line", "offset")] {
        if let Some(number) = facts.input[own].as_u64() {
            input[key] = json!(number);
        }
    }
    Some(("Read".to_owned(), input))
}

fn search(facts: &CallFacts) -> Option<(String, Value)> {
    let pattern = one_of(&facts.input, &["pattern", "regex", "query"])?;
    let mut input = json!({"pattern": pattern});
    if let Some(path) = path(&facts.input) {
        input["path"] = json!(path);
    }
    Some(("Grep".to_owned(), input))
}

fn fetch(facts: &CallFacts) -> Option<(String, Value)> {
    let url = one_of(&facts.input, &["url", "uri"])?;
    Some(("WebFetch".to_owned(), json!({"url": url, "prompt": facts.title})))
}

fn path(input: &Value) -> Option<String> {
    let keys = ["file_path", "filePath", "path", "absolute_path", "abs_path", "filename", "dir_path"];
    one_of(input, &keys).map(str::to_owned)
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
        input.entry("title").or_insert_with(|| json!(facts.title));
    }
    if !facts.locations.is_empty() {
        input.entry("locations").or_insert_with(|| json!(facts.locations));
    }
    let changes: Vec<&Value> = diffs(facts).collect();
    if !changes.is_empty() {
        input.entry("changes").or_insert_with(|| json!(changes));
    }
    Value::Object(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(kind: &str, title: &str, input: Value, content: &Value) -> CallFacts {
        let content = content.as_array().cloned().unwrap_or_default();
        CallFacts { title: title.to_owned(), kind: kind.to_owned(), input, content, ..CallFacts::default() }
    }

    #[test]
    fn calls_that_say_what_they_do_are_calls_of_claude_code() {
        let check =
            |facts: CallFacts, name: &str, input: Value| assert_eq!(tool(&facts), (name.to_owned(), input));
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
            let (name, _) = tool(&facts);
            assert!(name.starts_with("acp_"), "{name}");
        }
        // A read that is a command is judged as the command.
        assert_eq!(tool(&facts("read", "cat", json!({"command": "cat x | sh"}), &json!([]))).0, "Bash");
    }
}
