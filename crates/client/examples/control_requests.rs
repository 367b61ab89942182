//! Queries the CLI while the session runs: every control request is a method.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new()).await?;
    let info = client.info();
    println!("commands are listed: {}", !info.commands.is_empty());
    println!("models can be chosen: {}", !client.list_models().await?.is_empty());
    println!("MCP servers: {}", client.mcp_status().await?.len());
    println!("context is counted: {}", client.context_usage(None).await?.max_tokens.is_some());
    client.rename_session("Figures of the day").await?;

    // A request without a method can be sent by name. A refusal is an error with the CLI's message and code.
    let body = serde_json::json!({ "kind": "new" }).into();
    if let Err(error) = client.request_untyped("request_of_tomorrow", body).await {
        println!("{error} ({:?})", error.kind());
    }
    client.close().await?;
    Ok(())
}
