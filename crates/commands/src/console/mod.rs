//! The terminal of a session: its view, its input line and its keys. `run` and `attach` share it.

mod clipboard;
mod editor;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use tidings_api::Delivery;
use tokio::sync::oneshot::Receiver;

use super::sessions::RootArgs;
use crate::output::{Output, can_draw};
use crate::terminal::ask::Reply;
use crate::terminal::{
    Diffs, Draft, Key, KeyEffect, Keyboard, Paint, Pane, PromptAction, PromptHistory, PromptInput, Screen,
    SlashCommand, Thoughts, View, keys,
};

/// View of a session, and the keys of its user.
pub struct Console {
    pub view: View,
    keyboard: Option<Keyboard>,
    /// Text of an editor that has the terminal.
    edited: Option<Receiver<Result<String, String>>>,
    /// Image of the clipboard that is being read.
    pasted: Option<Receiver<Result<Vec<u8>, String>>>,
}

/// Input of the user.
pub enum ConsoleInput {
    Key(Key),
    /// The editor was closed.
    Edited(Result<String, String>),
    /// The clipboard was read.
    Pasted(Result<Vec<u8>, String>),
}

/// An action that the user asked for.
#[derive(Debug)]
pub enum UserAction {
    /// Answer a request.
    Answer(String, Reply),
    /// Send a prompt.
    Prompt(Draft, Delivery),
    /// Ctrl-C without a text to clear.
    Interrupt,
    /// Leave the session.
    Leave,
}

impl Console {
    pub fn new(view: View) -> Self {
        Console { view, keyboard: None, edited: None, pasted: None }
    }

    /// Starts to read keys.
    pub fn open_keyboard(&mut self) -> io::Result<()> {
        self.keyboard = Some(Keyboard::open()?);
        Ok(())
    }

    /// Restores the terminal.
    pub(crate) fn close_keyboard(&mut self) {
        self.keyboard = None;
    }

    pub fn has_keyboard(&self) -> bool {
        self.keyboard.is_some()
    }

    /// Adds an input line for a session in `folder`. Files are completed in the folder `files`, unless
    /// they are on another machine.
    pub fn add_input(&mut self, folder: &Path, files: Option<&Path>, commands: Vec<SlashCommand>) {
        let history = PromptHistory::of_project(RootArgs::data_folder().as_deref(), folder);
        let mut input = PromptInput::new(history);
        input.set_folder(files.map(PathBuf::from));
        input.set_commands(commands);
        self.view.set_input(input);
    }

    /// True while an editor has the terminal.
    pub fn is_editing(&self) -> bool {
        self.edited.is_some()
    }

    /// Waits for input. Never returns without a keyboard. Nothing is lost if it is cancelled.
    pub async fn next(&mut self) -> ConsoleInput {
        tokio::select! {
            key = next_key(self.keyboard.as_mut()) => ConsoleInput::Key(key),
            edited = received(self.edited.as_mut()) => {
                self.edited = None;
                ConsoleInput::Edited(edited)
            }
            pasted = received(self.pasted.as_mut()) => {
                self.pasted = None;
                ConsoleInput::Pasted(pasted)
            }
        }
    }

