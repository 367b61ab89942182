use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::copy::{self, Sum};
use super::{Archive, Manifest, StoredFile};
use crate::Error;
use crate::error::At as _;

/// What was done to bring a session back.
#[derive(Debug)]
pub struct Restored {
    /// Every file of it.
    pub files: Vec<RestoredFile>,
    /// Copies that could not be unpacked.
    pub failed: Vec<Error>,
}

/// What became of a file that was to be brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// Where it is now.
    pub path: PathBuf,
    /// The size of what was archived.
    pub bytes: u64,
    /// What was done.
    pub returned: Returned,
}

/// What was done with one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// It was not there, and now it is.
    New,
    /// It was there, but cut short, and is whole again.
    Completed,
    /// It was there already.
    Same,
    /// Something else is there, which was left alone: it is newer, or another file.
    Left,
}

impl Archive {
    /// Unpacks a session into a configuration folder. A file that is there is never lost: only one that is not newer
    /// than the copy, and that the copy begins with, is replaced.
    ///
    /// The files count as changed now. With their old times Claude Code would delete them at its next start.
    pub fn restore(&self, manifest: &Manifest, to: &Path) -> Result<Restored, Error> {
        let mut restored = Restored { files: Vec::new(), failed: Vec::new() };
        for file in &manifest.files {
            let target = to.join(&file.path);
            match restore_file(&self.stored_path(&file.path), &target, file) {
                Ok(returned) => {
                    restored.files.push(RestoredFile { path: target, bytes: file.bytes, returned });
                }
                Err(error) => restored.failed.push(error),
            }
        }
        Ok(restored)
    }
}

fn restore_file(copy: &Path, target: &Path, file: &StoredFile) -> Result<Returned, Error> {
    let expected = Sum { bytes: file.bytes, sha256: file.sha256.clone() };
    let there = match std::fs::symlink_metadata(target) {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return Ok(Returned::Left),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            copy::unpack(copy, target, &expected)?;
            return Ok(Returned::New);
        }
        Err(error) => return Err(Error::io("look at", target, error)),
    };
    let found = copy::sum_of_beginning(target, u64::MAX)?;
    if found == expected {
        return Ok(Returned::Same);
    }
    let archived = file.seen_modified.parse::<Timestamp>().map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
    let newer = there.modified().at("look at", target)? > archived;
    if newer || copy::sum_of_copy_beginning(copy, found.bytes)? != found {
        return Ok(Returned::Left);
    }
    copy::unpack(copy, target, &expected)?;
    Ok(Returned::Completed)
}
