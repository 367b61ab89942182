//! Development tasks: `cargo run -p xtask -- <task>`.
//!
//! `tidy` checks the rules that neither the compiler nor clippy checks, `advisories` runs cargo-deny,
//! `findings` writes the tables of tests, and `pins` the pinned versions.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "xtask is run by people and by CI, and prints its findings"
)]

mod advisories;
mod findings;
mod graph;
mod pins;
mod repo;
mod source;
mod tidy;

use std::process::ExitCode;

/// Every task, for the message about wrong usage.
const TASKS: &str = "tidy        check the rules of the project, list every violation
advisories  check for known vulnerabilities, if cargo-deny is installed
findings    write the tests of each row into docs/findings.md, and of the other numbers into docs/findings-index.md
pins        write the pinned versions of e2e into the other places that name them";

fn main() -> ExitCode {
    let tasks: Vec<String> = std::env::args().skip(1).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let done = match tasks.as_slice() {
        ["tidy"] => tidy::run(),
        ["advisories"] => advisories::run(),
        ["findings"] => findings::run(),
        ["pins"] => pins::run(),
        _ => {
            eprintln!("usage: cargo run -p xtask -- <task>\n\n{TASKS}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Result of a task: success of the check, or the reason why it could not run.
type Outcome = Result<bool, Box<dyn std::error::Error>>;
