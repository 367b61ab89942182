//! Prompts that are sent while another is being answered are queued, and a queued prompt can be cancelled.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let mut first = client.send("Think hard about this.").await?;
    // Waits until the first turn has begun.
    drop(first.next().await);
    let second = client.send("Never mind this one.").await?;
    println!("cancelled: {}", client.cancel_prompt(second.uuid()).await?);

    println!("first: {}", first.finish().await?.text());
    println!("second: {:?}", second.finish().await?.outcome);
    // Waits until no turn runs, no prompt is queued, and no background work will begin a turn.
    client.settled().await?;
    client.close().await?;
    Ok(())
}
