//! The whole input of a call, with every character visible.

use serde_json::Value;

use super::super::diff;
use super::super::line::Line;
use super::super::style::Style;

/// Formats the whole input of a call, with every character visible that could matter for a decision.
pub(super) fn input_lines(tool: &str, input: &Value) -> Vec<Line> {
    let Some(members) = input.as_object() else {
        return Line::exact(&input.to_string(), Style::PLAIN);
    };
    let main = main_member(tool).filter(|main| members.get(*main).is_some_and(Value::is_string));
    let mut lines = Vec::new();
    if let Some(text) = main.and_then(|main| members[main].as_str()) {
        lines.extend(Line::exact(text, Style::BOLD));
    }
    let changes = diff::requested(input);
    let in_changes =
        |key: &str| !changes.is_empty() && matches!(key, "old_string" | "new_string" | "content" | "edits");
    for (key, value) in members.iter().filter(|(key, _)| Some(key.as_str()) != main && !in_changes(key)) {
        lines.extend(member_lines(key, value));
    }
    lines.extend(changes);
    lines
}

/// Name of the main argument of a tool.
fn main_member(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" | "PowerShell" => "command",
        "Read" | "Edit" | "Write" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        "WebFetch" => "url",
        "WebSearch" => "query",
        "Glob" | "Grep" => "pattern",
        _ => return None,
    })
}

fn member_lines(key: &str, value: &Value) -> Vec<Line> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let lines = Line::exact(&text, Style::PLAIN);
    let name = || Line::exact(&format!("{key}:"), Style::DIM).into_iter().next().unwrap_or_default();
    if let [one] = lines.as_slice() {
        let mut line = name();
        line.push(" ", Style::PLAIN);
        line.extend(one.clone());
        return vec![line];
    }
    let mut all = vec![name()];
    all.extend(lines.into_iter().map(|line| line.indented(2)));
    all
}
