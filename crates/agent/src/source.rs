//! Sources of user input.

use std::fmt;

use futures_core::future::BoxFuture;
use tidings_protocol::ui::ControllerInputPayload;
use tokio::sync::mpsc;

/// A source of input for sessions.
pub trait InputSource: Send {
    /// The next input. `None` means that no more input comes, and shuts down all sessions.
    fn recv(&mut self) -> BoxFuture<'_, Option<FrontendInput>>;
}

/// An input from a front end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FrontendInput {
    /// A message from the user.
    Message(ControllerInputPayload),
    /// A command for a session.
    Command {
        /// The session.
        session_id: i64,
        /// The command.
        command: Command,
    },
}

/// Commands that a session accepts besides messages. Each ends with a `CommandComplete` event of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command {
    /// Interrupts the running turn.
    Interrupt,
    /// Ends the session.
    Shutdown,
    /// Clears the conversation.
    Clear,
    /// Compacts the conversation.
    Compact,
}

impl Command {
    /// The name of the command, as in `CommandComplete`.
    pub fn as_str(self) -> &'static str {
        match self {
            Command::Interrupt => "interrupt",
            Command::Shutdown => "shutdown",
            Command::Clear => "clear",
            Command::Compact => "compact",
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<ControllerInputPayload> for FrontendInput {
    fn from(payload: ControllerInputPayload) -> Self {
        FrontendInput::Message(payload)
    }
}

/// A source that receives input from another task through a channel.
#[derive(Debug)]
pub struct ChannelInputSource<T = FrontendInput>(mpsc::Receiver<T>);

impl<T> ChannelInputSource<T> {
    /// Creates a source that buffers up to `room` inputs, and its sender.
    pub fn new(room: usize) -> (mpsc::Sender<T>, Self) {
        let (sender, receiver) = mpsc::channel(room.max(1));
        (sender, ChannelInputSource(receiver))
    }
}

impl<T: Into<FrontendInput> + Send> InputSource for ChannelInputSource<T> {
    fn recv(&mut self) -> BoxFuture<'_, Option<FrontendInput>> {
        Box::pin(async move { self.0.recv().await.map(Into::into) })
    }
}
