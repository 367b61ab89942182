//! Offers a function of this program as a tool: `cargo run -p tidings --features mcp --example tool_function
//! -- "How many words has README.md?" [CLAUDE]`.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use schemars::JsonSchema;
use serde::Deserialize;
use tidings::mcp::{Failure, Tool, ToolServer};
use tidings::messages::{ContentBlock, Message};
use tidings::{Options, query};

/// The model sees the names, types and comments of these fields.
#[derive(Deserialize, JsonSchema)]
struct CountWords {
    /// The file, relative to the folder of the program.
    path: String,
}

async fn count_words(CountWords { path }: CountWords) -> Result<String, Failure> {
    if path.contains("..") {
        return Err(Failure::new("Only files in this folder are counted"));
    }
    Ok(format!("{} words", std::fs::read_to_string(path)?.split_whitespace().count()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut arguments = std::env::args().skip(1);
    let prompt = arguments.next().unwrap_or_else(|| "How many words has README.md?".to_owned());
    let count_words = Tool::new("count_words", "Counts the words of a file", count_words).read_only();
    let mut options = Options::new()
        .tool_server(ToolServer::new("files").tool(count_words).always_load())
        .allowed_tools(["mcp__files__count_words"]);
    if let Some(program) = arguments.next() {
        options = options.program(program);
    }
    let mut answer = query(prompt, options);
    while let Some(message) = answer.next().await {
        let message = message?;
        for block in message.content_blocks() {
            match block {
                ContentBlock::Text { text } => println!("{text}"),
                ContentBlock::ToolUse { name, input, .. } => println!("[{name} {input}]"),
                _ => {}
            }
        }
        if let Message::Result(result) = message {
            println!("({})", result.subtype());
        }
    }
    Ok(())
}
