//! A file that is written completely or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::At as _;

/// A file that is written under a temporary name. It is renamed when it is complete, and removed on drop
/// otherwise.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file that only its owner may read.
    pub(super) fn begin(path: &Path) -> Result<Self, Error> {
        let part = with_suffix(path, ".part");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&part).at("write", &part)?;
        Ok(NewFile { path: path.to_owned(), part, writer: Some(BufWriter::with_capacity(256 << 10, file)) })
    }

    /// Renames the file and sets its permissions.
    pub(super) fn finish(mut self, permissions: Permissions) -> Result<(), Error> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error).at("write", &self.part)?;
            file.set_permissions(permissions).at("write", &self.part)?;
            file.sync_all().at("write", &self.part)?;
            fs_err::rename(&self.part, &self.path).at("write", &self.path)?;
        }
        Ok(())
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), Error> {
        let part = &self.part;
        match &mut self.writer {
            Some(writer) => writer.write_all(line).and_then(|()| writer.write_all(b"\n")).at("write", part),
            None => Ok(()),
        }
    }

    /// Copies bytes without adding a line end.
    pub(super) fn copy(&mut self, source: &mut impl io::Read) -> Result<(), Error> {
        match &mut self.writer {
            Some(writer) => io::copy(source, writer).map(drop).at("write", &self.part),
            None => Ok(()),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // On drop, a failure to remove the file cannot be reported.
            drop(fs_err::remove_file(&self.part));
        }
    }
}

/// A path with a suffix appended to its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
