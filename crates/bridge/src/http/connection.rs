//! A connection as its requests see it: its slot on the server, and the process at its other end.

use std::fmt;
use std::sync::Arc;

use tidings_sessions::process::Process;

/// A connection as its requests see it, in their extensions.
#[derive(Clone)]
pub(crate) struct Connection {
    slot: Arc<dyn ConnectionSlot>,
    /// The process at the other end of a Unix socket, if the operating system names it.
    pub(crate) process: Option<Process>,
}

/// The slot that a connection occupies on the server.
pub(crate) trait ConnectionSlot: Send + Sync {
    /// Marks the connection as authenticated.
    fn authenticate(&self);

    /// True if the server has no room for the connection, and its requests are answered with that.
    fn is_refused(&self) -> bool;
}

impl Connection {
    /// The connection that occupies a slot.
    pub(crate) fn new(slot: Arc<dyn ConnectionSlot>) -> Self {
        Connection { slot, process: None }
    }

    /// The connection with the process at its other end.
    pub(crate) fn with_process(self, process: Option<Process>) -> Self {
        Connection { process, ..self }
    }

    /// Marks the connection as authenticated: a request or a message on it had a credential.
    pub(crate) fn authenticate(&self) {
        self.slot.authenticate();
    }

    /// True if the server has no room for the connection.
    pub(crate) fn is_refused(&self) -> bool {
        self.slot.is_refused()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
