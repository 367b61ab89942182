//! Where input comes from.

use std::fmt;

use futures_core::future::BoxFuture;
use tidings_protocol::ui::ControllerInputPayload;
use tokio::sync::mpsc;

/// Gives the input for sessions, one piece after the other.
pub trait InputSource: Send {
    /// The next piece; nothing more comes after `None`, and everything is shut down.
    fn recv(&mut self) -> BoxFuture<'_, Option<FrontendInput>>;
}

/// Something that a front end sends.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FrontendInput {
    /// A person says something.
    Message(ControllerInputPayload),
    /// A person wants something of a session.
    Command {
        /// The session.
        session_id: i64,
        /// What is wanted.
        command: Command,
    },
}

/// What can be asked of a session besides answering a prompt. Each ends with a `CommandComplete` of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command {
    /// The turn that is under way ends.
    Interrupt,
    /// The session ends.
    Shutdown,
    /// The conversation begins anew.
    Clear,
    /// The conversation is summed up to make room.
    Compact,
}

impl Command {
    /// One word, as in `CommandComplete`.
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

/// Takes input from another task.
#[derive(Debug)]
pub struct ChannelInputSource<T = FrontendInput>(mpsc::Receiver<T>);

impl<T> ChannelInputSource<T> {
    /// A source with room for that much input, and who sends it.
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
