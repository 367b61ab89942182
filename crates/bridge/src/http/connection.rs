use std::fmt;
use std::sync::Arc;

/// A connection as its requests see it, in their extensions.
#[derive(Clone)]
pub(crate) struct Connection(Arc<dyn Fn() + Send + Sync>);

impl Connection {
    /// A connection with the function that marks it as authenticated.
    pub(crate) fn new(mark: impl Fn() + Send + Sync + 'static) -> Self {
        Connection(Arc::new(mark))
    }

    /// Marks the connection as authenticated: a request or a message on it had a credential.
    pub(crate) fn authenticate(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
