//! Starts something else that starts `claude`: `ssh`, `docker`, `nice`, a sandbox.

#![expect(clippy::print_stdout, reason = "an example that prints is the point of it")]

use std::process::Command;

use tidings::transport::Process;
use tidings::{Client, Options};

/// The command in `env`, as a stand-in for `docker run` or `ssh host`.
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
    // The other place may not see files of this machine, so long options go by the command line.
    let client = Client::connect_over(transport, Options::new().inline_files()).await?;
    println!("{}", client.send("Where are you?").await?.finish().await?.text());
    client.close().await?;
    Ok(())
}
