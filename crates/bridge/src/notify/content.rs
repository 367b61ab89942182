//! Content of a request in a notification: all of it, or no button that allows.

use serde_json::{Map, Value};
use tidings_agent::permissions::is_hidden;
use tidings_protocol::tools::canonical_name;

/// The space of a notification that is certainly visible. Systems cut longer texts without saying so; the
/// payload of a push message, about 4 KB, and the messages of ntfy, 4,096 bytes, are larger in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) chars_max: usize,
    pub(super) lines_max: usize,
}

impl Space {
    /// A notification of a browser: Android expands to about ten lines, desktop systems show about four long
    /// ones.
    pub(super) const BROWSER: Space = Space { chars_max: 240, lines_max: 4 };
}

/// The text that shows everything that a tool call would do; `None` if the notification cannot show all of
/// it, so that it must be opened.
pub(super) fn whole_content(tool: &str, input: &Value, space: Space) -> Option<String> {
    let text = text(tool, input.as_object()?)?;
    let Space { chars_max, lines_max } = space;
    let fits = text.chars().count() <= chars_max && text.split('\n').count() <= lines_max;
    let is_visible = |c: char| c == '\n' || !(c.is_control() || is_hidden(c));
    (fits && text.chars().all(is_visible)).then_some(text)
}

fn text(tool: &str, input: &Map<String, Value>) -> Option<String> {
    let field = |key: &str| input.get(key).and_then(Value::as_str);
    // An input with other fields does more than the known ones say.
    let has_only = |known: &[&str]| {
        let is_unset = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
        input.iter().all(|(key, value)| known.contains(&key.as_str()) || is_unset(value))
    };
    match canonical_name(tool) {
        // The model's description is not what runs.
        "Bash" if has_only(&["command", "description", "timeout"]) => {
            field("command").map(|command| format!("Bash: {command}"))
        }
        "Write" if has_only(&["file_path", "content"]) => {
            Some(format!("Write {}:\n{}", field("file_path")?, field("content")?))
        }
        "Edit" if has_only(&["file_path", "old_string", "new_string", "replace_all"]) => {
            let (path, old, new) = (field("file_path")?, field("old_string")?, field("new_string")?);
            let all = if input.get("replace_all") == Some(&Value::Bool(true)) { " (all places)" } else { "" };
            let marked = |mark: &str, text: &str| -> String {
                let lines = text.split('\n').flat_map(|line| ["\n", mark, " ", line]);
                lines.collect()
            };
            Some(format!("Change {path}{all}:{}{}", marked("-", old), marked("+", new)))
        }
        "Bash" | "Write" | "Edit" => None,
        // The journal stores no input that is too long.
        _ if input.contains_key("too_long_to_list_bytes") => None,
        _ => Some(format!("{tool}: {}", Value::Object(input.clone()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_api::NotifyKind;

    use super::*;
    use crate::notify::url_kind;

    #[test]
    fn k25_a_notification_shows_all_that_it_would_allow_or_nothing() {
        let long = |length: usize| "x".repeat(length);
        let cases = [
            (
                "Bash",
                json!({"command": "make", "description": "Build"}),
                Some("Bash: make"),
                Some("Bash: make"),
            ),
            ("Bash", json!({"command": long(230)}), Some(""), Some("")),
            ("Bash", json!({"command": long(300)}), None, Some("")),
            ("Bash", json!({"command": long(400)}), None, None),
            ("Bash", json!({"command": "a\nb\nc\nd"}), Some(""), Some("")),
            ("Bash", json!({"command": "a\nb\nc\nd\ne"}), None, Some("")),
            ("Bash", json!({"command": "a\n\n\n\n\n\n\n\nb"}), None, None),
            ("Bash", json!({"command": "ls", "run_in_background": true}), None, None),
            (
                "Bash",
                json!({"command": "ls", "run_in_background": false}),
                Some("Bash: ls"),
                Some("Bash: ls"),
            ),
            ("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}), None, None),
            ("Bash", json!({"command": "ls\u{202e}"}), None, None),
            ("Bash", json!({"command": "ls\u{200b}"}), None, None),
            ("Bash", json!({"command": "ls\r"}), None, None),
            ("Bash", json!({"command": "ls\u{1b}[2K"}), None, None),
            ("Bash", json!({"too_long_to_list_bytes": 9}), None, None),
            ("Write", json!({"file_path": "/a", "content": "b"}), Some("Write /a:\nb"), Some("Write /a:\nb")),
            ("Write", json!({"file_path": "/a", "content": long(500)}), None, None),
            ("Write", json!({"file_path": "/a"}), None, None),
            ("Write", json!({"too_long_to_list_bytes": 9}), None, None),
            (
                "Edit",
                json!({"file_path": "/a", "old_string": "b", "new_string": "c", "replace_all": true}),
                Some("Change /a (all places):\n- b\n+ c"),
                Some("Change /a (all places):\n- b\n+ c"),
            ),
            ("Edit", json!({"file_path": "/a", "old_string": "b", "new_string": long(500)}), None, None),
            ("Edit", json!({"file_path": "/a", "edits": [1]}), None, None),
            ("MultiEdit", json!({"file_path": "/a", "edits": [long(400)]}), None, None),
            ("mcp__a__b", json!({"x": 1}), Some("mcp__a__b: {\"x\":1}"), Some("mcp__a__b: {\"x\":1}")),
            ("mcp__a__b", json!({"too_long_to_list_bytes": 9}), None, None),
            ("mcp__a__b", json!("text"), None, None),
        ];
        let ntfy_space = url_kind(NotifyKind::Ntfy).unwrap().buttons.unwrap();
        for (tool, input, browser, ntfy) in cases {
            for (space, expected) in [(Space::BROWSER, browser), (ntfy_space, ntfy)] {
                let shown = whole_content(tool, &input, space);
                assert_eq!(shown.is_some(), expected.is_some(), "{tool} {input} {space:?}");
                if let (Some(shown), Some(expected)) = (&shown, expected.filter(|text| !text.is_empty())) {
                    assert_eq!(shown, expected, "{space:?}");
                }
            }
        }
    }
}
