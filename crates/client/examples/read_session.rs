//! Prints a recorded session as a conversation: `cargo run -p tidings --example read_session -- FILE`.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};

use tidings::json::{Raw, Text};
use tidings::ndjson::{Line, Splitter};
use tidings::view::{Block, View};
use tidings::{FrameRef, Kind, Outcome};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("no file given: read_session FILE")?;
    read_session(File::open(path)?, io::stdout().lock())?;
    Ok(())
}

/// Reads to the end: a line that is not a JSON object is shown and is not an error.
pub(crate) fn read_session(mut input: impl Read, mut out: impl Write) -> io::Result<()> {
    let mut splitter = Splitter::default();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let length = input.read(&mut chunk)?;
        splitter.push(&chunk[..length]);
        while let Some(line) = splitter.next() {
            show(line, &mut out)?;
        }
        if length == 0 {
            // The last line may lack its line break.
            return splitter.finish().map_or(Ok(()), |line| show(line, &mut out));
        }
    }
}

fn show(line: Line<'_>, out: &mut impl Write) -> io::Result<()> {
    let Line::Json(line) = line else { return Ok(()) };
    let frame = match FrameRef::decode(line) {
        Ok(frame) => frame,
        Err(error) => return writeln!(out, "?  {error}"),
    };
    match frame.view() {
        View::Assistant(message) | View::User(message) => {
            // Messages of a sub-agent are indented.
            let indent = if frame.parent_tool_use_id().is_some() { "    " } else { "" };
            let who = if frame.kind() == Kind::User { '>' } else { '<' };
            message.blocks().try_for_each(|block| match block {
                Block::Text(text) => writeln!(out, "{indent}{who}  {text}"),
                Block::Thinking(text) => writeln!(out, "{indent}~  {text}"),
                Block::ToolUse { name, input, .. } => writeln!(out, "{indent}$  {name} {input}"),
                Block::ToolResult { content, is_error, .. } => {
                    let mark = if is_error { '!' } else { '=' };
                    let text = content.map(text_of).unwrap_or_default();
                    let first = text.lines().next().unwrap_or_default();
                    writeln!(out, "{indent}{mark}  {first}")
                }
                _ => Ok(()),
            })
        }
        View::Result(_) => {
            let turns = frame.get("num_turns").and_then(Raw::u64).unwrap_or_default();
            let cost = frame.cost_usd().unwrap_or_default();
            match (frame.outcome(), frame.error_text()) {
                (Some(Outcome::Completed), _) => write!(out, "-- done"),
                (_, Some(error)) => write!(out, "-- failed: {error}"),
                (outcome, None) => write!(out, "-- {outcome:?}"),
            }?;
            writeln!(out, ", {turns} turns, {cost:.4} USD so far\n")
        }
        _ => Ok(()),
    }
}

/// A tool result is a string, or a list of blocks.
fn text_of(content: Raw<'_>) -> String {
    let texts = content.items().filter_map(|block| block.get("text")?.text());
    content.text().into_iter().chain(texts).map(Text::get).collect()
}
