//! Questions that only a person may answer.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::error::CannotRun;

/// Asks on the terminal, and takes only `y` or `yes` for a yes. Without a terminal nobody can answer.
pub(crate) fn confirm(question: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CannotRun {
            code: CannotRun::NEEDS_A_PERSON,
            message: "Somebody has to confirm this, and nobody is there".to_owned(),
            hint: "run it in a terminal, or add --yes",
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
