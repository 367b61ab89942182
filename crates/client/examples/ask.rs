//! Asks Claude Code one thing and prints the answer: `cargo run -p tidings --example ask -- "What is 2 + 2?"`.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::messages::{ContentBlock, Message};
use tidings::{Options, query};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "What is 2 + 2?".to_owned());
    let mut answer = query(prompt, Options::new().max_turns(5));
    while let Some(message) = answer.next().await {
        match message? {
            Message::Assistant(said) => {
                for text in said.message.content.iter().filter_map(ContentBlock::as_text) {
                    println!("{text}");
                }
            }
            Message::Result(result) => println!("({})", result.subtype()),
            _ => {}
        }
    }
    Ok(())
}
