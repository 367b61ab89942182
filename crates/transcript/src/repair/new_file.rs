//! A file that is written completely or not at all.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tidings_base::files::NewFile;

use crate::Error;
use crate::error::At as _;

/// A file that is written under another name and takes its place when it is complete.
#[derive(Debug)]
pub(super) struct RepairedFile {
    path: PathBuf,
    writer: BufWriter<NewFile>,
}

impl RepairedFile {
    /// Begins a file that only its owner may read.
    pub(super) fn begin(path: &Path) -> Result<Self, Error> {
        let new = NewFile::beside(path).at("write", path)?;
        Ok(RepairedFile { path: path.to_owned(), writer: BufWriter::with_capacity(256 << 10, new) })
    }

    /// Puts the file in place, with permissions.
    pub(super) fn finish(self, permissions: Permissions) -> Result<(), Error> {
        let path = &self.path;
        let new = self.writer.into_inner().map_err(io::IntoInnerError::into_error).at("write", path)?;
        new.file().set_permissions(permissions).at("write", path)?;
        new.put_durably().at("write", path)
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), Error> {
        self.writer.write_all(line).and_then(|()| self.writer.write_all(b"\n")).at("write", &self.path)
    }

    /// Copies bytes without adding a line end.
    pub(super) fn copy(&mut self, source: &mut impl io::Read) -> Result<(), Error> {
        io::copy(source, &mut self.writer).map(drop).at("write", &self.path)
    }
}

/// A path with a suffix appended to its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
