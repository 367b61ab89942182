//! Connections that read, on threads that may block on a disk.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::failure::Doing as _;
use super::open;
use super::writer::UnflushedDeltas;
use crate::limits::READERS_MAX;
use crate::{ErrorKind, JournalCall, JournalError};

pub(super) struct Readers {
    path: PathBuf,
    /// Deltas that are logged and not in the tables yet.
    waiting: UnflushedDeltas,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    closed: AtomicBool,
}

impl Readers {
    pub(super) fn new(path: PathBuf, waiting: UnflushedDeltas) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(READERS_MAX));
        Arc::new(Readers { path, waiting, idle: Mutex::default(), permits, closed: AtomicBool::new(false) })
    }

    /// Runs `work` on the state of the journal at this moment, isolated from concurrent writes.
    pub(super) fn call<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<R, JournalError> + Send + 'static,
    ) -> JournalCall<'static, R> {
        let readers = Arc::clone(self);
        Box::pin(async move {
            // In a task of its own: a caller that does not poll this future would otherwise hold a permit
            // without using it.
            let mut reading = Reading(tokio::spawn(async move {
                let permit = Arc::clone(&readers.permits).acquire_owned().await;
                let permit = permit.map_err(|_| JournalError::closed())?;
                let done = tokio::task::spawn_blocking(move || {
                    let result = readers.run(work);
                    drop(permit);
                    result
                });
                done.await.unwrap_or_else(|_| Err(broken_off()))
            }));
            (&mut reading.0).await.unwrap_or_else(|_| Err(broken_off()))
        })
    }

    /// Refuses later calls.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.permits.close();
        self.idle.lock().clear();
    }

    fn run<R>(&self, work: impl FnOnce(&Connection) -> Result<R, JournalError>) -> Result<R, JournalError> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(JournalError::closed());
        }
        match self.waiting.flush() {
            Err(error) if error.kind() == ErrorKind::Full => return self.waiting.read_with(work),
            done => done?,
        }
        let idle = self.idle.lock().pop();
        let mut conn = idle.map_or_else(|| open::reader(&self.path), Ok)?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Deferred).doing("read the journal")?;
        let result = work(&tx);
        tx.finish().doing("end reading the journal")?;
        // A connection that failed may have stale pages in its cache.
        let is_good = !result.as_ref().is_err_and(JournalError::is_engine);
        if is_good && !self.closed.load(Ordering::SeqCst) {
            self.idle.lock().push(conn);
        }
        result
    }
}

/// A task that reads, aborted when its caller is gone.
struct Reading<R>(JoinHandle<R>);

impl<R> Drop for Reading<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn broken_off() -> JournalError {
    JournalError::new(ErrorKind::Io, "Reading the journal was aborted", "")
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").field("path", &self.path).finish_non_exhaustive()
    }
}
