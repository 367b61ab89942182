//! A handler decides which tools may run, and with which input.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{Client, Decision, Options, PermissionAsk};

/// Called for tools that the rules leave open. `allowed_tools` below is such a rule: `Read` is never passed
/// here.
fn decide(ask: &PermissionAsk) -> Decision {
    let command = ask.input_str("command").unwrap_or_default();
    match ask.call.tool_name.as_str() {
        "Bash" if command.starts_with("rm ") => Decision::deny("Nothing is removed here"),
        // The tool gets another input than the model's.
        "Bash" => Decision::allow_with(serde_json::json!({ "command": "ls docs" })),
        tool => Decision::deny(format!("{tool} is not for you")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let options = Options::new().allowed_tools(["Read"]).on_permission(|ask: PermissionAsk| async move {
        let tool = &ask.call.tool_name;
        let decision = decide(&ask);
        match &decision {
            Decision::Deny(deny) => println!("{tool}: no, {}", deny.message),
            _ => println!("{tool}: yes"),
        }
        decision
    });
    let client = Client::connect(options).await?;
    let end = client.send("Look around and tidy up.").await?.finish().await?;
    println!("{}", end.text());
    client.close().await?;
    Ok(())
}
