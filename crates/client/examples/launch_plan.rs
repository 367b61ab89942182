//! Shows the arguments, environment and handshake of options, without starting a process.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::options::Arg;
use tidings::permissions::PermissionMode;
use tidings::{AllowAll, Options};

fn main() -> Result<(), tidings::Error> {
    let options = Options::new()
        .model("haiku")
        .permission_mode(PermissionMode::ACCEPT_EDITS)
        .on_permission(AllowAll)
        .env("EDITOR", "true")
        .settings(serde_json::json!({ "env": { "TOKEN": "secret" } }))
        .title("A title");
    let plan = options.plan()?;
    for arg in &plan.launch.args {
        match arg {
            Arg::Text(text) => println!("argument   {text}"),
            Arg::Path(path) => println!("path       {}", path.display()),
            // Long or secret: passed as a file with access for the owner only.
            Arg::File { name, contents } => println!("file       {name} ({} bytes)", contents.len()),
            _ => {}
        }
    }
    for (name, value) in plan.launch.environment.set.iter().filter(|(name, _)| *name == "EDITOR") {
        println!("variable   {name}={value}");
    }
    println!("handshake  title: {}", plan.initialize.title.unwrap_or_default());
    println!("warnings   {:?}", plan.warnings);
    Ok(())
}
