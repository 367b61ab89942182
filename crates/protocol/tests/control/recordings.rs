//! Recorded control frames, each response with its request.
//!
//! The shipped recordings are always read; `TIDINGS_CORPUS` names a folder with more.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidings_protocol::Frame;
use tidings_protocol::control::{Call, ControlResponse};
use tidings_protocol::json::Refused;
use tidings_protocol::messages::{McpServerInfo, Message, ToolInfo};

/// Scenarios whose host sends invalid data on purpose.
const NONSENSE: &[&str] = &["120", "121", "168"];

/// A control frame of a recording.
pub(crate) struct Recorded {
    /// File and line, for failure messages.
    pub(crate) place: String,
    /// The recorded frame, and the frame as written back.
    pub(crate) line: String,
    pub(crate) written: String,
    pub(crate) refused: Vec<Refused>,
    pub(crate) kind: RecordedKind,
}

/// Content of a control frame.
pub(crate) enum RecordedKind {
    Request(Call),
    /// With its request, if the recording has it.
    Response(ControlResponse, Option<Call>),
}

/// All control frames of all recordings.
pub(crate) fn all() -> Vec<Recorded> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut folders = vec![shipped.join("control"), shipped.join("corpus")];
    folders.extend(std::env::var_os("TIDINGS_CORPUS").map(PathBuf::from));
    let mut recorded = Vec::new();
    for folder in folders {
        for scenario in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let scenario = scenario.unwrap().path();
            // A scenario may have several runs.
            for run in ["", "-2", "-3", "-4"] {
                read_run(&scenario, run, &mut recorded);
            }
        }
    }
    assert!(!recorded.is_empty());
    recorded
}

/// Untyped keys in the debug output of a value: those of each field `extra`, as text or as a [`Value`].
///
/// An explicit `null` or default is kept in `extra` too, but adds no information.
pub(crate) fn untyped(value: &impl Debug) -> Vec<String> {
    const FIELD: &str = " extra: ";
    let debug = format!("{value:?}");
    let mut keys = Vec::new();
    let mut rest = debug.as_str();
    while let Some(letter) = rest.chars().next() {
        let passed = if letter == '"' {
            literal_length(rest)
        } else if let Some(extra) = rest.strip_prefix(FIELD) {
            keys.extend(keys_of(extra).unwrap_or_else(|| panic!("{debug}")));
            FIELD.len()
        } else {
            letter.len_utf8()
        };
        rest = &rest[passed..];
    }
    keys
}

/// Length of the string literal at the beginning of `text`, with its quotes.
fn literal_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, quote)| at + quote.len_utf8())
}

/// Keys of a printed `extra` whose values are not the default; `None` in an unknown form.
fn keys_of(extra: &str) -> Option<Vec<String>> {
    if !extra.starts_with('{') {
        let is_null = extra.starts_with("Null");
        return extra.strip_prefix("Object {").map(keys_of_tree).or(is_null.then(Vec::new));
    }
    let members = serde_json::Deserializer::from_str(extra).into_iter::<Value>().next()?.ok()?;
    let Value::Object(members) = members else { return None };
    Some(members.into_iter().filter(|(_, value)| !is_default(value)).map(|(key, _)| key).collect())
}

/// The same for the inside of a printed [`Value::Object`].
fn keys_of_tree(inside: &str) -> Vec<String> {
    const DEFAULTS: &[&str] = &["Null", "Bool(false)", r#"String("")"#, "Array []", "Object {}"];
    let (mut keys, mut depth) = (Vec::new(), 0_usize);
    let mut rest = inside;
    while let Some(letter) = rest.chars().next() {
        let mut passed = letter.len_utf8();
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' if depth == 0 => break,
            '}' | ']' | ')' => depth -= 1,
            '"' => {
                passed = literal_length(rest);
                // Strings that are values are within `String(…)`.
                let value = rest[passed..].strip_prefix(": ").filter(|_| depth == 0);
                if value.is_some_and(|value| !DEFAULTS.iter().any(|default| value.starts_with(default))) {
                    keys.push(rest[1..passed - 1].to_owned());
                }
            }
            _ => {}
        }
        rest = &rest[passed..];
    }
    keys
}

#[test]
fn d28_untyped_keys_are_found_in_text_and_in_trees() {
    let text = r#"{"name":", extra: {","new":"} \" {","none":null}"#;
    let tool: ToolInfo = serde_json::from_str(text).unwrap();
    assert_eq!(untyped(&tool), ["new"], "{tool:?}");

    let tree =
        r#"{"name":"n","status":"} \" {","off":false,"list":[],"deep":{"extra":1,"inner":"x"},"text":""}"#;
    let server: McpServerInfo = serde_json::from_str(tree).unwrap();
    let mut keys = untyped(&server);
    keys.sort_unstable();
    assert_eq!(keys, ["deep", "status"], "{server:?}");
    assert_eq!(untyped(&McpServerInfo::default()), Vec::<String>::new());
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(_) => false,
    }
}

fn read_run(scenario: &Path, run: &str, recorded: &mut Vec<Recorded>) {
    let number: String = scenario.file_name().unwrap().to_string_lossy().chars().take(3).collect();
    let mut frames = Vec::new();
    for side in ["stdin", "stdout"] {
        let file = scenario.join(format!("{side}{run}.ndjson"));
        if side == "stdin" && NONSENSE.contains(&&*number) {
            continue;
        }
        // Not every run has both files, and some scenarios have invalid UTF-8 on purpose.
        let Ok(bytes) = fs::read(&file) else { continue };
        for (index, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let Ok(frame) = Frame::from_json(line) else {
                continue;
            };
            let place = format!("{}:{}", file.display(), index + 1);
            frames.push((place, side, line.to_owned(), frame.typed()));
        }
    }
    // Both sides choose ids; the sender of a request is part of its key.
    let mut asked = BTreeMap::new();
    for (_, side, _, typed) in &frames {
        if let Message::ControlRequest { request_id, request } = &typed.message {
            asked.insert((*side, request_id.clone()), request.call.clone());
        }
    }
    for (place, side, line, typed) in frames {
        let written = typed.message.to_line();
        let kind = match typed.message {
            Message::ControlRequest { request, .. } => RecordedKind::Request(request.call),
            Message::ControlResponse { request_id, response } => {
                let other = if side == "stdin" { "stdout" } else { "stdin" };
                RecordedKind::Response(response, asked.get(&(other, request_id)).cloned())
            }
            Message::Unknown(unknown) if !NONSENSE.contains(&&*number) => {
                let is_control =
                    matches!(unknown.kind.as_deref(), Some("control_request" | "control_response"));
                assert!(!is_control, "{place}: {:?}", unknown.reason);
                continue;
            }
            _ => continue,
        };
        recorded.push(Recorded { place, line, written, refused: typed.refused, kind });
    }
}
