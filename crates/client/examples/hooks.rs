//! Hooks are called for every tool, independent of the permission rules.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::time::Duration;

use tidings::hooks::{HookOutput, PostToolUse, PreToolUse};
use tidings::{AllowAll, Client, Hook, HookCall, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let guard = Hook::on(|call: HookCall<PreToolUse>| async move {
        let command = call.input_str("command").unwrap_or_default();
        println!("before {}: {command}", call.event.tool_name);
        if command.contains("rm -rf") {
            HookOutput::deny("Nothing is deleted here")
        } else {
            HookOutput::default()
        }
    });
    let note = Hook::on(|call: HookCall<PostToolUse>| async move {
        println!("after {}", call.event.tool_name);
        HookOutput::default()
    });
    // If the hook fails or times out, the command does not run.
    let guard = guard.matching("Bash").timeout(Duration::from_secs(5));
    let client = Client::connect(Options::new().hook(guard).hook(note).on_permission(AllowAll)).await?;
    let end = client.send("Clean up.").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
