//! Chores as plain Rust: `cargo run -p xtask -- <chore>`.
//!
//! `tidy` holds the rules that neither the compiler nor clippy knows, `advisories` asks cargo-deny, and `findings` writes a table of tests.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "xtask is run by people and by CI: what it finds goes to the terminal"
)]

mod advisories;
mod findings;
mod graph;
mod repo;
mod source;
mod tidy;

use std::process::ExitCode;

/// Every chore, so that wrong usage can list them.
const CHORES: &str = "tidy        check the rules of the house, list every violation
advisories  ask cargo-deny for known vulnerabilities, where it is installed
findings    write the tests of each row into docs/findings.md";

fn main() -> ExitCode {
    let chores: Vec<String> = std::env::args().skip(1).collect();
    let chores: Vec<&str> = chores.iter().map(String::as_str).collect();
    let done = match chores.as_slice() {
        ["tidy"] => tidy::run(),
        ["advisories"] => advisories::run(),
        ["findings"] => findings::run(),
        _ => {
            eprintln!("usage: cargo run -p xtask -- <chore>\n\n{CHORES}");
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

/// What a chore ends with: whether all is well, or the reason it could not look.
type Outcome = Result<bool, Box<dyn std::error::Error>>;
