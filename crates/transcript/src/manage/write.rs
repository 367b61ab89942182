//! Writing as the CLI does: private files, no accidental creation, no overwriting.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use jiff::Timestamp;
use serde::Serializer;

use super::SessionFile;
use super::scope::not_found;
use crate::Error;
use crate::error::At as _;

/// Appends one line to an existing session. An empty file is not a session.
pub(super) fn append(session: &SessionFile, line: &str) -> Result<(), Error> {
    let path = &session.path;
    // Opening a pipe of that name would block.
    if !std::fs::metadata(path).at("look at", path)?.is_file() {
        return Err(not_found(&session.id));
    }
    let mut file = OpenOptions::new().read(true).append(true).open(path).at("write to", path)?;
    if file.metadata().at("look at", path)?.len() == 0 {
        return Err(not_found(&session.id));
    }
    // A killed writer may have left half a line; ours must not become part of it.
    let text = if ends_with_a_line(&mut file).at("read", path)? {
        format!("{line}\n")
    } else {
        format!("\n{line}\n")
    };
    // One call, so that lines of two writers do not mix.
    file.write_all(text.as_bytes()).at("write to", path)
}

/// Creates a folder that only its owner may enter; an existing one stays as it is, and a link to one is an
/// error.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_folder = std::fs::symlink_metadata(path)?.is_dir();
            if is_folder { Ok(()) } else { Err(error) }
        }
        created => created,
    }
}

/// A time in the format of session files: ISO 8601 in UTC with milliseconds.
pub(super) fn iso(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// [`iso`], for serde.
pub(super) fn milliseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*time))
}

fn ends_with_a_line(file: &mut File) -> io::Result<bool> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
