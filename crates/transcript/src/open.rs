//! Opening files that lie where anything may lie.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read it. What is none, or leads to none, is an error: to open a pipe is to wait until somebody
/// writes into it.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }
}
