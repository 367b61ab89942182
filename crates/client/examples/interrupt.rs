//! Interrupts a turn and continues the session.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Interrupted, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let turn = client.send("Tell me everything about whales.").await?;
    // This may be called at once: it waits until the turn has begun, since the CLI ignores an interrupt
    // before.
    match client.interrupt().await? {
        Interrupted::Stopping(receipt) => {
            let queued = receipt.still_queued.unwrap_or_default();
            println!("stopping; {} prompts are queued", queued.len());
        }
        _ => println!("no turn was running"),
    }
    // An interrupted turn is not a failure.
    println!("{:?}", turn.finish().await?.outcome);

    let end = client.send("In one word, please.").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
