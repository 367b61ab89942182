//! The error of the fleet: a kind, a message and a hint.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Kinds of errors, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call is invalid.
    Invalid,
    /// A signature, a key or a membership was refused.
    Refused,
    /// A message is encrypted with a key that this node does not have, or not yet.
    UnknownKey,
    /// The server of the fleet is not connected.
    Disconnected,
    /// The other node is not connected.
    NoNode,
    /// No answer came in time. The call may have had its effect.
    Timeout,
    /// The storage of the fleet is full.
    Full,
    /// Another message came first.
    Conflict,
    /// A limit was reached.
    TooLarge,
    /// The server of the fleet refused the call.
    Server,
    /// The caller's own part failed: its journal or its handler.
    Local,
}

/// An error of the fleet: a kind, a message and a hint.
#[derive(Debug, Clone)]
pub struct FleetError {
    kind: ErrorKind,
    message: String,
    hint: &'static str,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl FleetError {
    /// An error with a message and a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: &'static str) -> Self {
        FleetError { kind, message: message.into(), hint, source: None }
    }

    /// The kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The hint; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    pub(crate) fn server(doing: &str, source: impl Error + Send + Sync + 'static) -> Self {
        let message = format!("Failed to {doing}: {source}");
        let hint = "check the NATS server, its JetStream and the permissions of this user";
        FleetError { source: Some(Arc::new(source)), ..FleetError::new(ErrorKind::Server, message, hint) }
    }

    pub(crate) fn timeout(doing: &str) -> Self {
        let message = format!("No answer of the NATS server in time: {doing}");
        FleetError::new(ErrorKind::Timeout, message, "it is tried again")
    }

    pub(crate) fn disconnected() -> Self {
        let hint = "it is connected again as soon as the server answers";
        FleetError::new(ErrorKind::Disconnected, "The NATS server of the fleet is not connected", hint)
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for FleetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
