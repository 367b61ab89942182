//! Two prompts in one session: the second builds on the first.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Options, SystemPrompt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let options = Options::new().system_prompt(SystemPrompt::append("Answer in one sentence."));
    let client = Client::connect(options).await?;
    for prompt in ["Name a river in France.", "How long is it?"] {
        let end = client.send(prompt).await?.finish().await?;
        println!("> {prompt}\n{}", end.text());
    }
    // Dropping the client would close the session too; this also waits for it and returns the exit status.
    let exit = client.close().await?;
    println!("Claude Code ended {exit}");
    Ok(())
}
