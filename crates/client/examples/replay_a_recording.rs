//! Plays a recorded session to a program, without a CLI: `replay_a_recording FILE`.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::messages::{ContentBlock, Message};
use tidings::transport::Replay;
use tidings::{Options, query_over};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tool_use.ndjson");
    let path = std::env::args_os().nth(1).unwrap_or_else(|| recorded.into());
    // A query works the same with a recording.
    let mut answer = query_over(Replay::open(path)?, "What was asked then", Options::new());
    while let Some(message) = answer.next().await {
        match message? {
            Message::Result(result) => println!("({})", result.subtype()),
            other => {
                for block in other.content_blocks() {
                    match block {
                        ContentBlock::Text { text } => println!("{text}"),
                        ContentBlock::ToolUse { name, input, .. } => println!("{name} {input}"),
                        other => println!("a block: {}", other.kind()),
                    }
                }
            }
        }
    }
    Ok(())
}
