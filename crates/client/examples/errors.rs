//! Kinds of errors, and how to branch on them.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, ErrorKind, Options};

async fn ask(options: Options) -> Result<String, tidings::Error> {
    let client = Client::connect(options).await?;
    let end = client.send("Hello!").await?.finish().await?;
    // A failed turn is a normal end: the session goes on. Its error has the outcome.
    if let Some(error) = end.error() {
        println!("the turn failed: {error} ({:?})", error.outcome());
    }
    client.close().await?;
    Ok(end.text())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let attempts = [
        ("a good one", Options::new()),
        ("no such program", Options::new().program("/nowhere/claude")),
        ("no such folder", Options::new().cwd("/nowhere")),
        ("a contradiction", Options::new().fork_session()),
        ("an unknown flag", Options::new().extra_arg("no-such-flag", None)),
    ];
    for (name, options) in attempts {
        match ask(options).await {
            Ok(text) => println!("{name}: {text}"),
            // A kind to branch on, a message to show, a hint to act on.
            Err(error) => {
                let kind = match error.kind() {
                    ErrorKind::NotFound => "install it",
                    ErrorKind::Invalid => "fix the options",
                    ErrorKind::Exit => "read its message",
                    _ => "look closer",
                };
                println!("{name}: {kind}\n  {error}\n  hint: {}", error.hint());
            }
        }
    }
}
