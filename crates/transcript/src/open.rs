//! Opening files at paths that may hold anything.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading. Anything else is an error: opening a pipe would block until a process
/// writes into it.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}
