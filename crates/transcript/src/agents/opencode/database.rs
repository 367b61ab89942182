//! Reading a database without writing anything: not into it, and not beside it.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tidings_protocol::json::write_string;

use crate::agents::tree;
use crate::limits::{DATABASE_READS_MAX, DATABASE_WAIT};
use crate::{Error, ErrorKind};

/// Opens a database and reads from it.
///
/// opencode uses a write-ahead log. While a process has the database open, the log and its index lie beside
/// it: then we read with the index opened for reading only, as one more reader. Otherwise the database is
/// complete in itself and is read as immutable, and read again if it changed meanwhile.
///
/// One exception is known: if the last process closes the database between our look at the log and the lock
/// that `SQLite` takes, `SQLite` creates an empty log, which the next writer reuses.
pub(super) fn reading<T>(path: &Path, read: impl Fn(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    let mut result = Err(busy(path));
    for _ in 0..DATABASE_READS_MAX {
        let before = DatabaseState::of(path)?;
        let connection = before.open(path)?;
        let begun = begin(&connection).map_err(|error| failed(path, &error));
        result = begun.and_then(|()| read(&connection));
        drop(connection);
        if before.has_log || DatabaseState::of(path)? == before {
            return result;
        }
    }
    result.and_then(|_| Err(busy(path)))
}

/// Begins one transaction, so that all statements see the same state.
///
/// While another process writes the header of the log's index, only a process that may write the index can
/// read it; `SQLite` does not wait for that.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + DATABASE_WAIT;
    loop {
        // The transaction begins with the first read.
        let begun = connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema");
        let is_unreadable = |error: &rusqlite::Error| {
            error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly) && Instant::now() < until
        };
        if !begun.as_ref().is_err_and(is_unreadable) {
            return begun;
        }
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn busy(path: &Path) -> Error {
    let message = format!("The database changes too often to be read: `{}`", path.display());
    Error::new(ErrorKind::Io, message, "try again").about(path)
}

/// The state of the database's files.
#[derive(Debug, PartialEq, Eq)]
struct DatabaseState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Counter of changes in the header of the database.
    changes: [u8; 4],
    /// True if the write-ahead log has contents.
    has_log: bool,
}

impl DatabaseState {
    fn of(path: &Path) -> Result<Self, Error> {
        let fail = |error| Error::io("read", path, error);
        let mut file = tree::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        let mut header = [0; 28];
        // A shorter file is empty or not a database; SQLite says which.
        drop(file.read_exact(&mut header));
        let log = beside(path, "-wal");
        let has_log = match std::fs::symlink_metadata(&log) {
            Ok(metadata) if !metadata.is_file() => return Err(linked(&log)),
            Ok(metadata) => metadata.len() > 0,
            Err(_) => false,
        };
        Ok(DatabaseState {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            changes: [header[24], header[25], header[26], header[27]],
            has_log,
        })
    }

    fn open(&self, path: &Path) -> Result<Connection, Error> {
        let index = beside(path, "-shm");
        let is_link = std::fs::symlink_metadata(&index).is_ok_and(|metadata| !metadata.is_file());
        if self.has_log && is_link {
            return Err(linked(&index));
        }
        if self.has_log && !index.exists() {
            let message =
                format!("The database has a write-ahead log without its index: `{}`", path.display());
            let hint = "start opencode once, or copy all files that begin with the name of the database";
            return Err(Error::new(ErrorKind::Io, message, hint).about(path));
        }
        let mode = if self.has_log { "mode=ro&readonly_shm=1" } else { "mode=ro&immutable=1" };
        let uri = format!("file:{}?{mode}", escaped(path)?);
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags).map_err(|error| failed(path, &error))?;
        let prepared = connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .and_then(|_| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true))
            .and_then(|_| connection.busy_timeout(DATABASE_WAIT))
            .and_then(|()| connection.execute_batch("PRAGMA query_only = 1; PRAGMA trusted_schema = 0"));
        prepared.map_err(|error| failed(path, &error))?;
        Ok(connection)
    }
}

fn linked(path: &Path) -> Error {
    let message = format!("It is a link or not a regular file: `{}`", path.display());
    Error::new(ErrorKind::Io, message, "links are not followed").about(path)
}

/// The file beside the database with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// A path in a URI.
fn escaped(path: &Path) -> Result<String, Error> {
    let Some(path_text) = path.to_str() else {
        let message = format!("The path is not valid UTF-8: `{}`", path.display());
        return Err(Error::new(ErrorKind::Invalid, message, "rename the folder").about(path));
    };
    let mut text = String::new();
    for character in path_text.chars() {
        match character {
            '%' => text.push_str("%25"),
            '?' => text.push_str("%3f"),
            '#' => text.push_str("%23"),
            other => text.push(other),
        }
    }
    Ok(text)
}

/// The error for a failed statement.
pub(super) fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    let message = format!("Failed to read `{}`: {error}", path.display());
    let hint = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
            "the file is damaged, or not a database of opencode"
        }
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => "try again",
        Some(rusqlite::ErrorCode::ReadOnly) => "its index is incomplete: start opencode once",
        _ => "",
    };
    Error::new(ErrorKind::Io, message, hint).about(path)
}

pub(super) fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    Ok(!columns(connection, table)?.is_empty())
}

/// The names of a table's columns; none if there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// A value of a row as JSON.
pub(super) fn write_value(value: ValueRef<'_>, out: &mut String) {
    match value {
        ValueRef::Integer(number) => out.push_str(&number.to_string()),
        ValueRef::Real(number) if number.is_finite() => out.push_str(&number.to_string()),
        ValueRef::Null | ValueRef::Real(_) => out.push_str("null"),
        ValueRef::Text(text) => write_string(&String::from_utf8_lossy(text), out),
        ValueRef::Blob(bytes) => write_string(&format!("[{} bytes]", bytes.len()), out),
    }
}
