//! A host that is there to be killed: `host PROGRAM PROMPT` starts a session, says the prompt, prints the number of the
//! CLI's process, and waits for ever. The tests kill it and look for what it left.

#![expect(clippy::print_stdout, reason = "whoever started it reads the number")]

use tidings::{AllowAll, Client, Event, Options};

#[tokio::main]
async fn main() -> Result<(), tidings::Error> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_default();
    let prompt = arguments.next().unwrap_or_default();
    let client = Client::connect(Options::new().program(program).on_permission(AllowAll)).await?;
    let mut events = client.subscribe();
    drop(client.send(prompt).await?);
    // The turn is under way once something of it has come.
    while !matches!(events.next().await, Some(Event::TurnStarted { .. }) | None) {}
    println!("{}", client.pid().unwrap_or_default());
    std::future::pending::<()>().await;
    client.close().await.map(drop)
}
