//! Shows what options come to, without starting anything: arguments, environment, handshake.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

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
            // Long or secret: it goes by a file that nobody else can read.
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
