//! Output file of a recording.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tidings_base::files;
use tidings_transcript::Error;
use uuid::Uuid;

use crate::error::CannotRun;

/// Output file, opened before the run. Its old content is replaced only when the recording is written.
pub(super) struct RecordingFile {
    path: PathBuf,
    file: File,
    /// True if it was created for this recording.
    new: bool,
}

impl RecordingFile {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::io("write", path, error);
        let opened = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (OpenOptions::new().write(true).open(path).map_err(failed)?, false)
            }
            file => (file.map_err(failed)?, true),
        };
        let (file, new) = opened;
        Ok(RecordingFile { path: path.to_owned(), file, new })
    }

    /// Removes the file if it was created for this recording, since there is nothing to record.
    pub(super) fn discard(self) {
        if self.new {
            // The error of the run matters more than an empty file that stays.
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Writes the recording, and falls back to the folder for temporary files.
    pub(super) fn write(mut self, text: &str) -> anyhow::Result<()> {
        let Err(error) = self.replace(text) else { return Ok(()) };
        let fallback = fallback(&self.path);
        let saved = files::create_private(&fallback).and_then(|mut file| file.write_all(text.as_bytes()));
        if saved.is_err() {
            return Err(Error::io("write", &self.path, error).into());
        }
        let (path, fallback) = (self.path.display(), fallback.display());
        Err(CannotRun {
            code: "failed",
            message: format!("Failed to write `{path}`: {error}. The recording is in `{fallback}`"),
            hint: "move it to its final location",
        }
        .into())
    }

    fn replace(&mut self, text: &str) -> io::Result<()> {
        // Pipes and devices cannot be truncated.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }
}

/// Path of a new temporary file with the same extension, which determines the kind of recording.
fn fallback(path: &Path) -> PathBuf {
    let mut name = format!("tidings-recording-{}", Uuid::new_v4().simple());
    if let Some(ending) = path.extension() {
        name = format!("{name}.{}", ending.to_string_lossy());
    }
    env::temp_dir().join(name)
}
