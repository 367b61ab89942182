use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::error::CannotRun;
use crate::output::Output;

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

/// How long a pipe beside a prompt may be silent until it counts as empty: what `claude` waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is said then.
const SILENT: &str = "warning: nothing came through the pipe in 3 seconds, and what comes now is left out; \
                      put it into a file first, or say `< /dev/null` if nothing is meant to come";

/// The prompt from the command line or from standard input. Both together are one prompt, as `claude` has it.
pub(super) fn first(given: Option<&str>, out: &Output) -> anyhow::Result<First> {
    match given {
        Some(text) if text != "-" => {
            let more = match piped_beside()? {
                Beside::Text(text) => text,
                Beside::Silent => {
                    out.note(SILENT)?;
                    String::new()
                }
            };
            Ok(First::Given(joined(text, &more)?))
        }
        None if io::stdin().is_terminal() => Ok(First::Typed),
        _ => Ok(First::Given(joined("", &piped(BYTES_MAX)?)?)),
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

/// What is piped in beside a prompt.
enum Beside {
    Text(String),
    /// Somebody who starts us may leave a pipe open and never write; whatever comes later is not read.
    Silent,
}

fn piped_beside() -> Result<Beside, CannotRun> {
    if io::stdin().is_terminal() {
        return Ok(Beside::Text(String::new()));
    }
    let (sender, receiver) = sync_channel(2);
    drop(std::thread::spawn(move || {
        let began = io::stdin().lock().fill_buf().map(drop);
        drop(sender.send(began.map(|()| String::new()).map_err(|error| unreadable(&error))));
        drop(sender.send(piped(BYTES_MAX)));
    }));
    let Ok(began) = receiver.recv_timeout(PATIENCE) else { return Ok(Beside::Silent) };
    began?;
    receiver.recv().unwrap_or_else(|_| Ok(String::new())).map(Beside::Text)
}

fn unreadable(error: &io::Error) -> CannotRun {
    CannotRun { code: "unreadable", message: format!("Failed to read standard input: {error}"), hint: "" }
}

/// What comes through the pipe, if it is text and no longer than this.
pub(crate) fn piped(bytes_max: u64) -> Result<String, CannotRun> {
    let mut bytes = Vec::new();
    // One byte more, so that too much is told from just enough.
    let read = io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error))?;
    text(bytes, bytes_max)
}

fn text(bytes: Vec<u8>, bytes_max: u64) -> Result<String, CannotRun> {
    if bytes.len() as u64 > bytes_max {
        let message = format!("More than {} MiB came through the pipe", bytes_max >> 20);
        let hint = "put it into a file, and name the file in the prompt";
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
    fn too_much_is_refused_and_nothing_is_cut() {
        let most = usize::try_from(BYTES_MAX).unwrap();
        assert_eq!(text(vec![b'a'; most], BYTES_MAX).unwrap().len(), most);
        let refused = text(["é".repeat(most / 2).as_bytes(), b"\xc3"].concat(), BYTES_MAX).unwrap_err();
        assert_eq!((refused.code, refused.message.contains("16 MiB")), ("too_large", true));
        assert_eq!(text(b"\xff".to_vec(), BYTES_MAX).unwrap_err().code, "unreadable");
    }
}
