use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What went wrong, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No such session, ask or file.
    NotFound,
    /// There is one already.
    Exists,
    /// Somebody else writes this session now.
    Fenced,
    /// What was asked for makes no sense.
    Invalid,
    /// A bound was reached; it is named in the sentence.
    TooLarge,
    /// A project cannot lie inside another.
    Nested,
    /// No room on the disk. Nothing was stored; the next call tries again.
    Full,
    /// Another process has the journal open.
    Locked,
    /// The file was written by a newer version.
    Newer,
    /// The file does not hold what was written to it.
    Damaged,
    /// The journal that belongs here is gone, or another one is in its place.
    Missing,
    /// The disk or the file system failed. Whether the call was stored is not known.
    Io,
    /// The journal was closed.
    Closed,
}

/// What the journal could not do: a kind, a sentence and a hint.
#[derive(Debug, Clone)]
pub struct JournalError {
    kind: ErrorKind,
    message: String,
    hint: &'static str,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl JournalError {
    /// An error of a kind, with a sentence to show and a hint to act on.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: &'static str) -> Self {
        JournalError { kind, message: message.into(), hint, source: None }
    }

    /// To branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// Whether the same call may succeed later without anybody changing it.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::Full | ErrorKind::Io | ErrorKind::Locked)
    }

    /// Whether the engine failed, and not the call.
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
        JournalError::new(ErrorKind::Fenced, format!("Somebody else writes the session `{key}` now"), hint)
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
            std::io::ErrorKind::StorageFull => (ErrorKind::Full, "make room on the disk"),
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
