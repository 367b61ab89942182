//! Confirmation prompts on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::error::CannotRun;

/// Asks a question on the terminal and returns true for `y` or `yes` only. Fails without a terminal.
pub fn confirm(question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CannotRun {
            code: CannotRun::NEEDS_A_PERSON,
            message: "This needs confirmation, and there is no terminal to ask on".to_owned(),
            hint: "run it in a terminal, or pass --yes",
        }
        .into());
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
