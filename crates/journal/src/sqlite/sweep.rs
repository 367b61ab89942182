//! Removes the rows of deleted sessions in steps, while no call waits.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::events::row_of;
use super::failure::Doing as _;
use crate::limits::{RETAIN_STEP, SEQ_MAX, VACUUM_PAGES};
use crate::{Handle, JournalError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sweep {
    Done,
    More,
}

/// Removes some events of one deleted session.
pub(super) fn step(conn: &mut Connection) -> Result<Sweep, JournalError> {
    let doing = "remove a deleted session";
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).doing(doing)?;
    let doomed = tx.query_row("SELECT handle FROM doomed LIMIT 1", [], |row| row.get::<_, u64>(0));
    let Some(handle) = doomed.optional().doing(doing)? else {
        drop(tx);
        return release_pages(conn);
    };
    let events = "DELETE FROM events WHERE id IN
        (SELECT id FROM events WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)";
    let of = Handle::new(handle);
    let removed =
        tx.execute(events, params![row_of(of, 0), row_of(of, SEQ_MAX), RETAIN_STEP]).doing(doing)?;
    if removed < RETAIN_STEP {
        for table in ["client_ids", "cli_sessions", "past_epochs", "asks"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [handle]).doing(doing)?;
        }
        tx.execute("DELETE FROM doomed WHERE handle = ?1", [handle]).doing(doing)?;
    }
    tx.commit().doing(doing)?;
    release_pages(conn)?;
    Ok(Sweep::More)
}

/// Gives some free pages of the file back to the disk, and returns whether there are more.
pub(super) fn release_pages(conn: &Connection) -> Result<Sweep, JournalError> {
    let doing = "give pages back to the disk";
    let mut vacuum = conn.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})")).doing(doing)?;
    // Each row that is read gives one page back.
    let mut rows = vacuum.query([]).doing(doing)?;
    while rows.next().doing(doing)?.is_some() {}
    let free: u64 = conn.pragma_query_value(None, "freelist_count", |row| row.get(0)).doing(doing)?;
    Ok(if free == 0 { Sweep::Done } else { Sweep::More })
}
