//! Copies the log of the journal into its main file.

use parking_lot::Mutex;
use rusqlite::Connection;

use super::state::WriterState;
use crate::limits::WAL_BYTES_MAX;

/// A page of the file, which is the unit of the log; `SQLite`'s default.
const PAGE_BYTES: u64 = 4096;

/// Copies the log into the main file while others go on writing, since it waits for the disk. Writers wait
/// only for a log that grows faster than it is copied, since it can begin anew only when all of it was
/// copied.
pub(super) fn copy_log(shared: &Mutex<Option<WriterState>>, checkpointer: &Connection) {
    let left = checkpoint(checkpointer, "PASSIVE");
    let mut state = shared.lock();
    let Some(state) = state.as_mut() else { return };
    if left.is_some_and(|left| left.log_bytes >= WAL_BYTES_MAX && !left.is_all) {
        checkpoint(&state.conn, "PASSIVE");
    }
}

/// State of the log after a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogState {
    log_bytes: u64,
    /// True if all of it is in the main file.
    is_all: bool,
}

pub(super) fn checkpoint(conn: &Connection, mode: &str) -> Option<LogState> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    match conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], read) {
        Ok((frames, copied)) => {
            let log_bytes = u64::try_from(frames).unwrap_or_default() * PAGE_BYTES;
            Some(LogState { log_bytes, is_all: frames == copied })
        }
        Err(error) => {
            tracing::warn!(%error, "failed to copy the log of the journal into its file; it grows meanwhile");
            None
        }
    }
}
