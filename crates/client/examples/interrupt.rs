//! Stops a turn and goes on with the session.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::{Client, Interrupted, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let turn = client.send("Tell me everything about whales.").await?;
    // It may be called at once: it waits until the turn has begun, since the CLI ignores it before.
    match client.interrupt().await? {
        Interrupted::Stopping(receipt) => println!("stopping; {} prompts wait", receipt.still_queued.len()),
        _ => println!("nothing was under way"),
    }
    // An interrupted turn is no failure.
    println!("{:?}", turn.finish().await?.outcome);

    let end = client.send("In one word, please.").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
