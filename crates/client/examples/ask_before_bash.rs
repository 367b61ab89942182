//! Asks the person at the terminal before a command runs.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::{Client, Decision, Options, PermissionAsk};
use tokio::io::{AsyncBufReadExt as _, BufReader};

async fn ask_person(ask: PermissionAsk) -> Decision {
    let command = ask.input().and_then(|input| input.raw().get("command")?.text());
    println!("May it run `{}`? [y/N]", command.map(|text| text.get().into_owned()).unwrap_or_default());
    let mut line = String::new();
    // A person takes long: no thread is held up, and the question is dropped if the CLI takes it back.
    let read = BufReader::new(tokio::io::stdin()).read_line(&mut line).await;
    match read.map(|_| line.trim()) {
        Ok("y" | "yes") => Decision::allow(),
        _ => Decision::deny("The user said no"),
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
