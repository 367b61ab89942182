//! Resumes a conversation after its process has ended.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let end = client.send("My name is Ada.").await?.finish().await?;
    let id = end.session_id().unwrap_or_default();
    client.close().await?;

    // Another process, perhaps days later. `continue_latest` would resume the latest conversation of the
    // folder.
    let client = Client::connect(Options::new().resume(&id)).await?;
    let end = client.send("What is my name?").await?.finish().await?;
    println!("{}", end.text());
    println!("the same session: {}", end.session_id() == Some(id));
    client.close().await?;
    Ok(())
}
