//! Prints the answer while it is being written.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::io::Write as _;

use tidings::messages::Message;
use tidings::stream::{Delta, Event};
use tidings::{Options, query};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut answer = query("Tell me a short story.", Options::new().include_partial_messages());
    let mut deltas = 0;
    while let Some(message) = answer.next().await {
        let Message::StreamEvent(partial) = message? else { continue };
        let Event::ContentBlockDelta(more) = &partial.event else { continue };
        if let Delta::Text(delta) = &more.delta {
            deltas += 1;
            print!("{}", delta.text);
            std::io::stdout().flush()?;
        }
    }
    println!("\n({} deltas)", if deltas > 1 { "several" } else { "no" });
    Ok(())
}
