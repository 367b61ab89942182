//! State of the writer: runs calls in transactions, and publishes what they committed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::mpsc;

use super::checkpoint::checkpoint;
use super::job::{AfterCall, Job, JobOutcome, OwnedCommit, Tx};
use crate::broadcast::Publisher;
use crate::limits::{CALL_LOG_BYTES, CHECKPOINT_BYTES, COMMIT_BYTES_MAX, COMMIT_CALLS_MAX};
use crate::sqlite::failure::Doing as _;
use crate::sqlite::heads::Heads;
use crate::sqlite::mark::Mark;
use crate::sqlite::pending_deltas::PendingDeltas;
use crate::sqlite::tally::{self, SharedTally};
use crate::sqlite::{open, sweep};
use crate::{AuditKey, Class, Commit, ErrorKind, EventDraft, Fence, JournalError, Key, Loss, Stored};

/// Pages that the logged deltas take at most: their bytes, and a few pages for each of them.
const DELTAS_PAGES: i64 = 8192;

/// Treatment of the logged deltas by a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaFlush {
    Now,
    Later,
}

/// State of the writer, used under a lock.
pub(super) struct WriterState {
    pub(super) conn: Connection,
    pub(super) audit_key: AuditKey,
    pub(super) deltas: PendingDeltas,
    /// Sums of the tables.
    pub(super) tally: SharedTally,
    /// The same on disk, for the next start.
    pub(super) heads: Heads,
    /// Losses that were found when the journal was opened.
    pub(super) losses: Vec<Loss>,
    pub(super) path: PathBuf,
    pub(super) bytes_max: u64,
    pub(super) publisher: Arc<Publisher>,
    /// Durability that the connection is set to.
    pub(super) syncing: Option<Class>,
    /// Approximate bytes in the log that are not in the main file yet.
    pub(super) uncopied: usize,
    /// Held while the log is copied by another thread, which has no other lock meanwhile.
    pub(super) copying: Arc<Mutex<()>>,
    /// True if deleted sessions may have rows left.
    pub(super) sweeping: bool,
    pub(super) full: Arc<AtomicBool>,
}

impl WriterState {
    pub(super) fn store_deltas(
        &mut self,
        key: &Key,
        fence: Fence,
        drafts: &[EventDraft],
    ) -> Option<Result<Vec<Stored>, JournalError>> {
        // Work that was left half done is rolled back by the next commit.
        if !self.conn.is_autocommit() {
            return None;
        }
        let stored = self.deltas.add(&self.conn, key, fence, drafts)?.map(|(stored, events)| {
            self.publish(&[OwnedCommit::Events(key.clone(), events)]);
            stored
        });
        if self.deltas.are_due()
            && let Err(error) = self.flush_deltas()
        {
            tracing::warn!(%error, "failed to move deltas from their log into the tables; trying again later");
        }
        Some(stored)
    }

    pub(super) fn flush_deltas(&mut self) -> Result<(), JournalError> {
        let bytes = self.deltas.bytes();
        let done = self.run(Class::Delta, &mut [], DeltaFlush::Now).map(drop);
        self.note_room(&done);
        done.inspect_err(|error| self.recover(error))?;
        self.uncopied += bytes + CALL_LOG_BYTES;
        Ok(())
    }

