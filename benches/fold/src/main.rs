//! Cost of turning a streamed answer into events, on top of decoding its frames.
//!
//! `fold` prints times and checks them; `fold --count decode` and `fold --count fold` do the work once, for
//! Callgrind.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tidings_agent::UiMessage;
use tidings_agent::fold::{Fold, FoldOptions, Input};
use tidings_protocol::FrameRef;

/// Number of answers, and of deltas in each: about one busy afternoon.
const ANSWERS: usize = 250;
const PIECES: usize = 400;

/// Maximum cost of folding a delta, on top of decoding it.
const BAR: Duration = Duration::from_micros(1);

const WORDS: &[&str] = &[
    " the",
    " function",
    " returns",
    "\\n\\n```rust\\nfn",
    " naïve",
    " \\\"quoted\\\"",
    " über",
    " 🚀",
    " and",
    " then",
];

fn main() -> ExitCode {
    let lines = lines();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, what] = &args[..]
        && flag == "--count"
    {
        match what.as_str() {
            "decode" => black_box(decode(&lines)),
            _ => black_box(fold(&lines)),
        };
        return ExitCode::SUCCESS;
    }
    let (mut decoding, mut folding) = (Duration::MAX, Duration::MAX);
    for _ in 0..9 {
        decoding = decoding.min(timed(|| decode(&lines)));
        folding = folding.min(timed(|| fold(&lines)));
    }
    let each = |time: Duration| time / u32::try_from(ANSWERS * PIECES).unwrap_or(u32::MAX);
    let added = each(folding.saturating_sub(decoding));
    println!("decode         {:>6} ns per delta", each(decoding).as_nanos());
    println!("decode + fold  {:>6} ns per delta", each(folding).as_nanos());
    println!(
        "fold           {:>6} ns per delta, and at most {} ns are allowed",
        added.as_nanos(),
        BAR.as_nanos()
    );
    if added <= BAR { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn timed(work: impl FnOnce() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

#[inline(never)]
fn decode(lines: &[String]) -> usize {
    lines.iter().filter(|line| black_box(FrameRef::decode(line.as_bytes())).is_ok()).count()
}

#[inline(never)]
fn fold(lines: &[String]) -> usize {
    let mut fold = Fold::new(1, FoldOptions::default());
    let mut events: Vec<UiMessage> = Vec::new();
    let mut count = 0;
    for line in lines {
        if let Ok(frame) = FrameRef::decode(line.as_bytes()) {
            fold.step(Input::Frame(&frame), &mut events);
        }
        count += events.len();
        black_box(&events);
        events.clear();
    }
    count
}

/// Answers as streamed by the agent: one frame per delta, and one more per complete block.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for answer in 0..ANSWERS {
        let id = format!("msg_{answer:024}");
        let frame = |event: &str| {
            format!(
                r#"{{"type":"stream_event","event":{event},"session_id":"5a15c0fc-95e4-428e-a126-8a8cf06dfac6","parent_tool_use_id":null,"uuid":"7fa67b14-29d6-4169-8434-c2ea67ae05cb","api_message_id":"{id}"}}"#
            )
        };
        lines.push(frame(&format!(
            r#"{{"type":"message_start","message":{{"id":"{id}","role":"assistant","content":[],"usage":{{"input_tokens":9000,"output_tokens":3}}}}}}"#
        )));
        lines.push(frame(
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ));
        let mut whole = String::new();
        for piece in 0..PIECES {
            let mut text = String::new();
            for word in 0..1 + piece % 5 {
                let _ = write!(text, "{}", WORDS[(answer + piece * 7 + word * 3) % WORDS.len()]);
            }
            whole.push_str(&text);
            lines.push(frame(&format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
            )));
        }
        lines.push(format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"{whole}"}}]}},"parent_tool_use_id":null,"uuid":"{answer:036}"}}"#
        ));
        lines.push(frame(
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":400}}"#,
        ));
        lines.push(frame(r#"{"type":"message_stop"}"#));
        lines.push(r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1}"#.to_owned());
    }
    lines
}
