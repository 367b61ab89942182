//! Opening files that lie where anything may lie.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a file to read it. What is none, or leads to none, is an error: to open a pipe is to wait until somebody
/// writes into it.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    must_be_file(&std::fs::metadata(path)?)?;
    File::open(path)
}

/// An error for folders, pipes, sockets and devices.
pub(crate) fn must_be_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
    Err(io::Error::new(kind, "it is no regular file"))
}
