//! Requests permission at the terminal before a command runs.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Decision, Options, PermissionAsk};
use tokio::io::{AsyncBufReadExt as _, BufReader};

async fn ask_person(ask: PermissionAsk) -> Decision {
    println!("May it run `{}`? [y/N]", ask.input_str("command").unwrap_or_default());
    let mut line = String::new();
    // A user takes long: no thread is blocked, and this future is dropped if the CLI cancels the request.
    let read = BufReader::new(tokio::io::stdin()).read_line(&mut line).await;
    match read.map(|_| line.trim()) {
        Ok("y" | "yes") => Decision::allow(),
        _ => Decision::deny("The user denied it"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let client = Client::connect(Options::new().on_permission(ask_person)).await?;
    let end = client.send("What is in this folder?").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
