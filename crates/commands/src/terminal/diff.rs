//! Changes of a tool call to files.

use serde_json::Value;
use tidings_transcript::export::unified_diff;

use super::line::Line;
use super::style::Style;

/// Maximum number of lines per call.
const LINES_MAX: usize = 80;

/// Returns the changes of a call: those that the tool reports, else those of its input. Empty for other
/// tools.
pub(super) fn diff(input: &Value, result: Option<&Value>) -> Vec<Line> {
    let mut lines = result.and_then(reported).unwrap_or_else(|| requested(input));
    let more = lines.len().saturating_sub(LINES_MAX);
    if more > 0 {
        lines.truncate(LINES_MAX);
        lines.push(Line::styled(
            &format!("… {more} more {}", if more == 1 { "line" } else { "lines" }),
            Style::DIM,
        ));
    }
    lines.into_iter().map(|line| line.indented(4)).collect()
}

/// Returns the changes that an input requests.
pub(super) fn requested(input: &Value) -> Vec<Line> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let edit = |edit: &Value| Some(between(&text(edit, "old_string")?, &text(edit, "new_string")?));
    if let Some(edits) = input.get("edits").and_then(Value::as_array) {
        return edits.iter().filter_map(edit).flatten().collect();
    }
    if let Some(lines) = edit(input) {
        return lines;
    }
    let content = text(input, "file_path").and_then(|_| text(input, "content")).unwrap_or_default();
    content.lines().map(|line| changed('+', line)).collect()
}

/// Returns the hunks that a tool reports.
fn reported(result: &Value) -> Option<Vec<Line>> {
    let hunks = result.get("structuredPatch")?.as_array()?;
    let mut lines = Vec::new();
    for hunk in hunks {
        let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or(0);
        let header = format!(
            "@@ -{},{} +{},{} @@",
            number("oldStart"),
            number("oldLines"),
            number("newStart"),
            number("newLines")
        );
        lines.push(Line::styled(&header, Style::DIM));
        lines.extend(hunk.get("lines")?.as_array()?.iter().filter_map(Value::as_str).map(marked));
    }
    (!lines.is_empty()).then_some(lines)
}

/// All lines of two texts with their changes, without the headers of a diff.
fn between(old: &str, new: &str) -> Vec<Line> {
    let diff = unified_diff(old, new, u16::MAX);
    diff.lines().filter(|line| !line.starts_with('@')).map(marked).collect()
}

/// A line of a diff, which begins with its mark.
fn marked(line: &str) -> Line {
    let mark = line.chars().next().unwrap_or(' ');
    changed(mark, line.get(mark.len_utf8()..).unwrap_or_default())
}

fn changed(mark: char, text: &str) -> Line {
    let style = match mark {
        '+' => Style::GREEN,
        '-' => Style::RED,
        _ => Style::PLAIN,
    };
    Line::styled(&format!("{mark}{text}"), style)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(input: &Value, result: Option<&Value>) -> Vec<String> {
        diff(input, result).iter().map(|line| line.text().trim().to_owned()).collect()
    }

    #[test]
    fn changes_are_shown_as_lines() {
        let edit = json!({"file_path": "a", "old_string": "one\ntwo\n", "new_string": "one\n2\u{1b}[0m\n"});
        assert_eq!(shown(&edit, None), ["one", "-two", "+2␛[0m"]);
        let patch = json!({"structuredPatch": [
            {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 1, "lines": [" a", "-b", "+c"]}]});
        assert_eq!(shown(&edit, Some(&patch)), ["@@ -3,1 +3,1 @@", "a", "-b", "+c"]);
        assert_eq!(
            shown(&json!({"file_path": "a", "content": "x\ny"}), Some(&json!({"structuredPatch": []}))),
            ["+x", "+y"]
        );
        assert_eq!(shown(&json!({"command": "ls"}), None), [] as [&str; 0]);
        let long = json!({"file_path": "a", "content": "x\n".repeat(100)});
        assert_eq!(shown(&long, None).last().map(String::as_str), Some("… 20 more lines"));
    }
}
