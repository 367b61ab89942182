//! Prompts and interrupts for sessions that run in a terminal: they are typed as a person would type them, or
//! sent as messages where the user allows that.
//!
//! A prompt is stored in the queue first. It is typed when the CLI reports that it is idle or busy, and the
//! input line on its screen is empty. With a dialog or a draft it waits; the ones behind it wait, too.

mod deliver;
mod find;
mod messages;
mod tmux;

use std::io;
use std::sync::Arc;

use tidings::host::terminal::{TerminalHost, TypingOutcome, typed_text};
use tidings_api::{Accepted, Code, Input, SessionCapability};

pub(super) use self::deliver::deliver;

use self::messages::MessagingSocket;
use self::tmux::TmuxPane;
use super::{BUSY, IDLE, ObservedProcess, Sessions};
use crate::Error;
use crate::backends::Backend;
use crate::live_session::LiveSession;
use crate::running::commands::at_cursor;

/// The way in which keys reach the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Steering {
    /// It runs in the terminal of a host.
    Terminal(TerminalHost),
    /// It runs in a pane of tmux.
    Tmux(TmuxPane),
    /// It takes messages of other sessions. They are no keys, and start a turn or join one.
    Messages(MessagingSocket),
}

impl Steering {
    /// Types a prompt, if the screen allows it now. An empty one only asks.
    pub(super) async fn prompt(&self, text: &str, id: &str) -> io::Result<TypingOutcome> {
        match self {
            Steering::Terminal(host) => host.prompt(text).await,
            Steering::Tmux(pane) => pane.prompt(text).await,
            Steering::Messages(socket) => socket.prompt(text, id).await,
        }
    }

    /// Types Esc, if the screen allows it now.
    pub(super) async fn interrupt(&self) -> io::Result<TypingOutcome> {
        match self {
            Steering::Terminal(host) => host.interrupt().await,
            Steering::Tmux(pane) => pane.interrupt().await,
            Steering::Messages(_) => Ok(TypingOutcome::NoInputLine),
        }
    }
}

impl Steering {
    /// Types Esc into a screen that a command has opened. Other dialogs take no keys in their first moment.
    pub(super) async fn close_screen(&self) -> io::Result<()> {
        match self {
            Steering::Terminal(host) => host.close_screen().await,
            Steering::Tmux(pane) => pane.close_screen().await,
            Steering::Messages(_) => Ok(()),
        }
    }
}

impl ObservedProcess {
    /// Tells that the queue of prompts has changed.
    pub(crate) fn notify_queue(&self) {
        self.queue_changed.notify_one();
    }

    /// True if prompts reach it as messages of another Claude session.
    pub(super) fn takes_messages(&self) -> bool {
        matches!(self.steering, Some(Steering::Messages(_)))
    }

    /// The actions that typing makes possible.
    pub(super) fn typed_actions(&self) -> &'static [SessionCapability] {
        use SessionCapability::{Interrupt, Prompt, Terminal};
        match &self.steering {
            Some(Steering::Terminal(_)) => &[Prompt, Interrupt, Terminal],
            Some(Steering::Tmux(_)) => &[Prompt, Interrupt],
            Some(Steering::Messages(_)) => &[Prompt],
            None => &[],
        }
    }
}

impl Sessions {
    /// Interrupts the turn of a session that runs in a terminal; `None` if this server runs the agent.
    pub(crate) async fn interrupt_typed(&self, entry: &LiveSession) -> Result<Option<Accepted>, Error> {
        let observed = entry.memory().observed.clone();
        let Some(process) = observed else { return Ok(None) };
        if process.steering.is_none() {
            return Ok(None);
        }
        if process.takes_messages() {
            let message = "This session takes messages, and no keys";
            return Err(Error::new(Code::Conflict, message, "interrupt it where it runs"));
        }
        if entry.status_of(&process).await.as_deref() != Some(BUSY) {
            let message = "The session does not work on a turn, or shows a dialog";
            return Err(Error::new(Code::Conflict, message, "answer the dialog, if there is one"));
        }
        process.interrupt().await?;
        Ok(Some(at_cursor(entry.memory().row.head)))
    }

    /// The terminal of a session.
    pub async fn terminal(&self, name: &str) -> Result<TerminalHost, Error> {
        let view = self.find(name).await?;
        let entry = self.active_session(&tidings_journal::Key::new(view.key)?).await?.entry;
        let observed = entry.memory().observed.clone();
        let steering = observed.as_ref().and_then(|process| process.steering.as_ref());
        if let Some(Steering::Terminal(host)) = steering {
            return Ok(host.clone());
        }
        let hint = "only sessions of `tidings claude` have one";
        Err(Error::new(Code::Conflict, "This session has no terminal to show", hint))
    }
}

impl LiveSession {
    /// Checks a prompt for a session that runs in a terminal. Returns the process that it is typed into, or
    /// none if this server runs the agent.
    pub(crate) fn check_typed(&self, input: &Input) -> Result<Option<Arc<ObservedProcess>>, Error> {
        let observed = self.memory().observed.clone();
        self.check_offered(SessionCapability::Prompt)?;
        let Some(process) = observed else { return Ok(None) };
        let text = typed_text(&input.content);
        if text.is_empty() {
            return Err(Error::new(Code::Invalid, "The prompt has no visible text", "send some text"));
        }
        if !input.attachments.is_empty() {
            let message = "Attachments cannot be typed into a terminal";
            return Err(Error::new(Code::Invalid, message, "put the file into the folder, and name it"));
        }
        Ok(Some(process))
    }
}

pub(super) fn unreachable(error: &io::Error) -> Error {
    let message = format!("The terminal of this session does not respond: {error}");
    Error::new(Code::Conflict, message, "the session may have ended")
}
