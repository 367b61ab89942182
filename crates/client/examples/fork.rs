//! Continues in a fork of a conversation: the original stays unchanged.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options, TurnEnd};

fn session_of(end: &TurnEnd) -> String {
    end.result.as_ref().and_then(|frame| Some(frame.session_id()?.into_owned())).unwrap_or_default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let end = client.send("Write a plan.").await?.finish().await?;
    let original = session_of(&end);
    println!("{}", end.text());
    client.close().await?;

    for idea in ["Try it with threads.", "Try it without."] {
        let client = Client::connect(Options::new().resume(&original).fork_session()).await?;
        let end = client.send(idea).await?.finish().await?;
        println!("{} (a new session: {})", end.text(), session_of(&end) != original);
        client.close().await?;
    }
    Ok(())
}
