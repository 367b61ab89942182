use std::fmt;
use std::sync::Arc;

use crate::process::Process;

/// A connection as its requests see it, in their extensions.
#[derive(Clone)]
pub(crate) struct Connection {
    mark: Arc<dyn Fn() + Send + Sync>,
    /// The process at the other end of a Unix socket, if the operating system names it.
    pub(crate) process: Option<Process>,
}

impl Connection {
    /// A connection with the function that marks it as authenticated.
    pub(crate) fn new(mark: impl Fn() + Send + Sync + 'static) -> Self {
        Connection { mark: Arc::new(mark), process: None }
    }

    /// The connection with the process at its other end.
    pub(crate) fn with_process(self, process: Option<Process>) -> Self {
        Connection { process, ..self }
    }

    /// Marks the connection as authenticated: a request or a message on it had a credential.
    pub(crate) fn authenticate(&self) {
        (self.mark)();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
