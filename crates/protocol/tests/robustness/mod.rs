//! Robustness against any input: the faults F1–F18 and the table of JSON oddities.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod faults;
mod numbers;
mod oddities;
mod splitting;

use tidings_protocol::ndjson::{Line, Splitter};

/// An assistant frame around one text, given in escaped form.
fn text_frame(escaped: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{escaped}"}}]}},"session_id":"s"}}"#
    )
}

/// An assistant frame around a tool call with the given input.
fn tool_frame(input: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{input}}}]}},"session_id":"s"}}"#
    )
}

/// The lines of `bytes`, pushed `step` bytes at a time, each with the name of its kind.
fn split(bytes: &[u8], step: usize, cap: usize) -> Vec<(&'static str, Vec<u8>)> {
    fn word(line: Line<'_>) -> (&'static str, Vec<u8>) {
        match line {
            Line::Json(bytes) => ("json", bytes.to_vec()),
            Line::Noise(bytes) => ("noise", bytes.to_vec()),
            Line::Blank(bytes) => ("blank", bytes.to_vec()),
            Line::Oversized { len, .. } => ("oversized", len.to_string().into_bytes()),
            other => panic!("{other:?}"),
        }
    }
    let mut splitter = Splitter::new(cap);
    let mut lines = Vec::new();
    for piece in bytes.chunks(step) {
        splitter.push(piece);
        while let Some(line) = splitter.next() {
            lines.push(word(line));
        }
    }
    lines.extend(splitter.finish().map(word));
    lines
}

/// Runs `work` on a stack of 256 KiB: unbounded recursion would abort the process.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}
