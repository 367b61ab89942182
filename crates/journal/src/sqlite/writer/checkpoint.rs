//! Copies the log of the journal into its main file: when enough was written, after a while, and when no call
//! comes. Until it is copied, the log is the only copy of what it has.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::Connection;

use super::state::WriterState;
use crate::limits::{CHECKPOINT_IDLE, CHECKPOINT_INTERVAL, WAL_BYTES_MAX};

/// A page of the file, which is the unit of the log; `SQLite`'s default.
const PAGE_BYTES: u64 = 4096;

/// Main loop of the thread that copies the log, until the other end of the channel is gone. A message means
/// that enough was written.
pub(super) fn work(shared: &Arc<Mutex<Option<WriterState>>>, due: &Receiver<()>, checkpointer: &Connection) {
    let (mut copied_at, mut before) = (Instant::now(), 0);
    loop {
        let due = match due.recv_timeout(CHECKPOINT_IDLE) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let Some(uncopied) = shared.lock().as_ref().map(|state| state.uncopied) else { return };
        let is_idle = uncopied == before;
        before = uncopied;
        if uncopied == 0 {
            copied_at = Instant::now();
        } else if due || copied_at.elapsed() >= CHECKPOINT_INTERVAL {
            copy_log(shared, checkpointer, "PASSIVE");
            (copied_at, before) = (Instant::now(), 0);
        } else if is_idle {
            // An emptied log cannot hide what is in the main file if it is damaged later.
            copy_log(shared, checkpointer, "TRUNCATE");
            (copied_at, before) = (Instant::now(), 0);
        }
    }
}

/// Copies the log into the main file while others go on writing, since it waits for the disk. Writers wait
/// only for a log that grows faster than it is copied, since it can begin anew only when all of it was
/// copied.
fn copy_log(shared: &Mutex<Option<WriterState>>, checkpointer: &Connection, mode: &str) {
    let copying = match shared.lock().as_mut() {
        Some(state) => {
            state.uncopied = 0;
            Arc::clone(&state.copying)
        }
        None => return,
    };
    let left = {
        let _copying = copying.lock();
        checkpoint(checkpointer, mode)
    };
    let mut state = shared.lock();
    let Some(state) = state.as_mut() else { return };
    let Some(left) = left else {
        state.uncopied += 1;
        return;
    };
    if left.log_bytes >= WAL_BYTES_MAX && !left.is_all {
        checkpoint(&state.conn, "PASSIVE");
    }
    if left.is_all {
        state.heads.sync();
    } else {
        // A reader kept some of it; the next round tries again.
        state.uncopied += 1;
    }
}

/// A connection that waits for no other one.
pub(super) fn without_waiting(conn: &Connection) {
    if let Err(error) = conn.busy_timeout(Duration::ZERO) {
        tracing::debug!(%error, "failed to set the time that a checkpoint waits");
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
