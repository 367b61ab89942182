//! The tables, and the migrations from each version of them to the next.

use rusqlite::Connection;

use super::failure::{Doing as _, damaged};
use crate::{ErrorKind, JournalError};

/// Identifies a file as a journal: "tidj".
const APPLICATION_ID: i32 = 0x7469_646a;

/// Each migration leads from the version of its index to the next. A released migration is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The first version that has documents.
pub(super) const WITH_DOCUMENTS: usize = 3;

/// The newest version.
pub(super) const NEWEST: usize = MIGRATIONS.len();

/// Migrates a file to the newest version.
pub(super) fn migrate(conn: &Connection) -> Result<(), JournalError> {
    let version = check(conn)?;
    for (step, to) in MIGRATIONS.iter().zip(1..).skip(version) {
        let script = format!(
            "BEGIN IMMEDIATE; {step}; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {to}; COMMIT;"
        );
        if let Err(error) = conn.execute_batch(&script) {
            // Fails if SQLite has rolled back already.
            drop(conn.execute_batch("ROLLBACK"));
            return Err(error).doing("prepare the journal");
        }
    }
    Ok(())
}

/// Returns the version of a journal that is not newer than this program.
pub(super) fn check(conn: &Connection) -> Result<usize, JournalError> {
    let number = |pragma: &str| conn.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let application = number("application_id").doing("read the header of the journal")?;
    let version = number("user_version").doing("read the version of the journal")?;
    if application != APPLICATION_ID && !is_empty(conn)? {
        let hint = "choose another file; this one belongs to another program";
        return Err(JournalError::new(ErrorKind::Invalid, "The file is not a journal of Tidings", hint));
    }
    let version = usize::try_from(version).map_err(|_| damaged("its version is negative"))?;
    if version > MIGRATIONS.len() {
        let message = format!(
            "The journal has version {version}, and this program supports versions up to {}",
            MIGRATIONS.len()
        );
        return Err(JournalError::new(
            ErrorKind::Newer,
            message,
            "use the newer program, or another data folder",
        ));
    }
    Ok(version)
}

fn is_empty(conn: &Connection) -> Result<bool, JournalError> {
    let count = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    Ok(count.doing("read the tables of the journal")? == 0)
}
