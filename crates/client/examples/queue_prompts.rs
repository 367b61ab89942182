//! Prompts that are sent while another is being answered wait, and one that waits can be taken back.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let mut first = client.send("Think hard about this.").await?;
    // Something of the first turn has come, so it is under way.
    drop(first.next().await);
    let second = client.send("Never mind this one.").await?;
    println!("taken back: {}", client.cancel_prompt(second.uuid()).await?);

    println!("first: {}", first.finish().await?.text());
    println!("second: {:?}", second.finish().await?.outcome);
    // Nothing is under way, nothing waits, and nothing in the background will begin a turn.
    client.settled().await?;
    client.close().await?;
    Ok(())
}
