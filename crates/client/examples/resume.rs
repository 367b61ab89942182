//! Resumes a conversation after its process has ended.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let end = client.send("My name is Ada.").await?.finish().await?;
    let id = end.result.as_ref().and_then(|frame| Some(frame.session_id()?.into_owned())).unwrap_or_default();
    client.close().await?;

    // Another process, perhaps days later. `continue_latest` would resume the latest conversation of the
    // folder.
    let client = Client::connect(Options::new().resume(&id)).await?;
    let end = client.send("What is my name?").await?.finish().await?;
    println!("{}", end.text());
    let same = end.result.as_ref().and_then(|frame| Some(frame.session_id()? == id));
    println!("the same session: {}", same.unwrap_or_default());
    client.close().await?;
    Ok(())
}
