//! A handler decides which tools may run, and with what.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use tidings::{Client, Decision, Options, PermissionAsk};

/// Called for what the rules leave open. `allowed_tools` below is such a rule: `Read` never comes here.
fn decide(ask: &PermissionAsk) -> Decision {
    let input = ask.input().map(ToString::to_string).unwrap_or_default();
    match ask.call.tool_name.as_str() {
        "Bash" if input.contains("rm ") => Decision::deny("Nothing is removed here"),
        // The model asked for one thing, and the tool gets another.
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
