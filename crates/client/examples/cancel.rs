//! One token closes the session: for programs that shut down, and for requests that were abandoned.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{CancellationToken, Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let token = CancellationToken::new();
    let client = Client::connect(Options::new().cancel_with(token.clone())).await?;
    let mut turn = client.send("Tell me everything about whales.").await?;
    // The turn has begun.
    drop(turn.next().await);
    token.cancel();

    let stopped = turn.finish().await;
    println!("the turn was cut off: {}", stopped.is_err() || stopped.is_ok_and(|end| !end.is_success()));
    drop(client.ended().await);
    println!("closed: {}, process: {:?}", client.is_closed(), client.pid());
    Ok(())
}