    /// Records if there was room.
    fn note_room<T>(&self, done: &Result<T, JournalError>) {
        let is_full = done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Full);
        if self.full.swap(is_full, Ordering::Relaxed) != is_full {
            tracing::warn!(is_full, "the disk became full, or has room again");
        }
    }

    /// Runs `work` inside a transaction that is rolled back: its writes stay in memory.
    pub(super) fn read_with_deltas<R>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<R, JournalError>,
    ) -> Result<R, JournalError> {
        let doing = "read the journal";
        if !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK").doing(doing)?;
        }
        // Pages stay in memory, and may exceed the limit of the file: nothing of it is committed.
        let pages_max: i64 =
            self.conn.query_row("PRAGMA max_page_count", [], |row| row.get(0)).doing(doing)?;
        self.conn.execute_batch("PRAGMA cache_spill = OFF; BEGIN IMMEDIATE").doing(doing)?;
        let more = format!("PRAGMA max_page_count = {}", pages_max.saturating_add(DELTAS_PAGES));
        let result = self
            .conn
            .query_row(&more, [], |_| Ok(()))
            .doing(doing)
            .and_then(|()| self.deltas.flush(&self.conn))
            .and_then(|()| work(&self.conn));
        self.conn.execute_batch("ROLLBACK; PRAGMA cache_spill = ON").doing(doing)?;
        let before = format!("PRAGMA max_page_count = {pages_max}");
        self.conn.query_row(&before, [], |_| Ok(())).doing(doing)?;
        result
    }

    /// Commits a call and those that are queued behind it, and does pending maintenance.
    pub(super) fn serve(
        &mut self,
        first: Box<dyn Job>,
        jobs: &mut mpsc::Receiver<Box<dyn Job>>,
    ) -> AfterCall {
        let mut bytes = first.load().bytes;
        let mut last = first.after();
        let mut batch = vec![first];
        while batch.len() < COMMIT_CALLS_MAX && bytes < COMMIT_BYTES_MAX && last == AfterCall::Continue {
            let Ok(job) = jobs.try_recv() else { break };
            bytes += job.load().bytes;
            last = job.after();
            batch.push(job);
        }
        self.uncopied += bytes + batch.len() * CALL_LOG_BYTES;
        let closing = (last == AfterCall::Stop).then(|| batch.pop()).flatten();
        if !batch.is_empty() {
            self.commit(batch);
        }
        if let Some(mut closing) = closing {
            // The log is copied first, so that a closed journal is one complete file. Nothing else may write
            // to it after its state was noted.
            let copying = Arc::clone(&self.copying);
            let _copying = copying.lock();
            let committed = self.try_commit(std::slice::from_mut(&mut closing));
            checkpoint(&self.conn, "TRUNCATE");
            self.heads.close(&self.tally.lock().sums);
            if let Err(error) = Mark::closed(&self.path) {
                tracing::warn!(%error, "failed to mark the journal as closed; the next start begins another epoch");
            }
            closing.answer(committed);
            return last;
        }
        while self.sweeping && jobs.is_empty() {
            self.sweep();
        }
        last
    }

    /// True if enough was written since the log was last copied.
    pub(super) fn is_due(&self) -> bool {
        self.uncopied >= CHECKPOINT_BYTES
    }

    /// Commits calls together; if the engine fails, each by itself, so that one does not fail because of
    /// another.
    fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        let committed = self.try_commit(&mut batch);
        if let Err(error) = &committed
            && batch.len() > 1
        {
            tracing::warn!(%error, calls = batch.len(), "a commit failed; its calls are tried one by one");
            for job in batch {
                self.commit(vec![job]);
            }
            return;
        }
        for job in batch {
            job.answer(committed.clone());
        }
    }

    fn try_commit(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), JournalError> {
        let class = batch.iter().map(|job| job.load().class).max().unwrap_or(Class::Durable);
        let mut done = self.run(class, batch, DeltaFlush::Now);
        self.note_room(&done);
        if let Err(error) = &done
            && error.kind() == ErrorKind::Full
            && self.deltas.are_waiting()
            && batch.iter().all(|job| job.load().makes_room)
        {
            // Deltas that find no room must not prevent calls that make room.
            self.recover(&error.clone());
            done = self.run(class, batch, DeltaFlush::Later);
        }
        match done {
            Ok(commits) => {
                self.publish(&commits);
                Ok(())
            }
            Err(error) => {
                self.recover(&error);
                Err(error)
            }
        }
    }

    fn run(
        &mut self,
        class: Class,
        batch: &mut [Box<dyn Job>],
        deltas: DeltaFlush,
    ) -> Result<Vec<OwnedCommit>, JournalError> {
        let doing = "commit to the journal";
        if !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK").doing(doing)?;
        }
        if self.syncing != Some(class) {
            let sync = match class {
                Class::Durable => "PRAGMA synchronous = FULL",
                Class::Delta => "PRAGMA synchronous = NORMAL",
            };
            self.conn.execute_batch(sync).doing(doing)?;
            self.syncing = Some(class);
        }
        self.tally.lock().begin();
        self.conn.prepare_cached("BEGIN IMMEDIATE").and_then(|mut it| it.execute([])).doing(doing)?;
        if deltas == DeltaFlush::Now {
            self.deltas.flush(&self.conn)?;
        }
        let has_calls = !batch.is_empty();
        let mut tx =
            Tx { conn: &self.conn, commits: Vec::new(), audit_key: &self.audit_key, tally: &self.tally };
        if let [job] = batch {
            // A single call needs no savepoint.
            if job.run(&mut tx)? == JobOutcome::Refused {
                self.conn.execute_batch("ROLLBACK").doing(doing)?;
                return Ok(Vec::new());
            }
        } else {
            for job in batch {
                tx.run(job.as_mut())?;
            }
        }
        let commits = tx.commits;
        let next = self.tally.lock().next();
        if has_calls {
            self.heads.announce(&self.tally.lock().next_to_write(&next));
        }
        self.conn.prepare_cached("COMMIT").and_then(|mut it| it.execute([])).doing(doing)?;
        self.tally.lock().accept(next);
        if has_calls {
            self.confirm(&commits);
        }
        if deltas == DeltaFlush::Now {
            self.deltas.forget_flushed();
            if has_calls {
                self.deltas.forget_rows();
            }
        }
        Ok(commits)
    }

    /// Records that the announced commit happened, before its callers are told.
    fn confirm(&mut self, commits: &[OwnedCommit]) {
        self.heads.confirm();
        let mut tally = self.tally.lock();
        tally.written();
        if self.heads.is_due() {
            self.heads.renew(&tally.sums, &self.losses);
        }
        // After a loss of power a deleted session must not count as lost.
        if commits.iter().any(|commit| matches!(commit, OwnedCommit::Deleted(_))) {
            self.heads.sync();
        }
    }

    /// The step after storing: subscribers get what was committed.
    fn publish(&mut self, commits: &[OwnedCommit]) {
        for owned in commits {
            self.publisher.publish(match owned {
                OwnedCommit::Events(key, events) => Commit::Events(key, events),
                OwnedCommit::Restarted(key) => Commit::Restarted(key),
                OwnedCommit::Deleted(key) => {
                    self.sweeping = true;
                    self.deltas.forget(key);
                    Commit::Deleted(key)
                }
            });
        }
    }

    /// Leaves the failed transaction. On a full disk the log is emptied into the main file, which may make
    /// room. After any other error of the disk the connection is opened anew: data that the kernel failed to
    /// write must be read back from the file, not from memory.
    fn recover(&mut self, error: &JournalError) {
        if !self.conn.is_autocommit() {
            // Fails if SQLite has rolled back already.
            drop(self.conn.execute_batch("ROLLBACK"));
        }
        if error.kind() == ErrorKind::Full {
            checkpoint(&self.conn, "TRUNCATE");
        }
        if error.kind() == ErrorKind::Io {
            match open::writer_again(&self.path, self.bytes_max) {
                Ok(conn) => {
                    if let Err(error) = tally::watch(&conn, &self.tally) {
                        tracing::error!(%error, "failed to count the rows of the journal");
                    }
                    (self.conn, self.syncing) = (conn, None);
                }
                Err(again) => tracing::error!(%error, %again, "failed to open the journal again"),
            }
        }
    }

    fn sweep(&mut self) {
        match sweep::step(&mut self.conn) {
            Ok(left) => self.sweeping = left == sweep::Sweep::More,
            Err(error) => {
                tracing::warn!(%error, "failed to remove deleted sessions; the next start tries again");
                self.sweeping = false;
            }
        }
    }
}
