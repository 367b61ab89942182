//! Restoring a session without losing newer files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::copy::{self, Durability, Sum};
use super::{Archive, Manifest, StoredFile};
use crate::Error;
use crate::error::At as _;

/// The result of restoring a session.
#[derive(Debug)]
pub struct Restored {
    /// All files of the session.
    pub files: Vec<RestoredFile>,
    /// Errors about copies that could not be unpacked.
    pub failed: Vec<Error>,
}

/// The result of restoring a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// Path of the restored file.
    pub path: PathBuf,
    /// Size of the archived contents in bytes.
    pub bytes: u64,
    /// Effect on the file.
    pub returned: Returned,
}

/// Effect of restoring on one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// The file did not exist and was created.
    New,
    /// The file was truncated and is complete again.
    Completed,
    /// The file already had these contents.
    Same,
    /// The file was left alone: it is newer than the copy, or different.
    Left,
}

impl Archive {
    /// Unpacks a session into a configuration folder. Existing data is never lost: a file is replaced only if
    /// it is not newer than the copy and the copy begins with it.
    ///
    /// The files get the current time as time of change. With their old times Claude Code would delete them
    /// at its next start.
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
            copy::unpack(copy, target, &expected, Durability::Synced)?;
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
    copy::unpack(copy, target, &expected, Durability::Synced)?;
    Ok(Returned::Completed)
}
