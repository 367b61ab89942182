//! Continues in a fork of a conversation: the original stays unchanged.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let end = client.send("Write a plan.").await?.finish().await?;
    let original = end.session_id().unwrap_or_default();
    println!("{}", end.text());
    client.close().await?;

    for idea in ["Try it with threads.", "Try it without."] {
        let client = Client::connect(Options::new().resume(&original).fork_session()).await?;
        let end = client.send(idea).await?.finish().await?;
        println!("{} (a new session: {})", end.text(), end.session_id().as_deref() != Some(&original));
        client.close().await?;
    }
    Ok(())
}
