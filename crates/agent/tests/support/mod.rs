//! Recorded sessions, and events as readable lines.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidings_agent::UiMessage;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::{Recording, replay_session};
use tidings_protocol::FrameRef;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line, Splitter};
use tidings_transcript::Error;
use tidings_transcript::roots::Roots;
use tidings_transcript::session::Session;

/// The folders of the recorded sessions, by name.
pub(crate) fn fixtures() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    found.sort();
    assert!(found.len() >= 25);
    found
}

/// The frames of a recorded session, in both directions, in the order in which they were written.
pub(crate) fn frames(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name).join("frames.ndjson")).unwrap()
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The events of a recorded session.
pub(crate) fn live(name: &str) -> Vec<UiMessage> {
    in_chunks(&frames(name), <[u8]>::len)
}

/// The events of a recorded session whose bytes are passed in chunks of the lengths that `next` returns.
pub(crate) fn in_chunks(bytes: &[u8], mut next: impl FnMut(&[u8]) -> usize) -> Vec<UiMessage> {
    let mut recording = Recording::new(1, FoldOptions::default());
    let mut events = Vec::new();
    let mut splitter = Splitter::new(LINE_BYTES_MAX);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at(next(rest).clamp(1, rest.len()));
        rest = later;
        splitter.push(chunk);
        while let Some(line) = splitter.next() {
            if let Line::Json(line) = line {
                recording.frame(&FrameRef::decode(line).unwrap(), &mut events);
            }
        }
    }
    events
}

/// The events of frames.
pub(crate) fn fold(lines: &[&str]) -> Vec<UiMessage> {
    let mut recording = Recording::new(1, FoldOptions::default());
    let mut events = Vec::new();
    for line in lines {
        recording.frame(&FrameRef::decode(line.as_bytes()).unwrap(), &mut events);
    }
    events
}

/// The events of a recorded session from its files, one session after the other.
pub(crate) fn from_files(name: &str) -> Vec<UiMessage> {
    let mut found = Roots::new([fixture(name).join("root")]).scan().unwrap();
    let seen = live(name);
    let place = |id: &str| {
        seen.iter()
            .position(|event| matches!(event, UiMessage::SessionStarted(event) if event.cli_session_id == id))
    };
    found.sessions.sort_by_key(|files| place(&files.id));
    let mut events = Vec::new();
    for files in &found.sessions {
        let session = Session::open(files).unwrap();
        let each = |some: &[UiMessage], _| {
            events.extend_from_slice(some);
            Ok::<(), Error>(())
        };
        replay_session(&session, None, 1, FoldOptions::default(), each).unwrap();
    }
    events
}

/// Events as text, one per line, with the relevant fields.
pub(crate) fn readable(events: &[UiMessage]) -> String {
    let mut text = String::new();
    let mut calls = Vec::new();
    for event in events {
        let mut event = serde_json::to_value(event).unwrap();
        // One key order, independent of the features of `serde_json` in a build.
        event.sort_all_objects();
        text.push_str(&line(&event, &mut calls));
        text.push('\n');
    }
    text
}

/// Numbers a call: call ids are random, and snapshots need stable ones.
fn call(id: &str, calls: &mut Vec<String>) -> String {
    let known = calls.iter().position(|call| call == id);
    let at = known.unwrap_or_else(|| {
        calls.push(id.to_owned());
        calls.len() - 1
    });
    format!("#{}", at + 1)
}

fn line(event: &Value, calls: &mut Vec<String>) -> String {
    let (name, body) = event.as_object().unwrap().iter().next().unwrap();
    let body = body.as_object().unwrap();
    if name == "Lane" {
        let agent = call(body["agent_id"].as_str().unwrap(), calls);
        return format!("  {agent}| {}", line(&body["event"], calls));
    }
    let mut parts = vec![name.clone()];
    let mut keys: Vec<&String> = body.keys().collect();
    keys.sort();
    for key in keys {
        let value = &body[key];
        let shown = match (key.as_str(), value) {
            (key, value) if LEFT_OUT.contains(&key) || is_nothing(value) => continue,
            (key, _) if ONLY_NAMED.contains(&key) => {
                parts.push(key.to_owned());
                continue;
            }
            ("tool_use_id" | "agent_id" | "parent_agent_id", Value::String(id)) => call(id, calls),
            ("turn_id", turn) => turn_id(turn),
            ("answers", Value::Array(turns)) => turns.iter().map(turn_id).collect::<Vec<_>>().join("+"),
            ("tool_use_ids", Value::Array(ids)) => {
                ids.iter().map(|id| call(id.as_str().unwrap(), calls)).collect::<Vec<_>>().join("+")
            }
            (_, value) => short(value),
        };
        parts.push(format!("{key}={shown}"));
    }
    parts.join(" ")
}

/// Fields that are too long, or differ in every run.
const LEFT_OUT: &[&str] = &[
    "session_id",
    "uuid",
    "cli_session_id",
    "task_id",
    "digest",
    "output_file",
    "tools",
    "slash_commands",
    "model_usage",
    "cwd",
    "cli_version",
    "tool_use_result",
    "duration_ms",
    "duration_api_ms",
    "cost_usd",
    "delay_ms",
];

/// Fields that are shown by name only.
const ONLY_NAMED: &[&str] = &["usage", "suggestions", "permission_denials", "resets_at", "elapsed_seconds"];

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn turn_id(turn: &Value) -> String {
    let owner = if turn["role"] == "User" { 'u' } else { 'a' };
    format!("{owner}{}", turn["sequence"])
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    let mut cut: String = text.chars().take(90).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
