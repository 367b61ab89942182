//! Offers a server that is written with rmcp, the official SDK of MCP, and keeps state between calls: `cargo
//! run -p tidings --features mcp --example tool_server_rmcp -- "Note that I like tea" [CLAUDE]`.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use parking_lot::Mutex;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tidings::mcp::rmcp;
use tidings::messages::ContentBlock;
use tidings::{Options, query};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// The text to remember.
    text: String,
}

#[tool_router]
impl Notes {
    #[tool(description = "Remembers something, and says how much is remembered")]
    async fn remember(&self, Parameters(Note { text }): Parameters<Note>) -> String {
        let mut notes = self.0.lock();
        notes.push(text);
        format!("{} notes", notes.len())
    }

    #[tool(description = "Everything that is remembered", annotations(read_only_hint = true))]
    async fn recall(&self) -> String {
        self.0.lock().join("\n")
    }
}

#[tool_handler(name = "notes", version = "1.0.0", instructions = "Remembers what people say.")]
impl ServerHandler for Notes {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let mut arguments = std::env::args().skip(1);
    let prompt = arguments.next().unwrap_or_else(|| "Note that I like tea".to_owned());
    let mut options = Options::new().mcp_service("notes", Notes::default()).allowed_tools(["mcp__notes"]);
    if let Some(program) = arguments.next() {
        options = options.program(program);
    }
    let mut answer = query(prompt, options);
    while let Some(message) = answer.next().await {
        for text in message?.content_blocks().iter().filter_map(ContentBlock::as_text) {
            println!("{text}");
        }
    }
    Ok(())
}
