//! The error of a journal: a kind, a message and a hint.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Kinds of errors, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such session, ask or file.
    NotFound,
    /// It exists already.
    Exists,
    /// Another server writes this session now.
    Fenced,
    /// The call is invalid.
    Invalid,
    /// A limit was reached; the message names it.
    TooLarge,
    /// A project cannot lie inside another.
    Nested,
    /// The disk is full. Nothing was stored; the next call tries again.
    Full,
    /// Another process has the journal open.
    Locked,
    /// The file was written by a newer version.
    Newer,
    /// The file is corrupt.
    Damaged,
    /// The journal's file is gone, or was replaced by another one.
    Missing,
    /// The disk or the file system failed. The call may have been stored or not.
    Io,
    /// The journal was closed.
    Closed,
}

/// An error of a journal: a kind, a message and a hint.
#[derive(Debug, Clone)]
pub struct JournalError {
    kind: ErrorKind,
    message: String,
    hint: &'static str,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl JournalError {
    /// An error with a message and a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: &'static str) -> Self {
        JournalError { kind, message: message.into(), hint, source: None }
    }

    /// The kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The hint; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// True if the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::Full | ErrorKind::Io | ErrorKind::Locked)
    }

    /// True if the engine failed, and not the call.
    pub(crate) fn is_engine(&self) -> bool {
        matches!(self.kind, ErrorKind::Full | ErrorKind::Io | ErrorKind::Damaged | ErrorKind::Locked)
    }

    pub(crate) fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    pub(crate) fn no_session(key: &impl fmt::Display) -> Self {
        let hint = "list the sessions; it may have been deleted";
        JournalError::new(ErrorKind::NotFound, format!("There is no session `{key}`"), hint)
    }

    pub(crate) fn fenced(key: &impl fmt::Display) -> Self {
        let hint = "claim the session again, or leave it to its new owner";
        JournalError::new(ErrorKind::Fenced, format!("Another server writes the session `{key}` now"), hint)
    }

    pub(crate) fn too_large(what: &str, max: impl fmt::Display) -> Self {
        JournalError::new(
            ErrorKind::TooLarge,
            format!("{what} is over the limit of {max}"),
            "send less at once",
        )
    }

    pub(crate) fn closed() -> Self {
        JournalError::new(ErrorKind::Closed, "The journal is closed", "open it again")
    }

    pub(crate) fn io(doing: &str, path: &Path, source: std::io::Error) -> Self {
        let (kind, hint) = match source.kind() {
            std::io::ErrorKind::NotFound => (ErrorKind::NotFound, "check the path"),
            std::io::ErrorKind::PermissionDenied => (ErrorKind::Io, "check who may read and write it"),
            // The second is the limit of file sizes, not a check of our own, which has no number.
            std::io::ErrorKind::StorageFull => (ErrorKind::Full, "make room on the disk"),
            std::io::ErrorKind::FileTooLarge if source.raw_os_error().is_some() => {
                (ErrorKind::Full, "raise the limit of file sizes (`ulimit -f`) of the server")
            }
            std::io::ErrorKind::AlreadyExists => (ErrorKind::Exists, "choose another name"),
            _ => (ErrorKind::Io, ""),
        };
        JournalError::new(kind, format!("Failed to {doing} `{}`", path.display()), hint).with_source(source)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
