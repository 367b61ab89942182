//! Copies of the whole journal, also while another process has it open.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::delta_log::{DeltaLog, LoggedDelta};
use super::examine::WITH_HEADS;
use super::failure::Doing as _;
use super::heads::Heads;
use super::tally::Sums;
use super::{compare, open, pending_deltas, schema};
use crate::limits::BACKUP_PAGES;
use crate::{ErrorKind, JournalError};

/// Copies a journal. The copy appears under its name only when it is complete. Calls `progress` with the
/// bytes done and their total.
pub(super) fn copy(
    journal: &Path,
    to: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), JournalError> {
    if to.exists() {
        let message = format!("There is a file `{}` already", to.display());
        return Err(JournalError::new(
            ErrorKind::Exists,
            message,
            "choose another name; backups are not overwritten",
        ));
    }
    // Before the tables: a delta leaves its log only when it is in the tables, so that each is in one of
    // them.
    let waiting =
        DeltaLog::read(journal).map_err(|error| JournalError::io("read the deltas of", journal, error))?;
    let from = open::reader(journal)?;
    schema::check(&from)?;
    let part = open::with_suffix(to, ".part");
    let done = fill(&from, &waiting.deltas, &part, progress).and_then(|sums| {
        publish(&part, to)?;
        // The copy knows what it must hold, so that damage to it is noticed as well.
        let mut heads =
            Heads::create(to, &sums, &[]).map_err(|error| JournalError::io("create", to, error))?;
        heads.close(&sums);
        Ok(())
    });
    if done.is_err() {
        // The remains of a failed copy are useless; if they cannot be removed, the next copy overwrites them.
        drop(std::fs::remove_file(&part));
    }
    done
}

fn fill(
    from: &Connection,
    waiting: &[LoggedDelta],
    part: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Sums, JournalError> {
    let doing = "copy the journal";
    let failed = |error| JournalError::io("create", part, error);
    drop(std::fs::remove_file(part));
    open::private_file(part).map_err(failed)?;
    let mut to = open::connect(part)?;
    // All pages are read in one transaction, so that concurrent appends do not start it over.
    let reading = from.unchecked_transaction().doing(doing)?;
    let page_bytes: u64 = from.pragma_query_value(None, "page_size", |row| row.get(0)).doing(doing)?;
    from.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, u64>(0)).doing(doing)?;
    let copying = Backup::new(from, &mut to).doing(doing)?;
    loop {
        let step = copying.step(BACKUP_PAGES).doing(doing)?;
        let pages = copying.progress();
        let bytes = |pages: i32| u64::try_from(pages).unwrap_or_default() * page_bytes;
        progress(bytes(pages.pagecount - pages.remaining), bytes(pages.pagecount));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => {
                let message = "The journal could not be copied in one go";
                return Err(JournalError::new(ErrorKind::Locked, message, "try again"));
            }
        }
    }
    drop(copying);
    reading.finish().doing(doing)?;
    to.execute_batch("PRAGMA journal_mode = DELETE").doing(doing)?;
    let filling = to.transaction().doing(doing)?;
    pending_deltas::flush(&filling, waiting)?;
    // A copy lacks later events, so a journal that is opened from it begins another epoch.
    filling.execute("UPDATE journal SET clean = 0, boot_id = ?1", [WITH_HEADS]).doing(doing)?;
    filling.commit().doing(doing)?;
    let sums = compare::sums(&to)?;
    to.close().map_err(|(_, error)| error).doing(doing)?;
    Ok(sums)
}

fn publish(part: &Path, to: &Path) -> Result<(), JournalError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(part).map_err(|error| JournalError::io("store", part, error))?;
    std::fs::rename(part, to).map_err(|error| JournalError::io("create", to, error))?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(folder).map_err(|error| JournalError::io("store", folder, error))
}
