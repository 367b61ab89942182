//! Known vulnerabilities among the dependencies.
//!
//! Not part of `tidy`: the advisory database comes over the network, and tests need none.

use crate::{Outcome, repo};
use std::process::{Command, Stdio};

/// Runs `cargo deny check advisories`; a machine without cargo-deny gets a note and success.
pub(crate) fn run() -> Outcome {
    if !installed() {
        println!("note: cargo-deny is not installed, so no advisories were checked");
        println!("hint: cargo install cargo-deny --locked");
        return Ok(true);
    }
    let status = deny().args(["check", "advisories"]).status()?;
    Ok(status.success())
}

fn installed() -> bool {
    let quiet = deny().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

fn deny() -> Command {
    let mut command = Command::new(repo::cargo());
    command.current_dir(repo::root()).arg("deny");
    command
}
