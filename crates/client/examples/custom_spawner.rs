//! Starts `claude` through another program: `ssh`, `docker`, `nice`, a sandbox.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::process::Command;

use tidings::transport::Process;
use tidings::{Client, Options};

/// The command in `env`, as a substitute for `docker run` or `ssh host`.
fn inside(claude: &Command) -> Command {
    let mut outer = Command::new("env");
    outer.arg("WHERE=inside").arg(claude.get_program()).args(claude.get_args());
    if let Some(folder) = claude.get_current_dir() {
        outer.current_dir(folder);
    }
    for (name, value) in claude.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let transport = Process::wrapped(|claude| inside(&claude));
    // The other machine may not have access to local files, so long options are put on the command line.
    let client = Client::connect_over(transport, Options::new().inline_files()).await?;
    println!("{}", client.send("Where are you?").await?.finish().await?.text());
    client.close().await?;
    Ok(())
}
