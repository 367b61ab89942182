use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::error::CannotRun;

/// The first prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// It was given.
    Given(String),
    /// Somebody will type it.
    Typed,
}

/// The longest prompt that is read from a pipe. The model takes far less.
const BYTES_MAX: u64 = 16 << 20;

/// How long a pipe beside a prompt may be silent until it counts as empty.
const PATIENCE: Duration = Duration::from_secs(3);

/// The prompt from the command line or from standard input. Both together are one prompt, as `claude` has it.
pub(super) fn first(given: Option<&str>) -> Result<First, CannotRun> {
    match given {
        Some(text) if text != "-" => {
            let more = if io::stdin().is_terminal() { String::new() } else { piped_beside()? };
            joined(text, &more).map(First::Given)
        }
        None if io::stdin().is_terminal() => Ok(First::Typed),
        _ => joined("", &piped()?).map(First::Given),
    }
}

fn joined(given: &str, piped: &str) -> Result<String, CannotRun> {
    let parts: Vec<&str> =
        [given.trim(), piped.trim_end()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: "There is no prompt".to_owned(),
            hint: "give one: `tidings run \"what does this project do?\"`, or pipe one in",
        });
    }
    Ok(parts.join("\n\n"))
}

/// What is piped in beside a prompt. Somebody who starts us may leave a pipe open and never write; then there is nothing.
fn piped_beside() -> Result<String, CannotRun> {
    let (sender, receiver) = sync_channel(2);
    drop(std::thread::spawn(move || {
        let began = io::stdin().lock().fill_buf().map(drop);
        drop(sender.send(began.map(|()| String::new()).map_err(|error| unreadable(&error))));
        drop(sender.send(piped()));
    }));
    match receiver.recv_timeout(PATIENCE) {
        Ok(began) => began.and_then(|_| receiver.recv().unwrap_or_else(|_| Ok(String::new()))),
        Err(_) => Ok(String::new()),
    }
}

fn unreadable(error: &io::Error) -> CannotRun {
    CannotRun { code: "unreadable", message: format!("Failed to read standard input: {error}"), hint: "" }
}

fn piped() -> Result<String, CannotRun> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error))?;
    let message = "Standard input is not UTF-8 text".to_owned();
    String::from_utf8(bytes).map_err(|_| CannotRun { code: "unreadable", message, hint: "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_and_a_pipe_are_one_prompt() {
        assert_eq!(joined("review", "diff\n").unwrap(), "review\n\ndiff");
        assert_eq!(joined("", "diff\n").unwrap(), "diff");
        assert_eq!(joined("review ", "").unwrap(), "review");
        assert_eq!(joined(" ", "\n").unwrap_err().code, CannotRun::USAGE);
    }
}
