//! The error of this crate: a kind, a message and a hint.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Category of an error, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No such session, file or folder.
    NotFound,
    /// Several sessions match the request.
    Ambiguous,
    /// The request is not valid: a bad id, pattern, time zone or price file.
    Invalid,
    /// A file could not be read or written.
    Io,
    /// A file written by this crate, which can be rebuilt, is damaged.
    Damaged,
}

/// A request that could not be carried out. Damage inside session files is not an error but a
/// [`Finding`](crate::Finding).
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: &'static str,
    path: Option<PathBuf>,
    source: Option<io::Error>,
}

impl Error {
    /// An error of a kind, with a message and a hint on what to do.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: &'static str) -> Self {
        Error { kind, message: message.into(), hint, path: None, source: None }
    }

    /// An error about a file or folder that cannot be read or written; the message names it.
    pub fn io(doing: &str, path: &Path, source: io::Error) -> Self {
        let kind = if source.kind() == io::ErrorKind::NotFound { ErrorKind::NotFound } else { ErrorKind::Io };
        let hint = match source.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::IsADirectory => "name a file, not a folder",
            io::ErrorKind::PermissionDenied => "check its permissions",
            io::ErrorKind::StorageFull => "make room on the disk",
            _ => "",
        };
        let message = format!("Failed to {doing} `{}`", path.display());
        // Errors of `fs_err` name the path as well; the message above does so already.
        let reason = source.to_string();
        let source = match reason.split_once(&format!("`{}`: ", path.display())) {
            Some((_, reason)) if source.raw_os_error().is_none() => io::Error::new(source.kind(), reason),
            _ => source,
        };
        Error { kind, message, hint, path: Some(path.to_owned()), source: Some(source) }
    }

    /// An error about the stream that an export is written to.
    pub fn export(source: io::Error) -> Self {
        let message = "Failed to write the export".to_owned();
        Error { kind: ErrorKind::Io, message, hint: "", path: None, source: Some(source) }
    }

    /// The same error with the path of the file or folder that it is about.
    pub(crate) fn about(self, path: &Path) -> Self {
        Error { path: Some(path.to_owned()), ..self }
    }

    /// The category, to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// A hint on what to do; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// The file or folder that could not be read or written.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Adds the path to an I/O error: `fs_err::File::open(path).at("read", path)?`.
pub(crate) trait At<T> {
    fn at(self, doing: &str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|source| Error::io(doing, &path.into(), source))
    }
}
