//! A copy of the whole journal while it is being written.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::failure::At as _;
use super::open;
use crate::journal::{ErrorKind, JournalError};

/// Copies what the connection sees. The copy appears under its name only when it is complete.
pub(super) fn copy(from: &Connection, to: &Path) -> Result<(), JournalError> {
    if to.exists() {
        let message = format!("There is a file `{}` already", to.display());
        return Err(JournalError::new(
            ErrorKind::Exists,
            message,
            "choose another name; backups are not overwritten",
        ));
    }
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let done = fill(from, &part).and_then(|()| publish(&part, to));
    if done.is_err() {
        // What is left of a failed copy helps nobody; if it cannot be removed, the next copy writes over it.
        drop(std::fs::remove_file(&part));
    }
    done
}

fn fill(from: &Connection, part: &Path) -> Result<(), JournalError> {
    let doing = "copy the journal";
    let failed = |error| JournalError::io("create", part, error);
    drop(std::fs::remove_file(part));
    open::private_file(part).map_err(failed)?;
    let mut to = open::connect(part)?;
    // All pages in one step: they are read in one transaction, so that appends meanwhile do not start it over.
    let step = Backup::new(from, &mut to).and_then(|backup| backup.step(-1)).doing(doing)?;
    if step != StepResult::Done {
        return Err(JournalError::new(
            ErrorKind::Locked,
            "The journal could not be copied in one go",
            "try again",
        ));
    }
    // Whoever starts from a copy has lost what came after it, and begins another epoch.
    to.execute_batch("PRAGMA journal_mode = DELETE; UPDATE journal SET clean = 0, boot_id = '';")
        .doing(doing)?;
    to.close().map_err(|(_, error)| error).doing(doing)
}

fn publish(part: &Path, to: &Path) -> Result<(), JournalError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(part).map_err(|error| JournalError::io("store", part, error))?;
    std::fs::rename(part, to).map_err(|error| JournalError::io("create", to, error))?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(folder).map_err(|error| JournalError::io("store", folder, error))
}
