//! Shortens long results: the middle is replaced with a mark that gives the length.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};
use tidings_protocol::ui::UiMessage;

use crate::limits::SNAPSHOT_STRING_BYTES_MIN;

/// Cuts the output of a tool call, and the prompt and summary of a sub-agent.
pub(super) fn shorten(event: &mut UiMessage, max: usize) {
    match event {
        UiMessage::ToolCompleted { result, .. } => cut_text(result, max),
        UiMessage::ToolDetails(details) => {
            if let Some(value) = &mut details.tool_use_result {
                cut_value(value, max);
            }
        }
        UiMessage::SubAgentStarted(event) => cut_optional(event.prompt.as_mut(), max),
        UiMessage::SubAgentProgressed(event) => cut_optional(event.summary.as_mut(), max),
        UiMessage::SubAgentEnded(event) => cut_optional(event.summary.as_mut(), max),
        UiMessage::TurnResult(result) => {
            for denied in &mut result.permission_denials {
                // The tool call itself shows the input.
                denied.input = None;
            }
        }
        _ => {}
    }
}

/// The length of a value as JSON.
pub(super) fn json_bytes(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail, and a value that cannot be written has no length.
    if serde_json::to_writer(&mut counter, value).is_err() { 0 } else { counter.0 }
}

fn cut_optional(text: Option<&mut String>, max: usize) {
    if let Some(text) = text {
        cut_text(text, max);
    }
}

/// Cuts the middle out of a text so that it has at most `max` bytes, together with the mark in its place.
///
/// Readers of a long output look at its beginning and, more often, at its end. Lines stay whole where they
/// are short enough.
fn cut_text(text: &mut String, max: usize) {
    if text.len() <= max {
        return;
    }
    let whole = text.len();
    let mark = |left_out: usize| format!("… {left_out} of {whole} bytes left out\n");
    // The mark is longest when everything is left out; it may need a line break before it.
    let room = max.saturating_sub(mark(whole).len() + 1);
    let head = head_end(text, room / 2);
    let tail = tail_start(text, whole - (room - head));
    let mut mark = mark(tail - head);
    if !text[..head].ends_with('\n') && head > 0 {
        mark.insert(0, '\n');
    }
    text.replace_range(head..tail, &mark);
}

/// End of the kept beginning: at or before `at`, behind a whole line if that is not far.
fn head_end(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let line = text[..at].rfind('\n').map(|end| end + 1);
    line.filter(|line| *line > at / 2).unwrap_or(at)
}

/// Start of the kept end: at or after `at`, before a whole line if that is not far.
fn tail_start(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    if text[..at].ends_with('\n') {
        return at;
    }
    let line = text[at..].find('\n').map(|start| at + start + 1);
    line.filter(|line| line - at < (text.len() - at) / 2).unwrap_or(at)
}

/// Cuts the strings in a value until it has at most `max` bytes; if that is not enough, only its length is
/// left.
pub(super) fn cut_value(value: &mut Value, max: usize) {
    let whole = json_bytes(value);
    if whole <= max {
        return;
    }
    let mut string_max = max;
    while string_max >= SNAPSHOT_STRING_BYTES_MIN {
        let mut cut = value.clone();
        let mut open = vec![&mut cut];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => cut_text(text, string_max),
                Value::Array(items) => open.extend(items),
                Value::Object(members) => open.extend(members.values_mut()),
                _ => {}
            }
        }
        if json_bytes(&cut) <= max {
            *value = cut;
            return;
        }
        // In small steps: most values are one long string and some short ones, and nearly fit.
        string_max = string_max / 4 * 3;
    }
    let mut mark = Map::new();
    mark.insert("…".to_owned(), format!("{whole} bytes left out").into());
    *value = Value::Object(mark);
}

/// Counts what is written.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
