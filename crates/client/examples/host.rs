//! A program for tests that kill it: `host PROGRAM PROMPT` starts a session, sends the prompt, prints the
//! process id of the CLI, and waits for ever. The tests kill it and search for leftover processes.

#![expect(clippy::print_stdout, reason = "the test reads the process id")]

use tidings::{AllowAll, Client, Event, Options};

#[tokio::main]
async fn main() -> Result<(), tidings::Error> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_default();
    let prompt = arguments.next().unwrap_or_default();
    let client = Client::connect(Options::new().program(program).on_permission(AllowAll)).await?;
    let mut events = client.subscribe();
    drop(client.send(prompt).await?);
    // Waits for the beginning of the turn.
    while !matches!(events.next().await, Some(Event::TurnStarted { .. }) | None) {}
    println!("{}", client.pid().unwrap_or_default());
    std::future::pending::<()>().await;
    client.close().await.map(drop)
}
