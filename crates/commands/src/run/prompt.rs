//! The first prompt of `tidings run`: from the command line, a pipe or both.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::error::CannotRun;
use crate::output::Output;

/// Source of the first prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstPrompt {
    /// The command line or standard input.
    Given(String),
    /// The user types it.
    Typed,
}

/// Upper bound of a prompt that is read from a pipe. The model accepts far less.
const BYTES_MAX: u64 = 16 << 20;

/// Timeout for the first byte from a pipe beside a prompt, as long as that of `claude`.
const PIPE_TIMEOUT: Duration = Duration::from_secs(3);

/// Warning after that timeout.
const SILENT: &str = "warning: no input came through the pipe within 3 seconds, so it is ignored; \
                      use a file instead, or `< /dev/null` if there is no input";

/// Reads the prompt from the command line and standard input. Both together are one prompt, as with `claude`.
pub(super) fn first(given: Option<&str>, out: &Output) -> anyhow::Result<FirstPrompt> {
    match given {
        Some(text) if text != "-" => {
            let more = match piped_beside()? {
                PipedInput::Text(text) => text,
                PipedInput::Silent => {
                    out.note(SILENT)?;
                    String::new()
                }
            };
            Ok(FirstPrompt::Given(joined(text, &more)?))
        }
        None if io::stdin().is_terminal() => Ok(FirstPrompt::Typed),
        _ => Ok(FirstPrompt::Given(joined("", &piped(BYTES_MAX)?)?)),
    }
}

fn joined(given: &str, piped: &str) -> Result<String, CannotRun> {
    let parts: Vec<&str> =
        [given.trim(), piped.trim_end()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: "The prompt is empty".to_owned(),
            hint: "give one: `tidings run \"what does this project do?\"`, or pipe one in",
        });
    }
    Ok(parts.join("\n\n"))
}

/// Input from a pipe beside a prompt.
enum PipedInput {
    Text(String),
    /// No input before the timeout: the parent process may keep a pipe open and never write to it.
    Silent,
}

fn piped_beside() -> Result<PipedInput, CannotRun> {
    if io::stdin().is_terminal() {
        return Ok(PipedInput::Text(String::new()));
    }
    let (sender, receiver) = sync_channel(2);
    drop(std::thread::spawn(move || {
        let began = io::stdin().lock().fill_buf().map(drop);
        drop(sender.send(began.map(|()| String::new()).map_err(|error| unreadable(&error))));
        drop(sender.send(piped(BYTES_MAX)));
    }));
    let Ok(began) = receiver.recv_timeout(PIPE_TIMEOUT) else { return Ok(PipedInput::Silent) };
    began?;
    receiver.recv().unwrap_or_else(|_| Ok(String::new())).map(PipedInput::Text)
}

fn unreadable(error: &io::Error) -> CannotRun {
    CannotRun { code: "unreadable", message: format!("Failed to read standard input: {error}"), hint: "" }
}

/// Reads standard input, if it is UTF-8 and not longer than `bytes_max`.
pub fn piped(bytes_max: u64) -> Result<String, CannotRun> {
    let mut bytes = Vec::new();
    // One byte more than allowed, to detect input that is too long.
    let read = io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error))?;
    text(bytes, bytes_max)
}

fn text(bytes: Vec<u8>, bytes_max: u64) -> Result<String, CannotRun> {
    if bytes.len() as u64 > bytes_max {
        let message = format!("More than {} MiB came through the pipe", bytes_max >> 20);
        let hint = "put the text into a file, and name the file in the prompt";
        return Err(CannotRun { code: "too_large", message, hint });
    }
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

    #[test]
    fn input_that_is_too_long_is_refused_and_never_cut() {
        let most = usize::try_from(BYTES_MAX).unwrap();
        assert_eq!(text(vec![b'a'; most], BYTES_MAX).unwrap().len(), most);
        let refused = text(["é".repeat(most / 2).as_bytes(), b"\xc3"].concat(), BYTES_MAX).unwrap_err();
        assert_eq!((refused.code, refused.message.contains("16 MiB")), ("too_large", true));
        assert_eq!(text(b"\xff".to_vec(), BYTES_MAX).unwrap_err().code, "unreadable");
    }
}
