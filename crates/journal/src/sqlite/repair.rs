//! Repairs a damaged journal from its own files.
//!
//! The damaged files are kept under another name; the repaired one takes their place only if it holds more.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::compare::Comparison;
use super::heads::Held;
use super::open::{self, private_file, with_suffix};
use super::{salvage, wal};
use crate::{ErrorKind, JournalError};

/// Compares a file with what the journal must hold.
pub(super) type CompareFile<'c> = &'c dyn Fn(&Connection) -> Result<Comparison, JournalError>;

/// Limit of damaged journals that are kept in one folder.
const KEPT_MAX: usize = 20;

/// Tries each way to repair a journal, and returns the comparison of the best result.
pub(super) fn repair(
    path: &Path,
    held: &Held,
    compare: CompareFile<'_>,
    found: Comparison,
) -> Result<Comparison, JournalError> {
    let part = with_suffix(path, ".repaired");
    let mut best = found;
    for (way, name) in WAYS {
        remove(&part);
        let repaired = private_file(&part)
            .map_err(|error| JournalError::io("create", &part, error))
            .and_then(|_| way(path, &part, held))
            .and_then(|()| open::reader(&part).and_then(|conn| compare(&conn)));
        match repaired {
            Ok(comparison) if comparison.weight() < best.weight() => {
                let kept = put_in_place(path, &part)?;
                let kept = kept.display();
                tracing::error!(way = name, %kept, "the journal was damaged and is repaired; the damaged files are kept");
                best = comparison;
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, way = name, "a way to repair the journal failed"),
        }
        remove(&part);
        if best.weight() == 0 {
            break;
        }
    }
    Ok(best)
}

/// Writes a repaired copy of the first file to the second.
type RepairWay = fn(&Path, &Path, &Held) -> Result<(), JournalError>;

const WAYS: [(RepairWay, &str); 3] = [
    (|from, to, _| wal::replay_all(from, to), "all frames of the log"),
    (|from, to, _| wal::replay_valid(from, to), "the valid frames of the log"),
    (salvage::rebuild, "all readable rows"),
];

/// Keeps the damaged files under another name, and renames the repaired one.
fn put_in_place(path: &Path, part: &Path) -> Result<PathBuf, JournalError> {
    let kept =
        (1..=KEPT_MAX).map(|n| with_suffix(path, &format!(".damaged-{n}"))).find(|kept| !kept.exists());
    let kept = kept.ok_or_else(|| {
        let message = format!("{KEPT_MAX} damaged journals are kept here already: `{}`", path.display());
        let hint = "remove the files `journal.db.damaged-…` that you do not need, and check the disk";
        JournalError::new(ErrorKind::Damaged, message, hint)
    })?;
    let failed = |error| JournalError::io("put aside", path, error);
    for suffix in ["-wal", "-shm", ""] {
        match std::fs::rename(with_suffix(path, suffix), with_suffix(&kept, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    for suffix in ["-wal", "-shm"] {
        drop(std::fs::remove_file(with_suffix(part, suffix)));
    }
    std::fs::rename(part, path).map_err(failed)?;
    Ok(kept)
}

fn remove(part: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        // If it cannot be removed, writing it again fails and says so.
        drop(std::fs::remove_file(with_suffix(part, suffix)));
    }
}
