//! The line editor for prompts.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustyline::config::Configurer as _;
use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History as _};
use rustyline::{
    Behavior, Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};

use tokio::sync::oneshot;

/// Reads prompts with line editing, bracketed paste and a history for each project.
pub(crate) struct PromptEditor {
    editor: Editor<(), FileHistory>,
    history: Option<PathBuf>,
}

/// The result of reading a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Prompt(String),
    /// Ctrl-C at an empty prompt.
    Interrupted,
    /// Ctrl-D at an empty prompt, or the terminal is gone.
    End,
}

/// Number of prompts that the history keeps.
const HISTORY_MAX: usize = 1_000;

impl PromptEditor {
    /// Creates an editor whose history is the file at `history`; without a file, no history is stored.
    pub(crate) fn new(history: Option<PathBuf>) -> io::Result<Self> {
        // Prompts are typed on the terminal even if the answers go to a file.
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .bracketed_paste(true)
            .history_ignore_space(true)
            .auto_add_history(false)
            .build();
        let mut editor = Editor::with_history(config, FileHistory::new()).map_err(io_error)?;
        editor.set_max_history_size(HISTORY_MAX).map_err(io_error)?;
        let clear_or_exit = EventHandler::Conditional(Box::new(ClearOrExit));
        editor.bind_sequence(KeyEvent::ctrl('c'), clear_or_exit);
        let newline = Cmd::Insert(1, "\n".to_owned());
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), EventHandler::Simple(newline));
        if let Some(path) = &history {
            // An unreadable history counts as empty.
            drop(editor.load_history(path));
        }
        Ok(PromptEditor { editor, history })
    }

    /// Reads a prompt that begins with `typed` in a separate thread, and returns the editor.
    pub(crate) async fn read(mut self, typed: String) -> anyhow::Result<(Self, Typed)> {
        let (sender, receiver) = oneshot::channel();
        // A blocking read cannot be cancelled.
        drop(std::thread::spawn(move || {
            let read = self.read_lines(&typed);
            drop(sender.send((self, read)));
        }));
        let (editor, read) = receiver.await?;
        Ok((editor, read?))
    }

    /// Reads a prompt; a line that ends with a backslash continues in the next one.
    fn read_lines(&mut self, typed: &str) -> io::Result<Typed> {
        io::stderr().write_all(b"\n")?;
        let mut prompt = String::new();
        let mut mark = "› ";
        let mut typed = typed;
        loop {
            let line = match self.editor.readline_with_initial(mark, (std::mem::take(&mut typed), "")) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) if mark == "… " => return Ok(Typed::Prompt(String::new())),
                Err(ReadlineError::Interrupted) => return Ok(Typed::Interrupted),
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(io_error(error)),
            };
            let Some(more) = line.strip_suffix('\\') else {
                prompt.push_str(&line);
                break;
            };
            prompt.push_str(more);
            prompt.push('\n');
            mark = "… ";
        }
        self.remember(&prompt);
        Ok(Typed::Prompt(prompt))
    }

    fn remember(&mut self, prompt: &str) {
        if prompt.trim().is_empty() || !self.editor.history_mut().add(prompt).unwrap_or(false) {
            return;
        }
        if let Some(path) = &self.history {
            // Failures are ignored: the conversation works without a history.
            let made = path.parent().map_or(Ok(()), create_private_folder);
            if made.is_ok() {
                drop(self.editor.append_history(path));
            }
        }
    }
}

/// Creates an editor with the history of the current folder.
pub(crate) fn prompt_editor(data: Option<PathBuf>) -> io::Result<PromptEditor> {
    let folder = std::env::current_dir().ok();
    let history = data.zip(folder).map(|(data, folder)| history_file(&data, &folder));
    PromptEditor::new(history)
}

/// Path of the prompt history of a folder, below the data folder.
fn history_file(data: &Path, project: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    project.hash(&mut hasher);
    let name = project.file_name().map_or(Cow::Borrowed("root"), |name| name.to_string_lossy());
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    data.join("history").join(format!("{name}-{:016x}", hasher.finish()))
}

/// Ctrl-C: clears the input, or exits if the input is empty.
struct ClearOrExit;

impl ConditionalEventHandler for ClearOrExit {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(if context.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
}

/// Saved settings of the terminal, to restore them if a prompt is aborted without its editor.
pub(crate) struct TerminalSettings {
    #[cfg(unix)]
    saved: Option<rustix::termios::Termios>,
}

impl TerminalSettings {
    pub(crate) fn save() -> Self {
        TerminalSettings {
            #[cfg(unix)]
            saved: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    /// Ends raw mode and bracketed paste.
    pub(crate) fn restore(&self) {
        #[cfg(unix)]
        if let Some(saved) = &self.saved {
            // Fails only if the terminal is gone.
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, saved);
            drop(io::stderr().write_all(b"\x1b[?2004l\r\n"));
        }
    }
}

fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn io_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_each_project_has_a_history_of_its_own() {
        let data = Path::new("/data");
        let file = history_file(data, Path::new("/home/dev/my project"));
        assert!(file.to_str().unwrap().starts_with("/data/history/myproject-"), "{}", file.display());
        assert_ne!(file, history_file(data, Path::new("/home/other/my project")));
    }
}
