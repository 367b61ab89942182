//! Errors of `SQLite` as errors of the journal.

use rusqlite::Error as Sql;
use rusqlite::ffi::{self, ErrorCode};

use crate::{ErrorKind, JournalError};

/// Adds the operation to an error of `SQLite`: `statement.execute(…).doing("append to the journal")?`.
pub(super) trait Doing<T> {
    fn doing(self, doing: &str) -> Result<T, JournalError>;
}

impl<T> Doing<T> for Result<T, Sql> {
    fn doing(self, doing: &str) -> Result<T, JournalError> {
        self.map_err(|error| translate(doing, error))
    }
}

/// The error for a corrupt file.
pub(super) fn damaged(what: &str) -> JournalError {
    JournalError::new(ErrorKind::Damaged, format!("The journal is damaged: {what}"), RESTORE)
}

const RESTORE: &str =
    "stop the server, put the file aside, and start from a backup; readers will get a reset";

/// True if a failed write is that of a file that must not grow. `SQLite` does not tell the reason for a
/// failed write, and a process with such a limit fails for it rather than for a broken disk.
#[cfg(unix)]
fn is_at_size_limit(extended_code: i32) -> bool {
    use rustix::process::{Resource, getrlimit};
    let is_write = [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_TRUNCATE, ffi::SQLITE_IOERR_SHMSIZE]
        .contains(&extended_code);
    is_write && getrlimit(Resource::Fsize).current.is_some()
}

#[cfg(not(unix))]
fn is_at_size_limit(_: i32) -> bool {
    false
}

fn translate(doing: &str, error: Sql) -> JournalError {
    let (kind, hint) = match &error {
        Sql::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => (ErrorKind::Full, "make room on the disk; the next call tries again"),
            ErrorCode::SystemIoFailure if is_at_size_limit(failure.extended_code) => {
                (ErrorKind::Full, "raise the limit of file sizes (`ulimit -f`) of the server")
            }
            // Every call checks before it writes, so a conflicting row should not exist.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation => {
                (ErrorKind::Damaged, RESTORE)
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                (ErrorKind::Locked, "close whatever else has the file open")
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
                (ErrorKind::Io, "check who may read and write the data folder")
            }
            _ => (ErrorKind::Io, "check the disk"),
        },
        Sql::FromSqlConversionFailure(..) | Sql::IntegralValueOutOfRange(..) | Sql::InvalidColumnType(..) => {
            (ErrorKind::Damaged, RESTORE)
        }
        _ => (ErrorKind::Io, ""),
    };
    JournalError::new(kind, format!("Failed to {doing}"), hint).with_source(error)
}
