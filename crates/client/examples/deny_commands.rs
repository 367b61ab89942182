//! Allows every tool but commands in a conversation. The README shows this program.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Decision, Options, PermissionAsk};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let options = Options::new().on_permission(|ask: PermissionAsk| async move {
        if ask.call.tool_name == "Bash" { Decision::deny("No commands here") } else { Decision::allow() }
    });
    let client = Client::connect(options).await?;
    println!("{}", client.send("What is in this folder?").await?.finish().await?.text());
    client.close().await?;
    Ok(())
}
