//! Changes the model and the permission mode between turns.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::messages::Message;
use tidings::permissions::PermissionMode;
use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new().permission_mode(PermissionMode::PLAN)).await?;
    println!("{}", client.send("Plan it.").await?.finish().await?.text());

    client.set_model(Some("haiku")).await?;
    client.set_permission_mode(PermissionMode::ACCEPT_EDITS).await?;
    let mut turn = client.send("Do it.").await?;
    while let Some(message) = turn.next().await {
        if let Message::Assistant(assistant) = message? {
            let model = assistant.message.model.unwrap_or_default();
            println!("{} (haiku: {})", assistant.message.content.joined_text(), model.contains("haiku"));
        }
    }
    client.close().await?;
    Ok(())
}
