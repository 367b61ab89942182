//! The user's own editor for a prompt.

use std::env;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use tokio::sync::oneshot::{Receiver, channel};

/// Editor if neither `VISUAL` nor `EDITOR` is set.
const FALLBACK: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Opens a text in the user's editor, which gets the terminal. The result is the text when the editor is
/// closed.
pub(super) fn open(text: String) -> Receiver<Result<String, String>> {
    let (sender, receiver) = channel();
    drop(std::thread::spawn(move || {
        let program = program();
        let edited = edit(&program, &text);
        drop(sender.send(edited.map_err(|error| format!("`{program}` failed: {error}"))));
    }));
    receiver
}

fn program() -> String {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| FALLBACK.to_owned())
}

fn edit(program: &str, text: &str) -> io::Result<String> {
    // Only the user can read it, and it is removed on drop.
    let mut file = tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let mut command = command(program);
    command.arg(file.path());
    let status = command.status()?;
    if !status.success() {
        return Err(io::Error::other(status.to_string()));
    }
    // Some editors replace the file, so it is opened again.
    let edited = fs_err::read_to_string(file.path())?;
    Ok(edited.trim_end().to_owned())
}

/// The variable may contain arguments, and is a line for the shell, as for git.
#[cfg(unix)]
fn command(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{program} \"$@\"")).arg(program);
    // The standard streams may be pipes.
    if let Ok(terminal) = fs_err::OpenOptions::new().read(true).write(true).open("/dev/tty") {
        let terminal = terminal.into_parts().0;
        if let (Ok(output), Ok(errors)) = (terminal.try_clone(), terminal.try_clone()) {
            command.stdin(terminal).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
        }
    }
    command
}

#[cfg(not(unix))]
fn command(program: &str) -> Command {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(FALLBACK));
    command.args(words).stdin(Stdio::inherit());
    command
}
