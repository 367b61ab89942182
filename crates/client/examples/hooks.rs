//! Hooks see what happens around every tool, whatever the permission rules say.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use std::time::Duration;

use tidings::hooks::{HookOutput, PostToolUse, PreToolUse};
use tidings::{AllowAll, Client, Hook, HookCall, Options};

async fn guard(call: HookCall<PreToolUse>) -> HookOutput {
    let input = call.event.tool_input.to_string();
    println!("before {}: {input}", call.event.tool_name);
    if input.contains("rm -rf") { HookOutput::deny("Nothing is deleted here") } else { HookOutput::default() }
}

async fn note(call: HookCall<PostToolUse>) -> HookOutput {
    println!("after {}", call.event.tool_name);
    HookOutput::default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    // If the guard fails or takes too long, the command does not run.
    let guard = Hook::on(guard).matching("Bash").timeout(Duration::from_secs(5));
    let options = Options::new().hook(guard).hook(Hook::on(note)).on_permission(AllowAll);
    let client = Client::connect(options).await?;
    let end = client.send("Clean up.").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
