//! The key of the audit log, in a file of its own beside the journal.

use std::io::{Read as _, Write as _};
use std::path::Path;

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::audit_log;
use super::failure::{Doing as _, damaged};
use super::open::{private_file, with_suffix};
use crate::limits::PRIVATE_FILE_BYTES_MAX;
use crate::{AuditKey, ErrorKind, JournalError, verify_audit, verify_sealed_audit};

/// Suffix of its file's name after that of the journal.
pub(super) const SUFFIX: &str = "-audit-key";

/// Reads the key of a journal, or creates one for the lines from now on.
pub(super) fn open(journal: &Path, conn: &Connection) -> Result<AuditKey, JournalError> {
    let path = with_suffix(journal, SUFFIX);
    let failed = |error| JournalError::io("read the key of the audit log in", &path, error);
    let mut file = private_file(&path).map_err(failed)?;
    let mut text = String::new();
    (&file).take(PRIVATE_FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    if !text.is_empty() {
        let key = AuditKey::parse(&text).ok_or_else(|| damaged("the key of the audit log is not a key"))?;
        check(&key, conn, &path)?;
        return Ok(key);
    }
    let last = "SELECT coalesce(max(number), 0) FROM audit";
    let last: u64 = conn.query_row(last, [], |row| row.get(0)).doing("read the audit log")?;
    let mut random = Sha256::new();
    for _ in 0..4 {
        random.update(uuid::Uuid::new_v4().as_bytes());
    }
    let key = AuditKey::new(random.finalize().into(), last + 1);
    file.write_all(key.text().as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(key)
}

/// Refuses a key that did not seal the last line, if nothing else is wrong with that line: lines that are
/// sealed with another key could not be verified together with the earlier ones.
fn check(key: &AuditKey, conn: &Connection, path: &Path) -> Result<(), JournalError> {
    let last = "SELECT coalesce(max(number), 0) FROM audit";
    let last: u64 = conn.query_row(last, [], |row| row.get(0)).doing("read the audit log")?;
    let [before, line] = &audit_log::list(conn, last.saturating_sub(2))?[..] else { return Ok(()) };
    let start = (before.number, before.hash.as_str());
    let is_line_right = verify_audit(start, [line]).is_ok();
    if is_line_right && verify_sealed_audit(start, [line], key).is_err() {
        let message = format!("The key of the audit log does not match its last line: `{}`", path.display());
        let hint =
            "restore the key from a backup; without the file, the server seals later lines with a new key";
        return Err(JournalError::new(ErrorKind::Damaged, message, hint));
    }
    Ok(())
}
