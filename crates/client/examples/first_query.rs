//! Sends one prompt and prints the answer. The README shows this program.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::messages::ContentBlock;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut answer = tidings::query("What is 2 + 2?", tidings::Options::new());
    while let Some(message) = answer.next().await {
        for text in message?.content_blocks().iter().filter_map(ContentBlock::as_text) {
            println!("{text}");
        }
    }
    Ok(())
}
