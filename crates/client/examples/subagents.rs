//! Defines a sub-agent, and shows which agent writes what.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::control::AgentDefinition;
use tidings::messages::{ContentBlock, Message, SystemMessage};
use tidings::{AllowAll, Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let searcher = AgentDefinition::new(
        "Finds things in the code",
        "You search and report where things are. You change nothing.",
    );
    let searcher = searcher.tools(["Read", "Grep"]);
    let options =
        Options::new().define_agent("searcher", searcher).forward_subagent_text().on_permission(AllowAll);

    let client = Client::connect(options).await?;
    let mut turn = client.send("Where is `greet`?").await?;
    while let Some(message) = turn.next().await {
        match message? {
            Message::Assistant(assistant) => {
                // Messages of a sub-agent name the tool call that started it.
                let who = if assistant.parent_tool_use_id.is_some() { "  searcher" } else { "main" };
                for call in assistant.message.content.iter().map(ContentBlock::kind) {
                    println!("{who}: {call}");
                }
            }
            Message::System(SystemMessage::TaskStarted(task)) => {
                println!("started: {}", task.description.unwrap_or_default());
            }
            _ => {}
        }
    }
    println!("{}", turn.finish().await?.text());
    client.close().await?;
    Ok(())
}
