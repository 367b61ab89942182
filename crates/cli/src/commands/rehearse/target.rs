//! The file that a recording goes to.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tidings_transcript::Error;
use uuid::Uuid;

use crate::error::CannotRun;

/// Open from before the run until after it. What stood in the file before stays until there is something new.
pub(super) struct Target {
    path: PathBuf,
    file: File,
    /// Whether it was made for this recording.
    new: bool,
}

impl Target {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::io("write", path, error);
        let opened = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (OpenOptions::new().write(true).open(path).map_err(failed)?, false)
            }
            file => (file.map_err(failed)?, true),
        };
        let (file, new) = opened;
        Ok(Target { path: path.to_owned(), file, new })
    }

    /// There is nothing to record.
    pub(super) fn give_up(self) {
        if self.new {
            // An empty file is a blemish; what matters is the error that is on its way.
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Writes the recording, and if that cannot be done after all, into the folder for temporary files.
    pub(super) fn write(mut self, text: &str) -> anyhow::Result<()> {
        let Err(error) = self.replace(text) else { return Ok(()) };
        let refuge = refuge(&self.path);
        let saved = create_private(&refuge).and_then(|mut file| file.write_all(text.as_bytes()));
        if saved.is_err() {
            return Err(Error::io("write", &self.path, error).into());
        }
        let (path, refuge) = (self.path.display(), refuge.display());
        Err(CannotRun {
            code: "failed",
            message: format!("Failed to write `{path}`: {error}. The recording is in `{refuge}`"),
            hint: "move it to where it shall stay",
        }
        .into())
    }

    fn replace(&mut self, text: &str) -> io::Result<()> {
        // A pipe or a device has no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }
}

/// A new name for temporary files, with the same ending: it says which kind of recording it is.
fn refuge(path: &Path) -> PathBuf {
    let mut name = format!("tidings-recording-{}", Uuid::new_v4().simple());
    if let Some(ending) = path.extension() {
        name = format!("{name}.{}", ending.to_string_lossy());
    }
    env::temp_dir().join(name)
}

/// A recording holds prompts and files; nobody else shall read it where everybody may look.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