    /// Handles input, and returns what the session has to do.
    pub fn handle(&mut self, input: ConsoleInput) -> io::Result<Option<UserAction>> {
        let now = Instant::now();
        match input {
            ConsoleInput::Key(Key::Resized) => {
                self.view.resized(size());
                self.view.draw(now)?;
            }
            ConsoleInput::Key(Key::Interrupt) => {
                let had_text = self.view.input().is_some_and(PromptInput::clear);
                if !had_text {
                    return Ok(Some(UserAction::Interrupt));
                }
                self.view.draw(now)?;
            }
            #[cfg(unix)]
            ConsoleInput::Key(Key::Ctrl('z')) => {
                self.view.screen().clear()?;
                self.close_keyboard();
                // Returns when the shell continues the program.
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)?;
                self.open_keyboard()?;
                self.view.resized(size());
                self.view.draw(Instant::now())?;
            }
            ConsoleInput::Key(key) => {
                return match self.view.key(&key, now)? {
                    KeyEffect::None => Ok(None),
                    KeyEffect::Answer(id, reply) => Ok(Some(UserAction::Answer(id, reply))),
                    KeyEffect::Prompt(action) => self.prompt_action(action),
                };
            }
            ConsoleInput::Edited(edited) => {
                self.view.screen().resume()?;
                self.open_keyboard()?;
                self.view.resized(size());
                self.with_input(|input| match edited {
                    Ok(text) => input.set_text(&text),
                    Err(error) => input.fail(error),
                })?;
            }
            ConsoleInput::Pasted(pasted) => self.with_input(|input| match pasted {
                Ok(image) => input.attach_image(&image),
                Err(error) => input.fail(error),
            })?,
        }
        Ok(None)
    }

    fn prompt_action(&mut self, action: PromptAction) -> io::Result<Option<UserAction>> {
        match action {
            PromptAction::None => {}
            PromptAction::Send(draft) => return Ok(Some(UserAction::Prompt(draft, Delivery::Queue))),
            PromptAction::Steer(draft) => return Ok(Some(UserAction::Prompt(draft, Delivery::Steer))),
            PromptAction::Leave => return Ok(Some(UserAction::Leave)),
            PromptAction::ShowKeys => {
                self.view.show_keys()?;
                self.view.draw(Instant::now())?;
            }
            PromptAction::ReadClipboard => self.pasted = Some(clipboard::read_image()),
            PromptAction::OpenEditor(text) => {
                self.view.screen().suspend()?;
                self.close_keyboard();
                self.edited = Some(editor::open(text));
            }
        }
        Ok(None)
    }

    /// Changes the input line, if there is one, and draws it.
    pub fn with_input(&mut self, change: impl FnOnce(&mut PromptInput)) -> io::Result<()> {
        self.view.input().map(change);
        self.view.draw(Instant::now())
    }
}

async fn next_key(keyboard: Option<&mut Keyboard>) -> Key {
    match keyboard {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for a result; never returns if there is none to wait for.
async fn received<T>(receiver: Option<&mut Receiver<Result<T, String>>>) -> Result<T, String> {
    match receiver {
        Some(receiver) => receiver.await.unwrap_or_else(|_| Err("It ended without a result".to_owned())),
        None => std::future::pending().await,
    }
}

/// Output of the answer's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerText {
    Shown,
    Dropped,
}

/// Creates a view on the standard streams, which may be terminals or pipes.
pub fn view(data: AnswerText, diffs: Diffs, thoughts: Thoughts, out: &Output) -> View {
    let paint = |styled: bool| if styled { Paint::Styled } else { Paint::Plain };
    let data = match data {
        AnswerText::Dropped => Pane::piped(Box::new(io::sink()), Paint::Plain),
        AnswerText::Shown if io::stdout().is_terminal() && (can_draw() || !io::stderr().is_terminal()) => {
            Pane::terminal(Box::new(io::stdout()), paint(out.paints_stdout()))
        }
        AnswerText::Shown => Pane::piped(Box::new(io::stdout()), Paint::Plain),
    };
    let notes = if can_draw() {
        Pane::terminal(Box::new(io::stderr()), paint(out.paints_stderr()))
    } else {
        Pane::piped(Box::new(io::stderr()), paint(out.paints_stderr()))
    };
    View::new(Screen::new(data, notes), diffs, thoughts, size())
}

/// Columns and rows of the terminal, or 80×24 without one.
pub(crate) fn size() -> (usize, usize) {
    let (columns, rows) = keys::size().unwrap_or((80, 24));
    (if columns == 0 { 80 } else { columns.into() }, if rows == 0 { 24 } else { rows.into() })
}

/// True if keys can be read: from standard input, or from `/dev/tty` if a prompt was piped in.
pub fn can_type() -> bool {
    io::stdin().is_terminal() || cfg!(unix) && fs_err::File::open("/dev/tty").is_ok()
}
