//! The one connection that writes.
//!
//! A thread takes all queued calls and commits them together: there is no timer, so a single call is
//! committed at once, and under load the cost of a commit is shared. One durable call makes the whole commit
//! durable.
//!
//! A delta need not reach the disk before it is acknowledged. If the connection is idle, a delta is
//! [stored](PendingDeltas) on the caller's thread: that takes less time than waking the writer's thread and
//! being woken by it, which would be most of a subscriber's latency.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::delta_log::DeltaLog;
use super::failure::Doing as _;
use super::mark::Mark;
use super::pending_deltas::PendingDeltas;
use super::{audit_key, open, sweep};
use crate::journal::{
    AuditKey, Class, Commit, Draft, ErrorKind, Event, Fence, JournalError, Key, Stored, Tap,
};
use crate::limits::{
    CALL_LOG_BYTES, CHECKPOINT_BYTES, COMMIT_BYTES_MAX, COMMIT_CALLS_MAX, WAL_BYTES_MAX, WRITER_QUEUE_MAX,
    WRITER_ROOM_BYTES_MAX, WRITER_ROOM_UNIT,
};

/// Access to the connection that writes.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    /// Limits the bytes of calls that are queued or running.
    room: Arc<Semaphore>,
    /// None once the journal is closed.
    state: Arc<Mutex<Option<WriterState>>>,
    /// Number of deltas that are not in the tables yet.
    deltas: Arc<AtomicUsize>,
    /// True if the last attempt to store something found no room.
    full: Arc<AtomicBool>,
    tap: Arc<Mutex<Option<Tap>>>,
    thread: Option<JoinHandle<()>>,
    /// Closed when another process can open the journal.
    unlocked: watch::Receiver<()>,
}

/// Deltas that are logged and not in the tables yet, for readers of the tables.
#[derive(Clone)]
pub(super) struct UnflushedDeltas {
    state: Arc<Mutex<Option<WriterState>>>,
    count: Arc<AtomicUsize>,
}

impl UnflushedDeltas {
    /// Moves them into the tables. It may block on the disk.
    pub(super) fn flush(&self) -> Result<(), JournalError> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        self.state.lock().as_mut().map_or(Ok(()), WriterState::flush_deltas)
    }

    /// Reads on the connection that writes, with the deltas in the tables for as long as that takes: a full
    /// disk has no room to commit them, and a reader that does not see them would take its cursor for one of
    /// another journal.
    pub(super) fn read_with<R>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R, JournalError>,
    ) -> Result<R, JournalError> {
        self.state.lock().as_mut().ok_or_else(JournalError::closed)?.read_with_deltas(work)
    }
}

/// A page of the file, which is the unit of the log; `SQLite`'s default.
const PAGE_BYTES: u64 = 4096;

/// Pages that the logged deltas take at most: their bytes, and a few pages for each of them.
const DELTAS_PAGES: i64 = 8192;

/// The whole room, in units.
const ROOM: usize = WRITER_ROOM_BYTES_MAX / WRITER_ROOM_UNIT;

/// The connection inside a transaction, and the commits to publish after it.
pub(super) struct Tx<'c> {
    pub(super) conn: &'c Connection,
    pub(super) commits: Vec<OwnedCommit>,
    /// Seals lines of the audit log.
    pub(super) audit_key: &'c AuditKey,
}

impl Tx<'_> {
    /// Runs one of several calls, so that it can be rolled back alone.
    fn run(&mut self, job: &mut dyn Job) -> Result<(), JournalError> {
        let commits = self.commits.len();
        self.conn.prepare_cached("SAVEPOINT call").and_then(|mut it| it.execute([])).doing("begin a call")?;
        if job.run(self)? == JobOutcome::Refused {
            self.commits.truncate(commits);
            self.conn.execute_batch("ROLLBACK TO call").doing("take a call back")?;
        }
        self.conn.prepare_cached("RELEASE call").and_then(|mut it| it.execute([])).doing("end a call")?;
        Ok(())
    }
}

pub(super) enum OwnedCommit {
    Events(Key, Vec<Arc<Event>>),
    Restarted(Key),
    Deleted(Key),
}

/// Size and durability of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) class: Class,
    pub(super) bytes: usize,
    /// True if it appends nothing and removes something, so that it runs on a full disk as well.
    pub(super) makes_room: bool,
}

impl Load {
    /// A short call that must survive a loss of power.
    pub(super) const DURABLE: Load = Load { class: Class::Durable, bytes: 0, makes_room: false };
    /// The same for a call that removes something.
    pub(super) const MAKES_ROOM: Load = Load { makes_room: true, ..Load::DURABLE };
}

impl Writer {
    pub(super) fn start(
        conn: Connection,
        lock: File,
        log: DeltaLog,
        path: &Path,
        bytes_max: u64,
    ) -> Result<Self, JournalError> {
        let (queue, jobs) = mpsc::channel(WRITER_QUEUE_MAX);
        let tap = Arc::new(Mutex::new(None));
        let deltas = PendingDeltas::new(log);
        let count = deltas.count();
        let audit_key = audit_key::open(path, &conn)?;
        let state = WriterState {
            conn,
            audit_key,
            deltas,
            path: path.to_owned(),
            bytes_max,
            tap: Arc::clone(&tap),
            syncing: None,
            uncopied: 0,
            sweeping: true,
            full: Arc::default(),
        };
        let full = Arc::clone(&state.full);
        let state = Arc::new(Mutex::new(Some(state)));
        let shared = Arc::clone(&state);
        let checkpointer = open::checkpointer(path)?;
        let (locked, unlocked) = watch::channel(());
        let work = move || {
            work(&shared, jobs, checkpointer);
            // The lock goes last: the next process that gets it finds everything written.
            drop(lock);
            drop(locked);
        };
        let thread = std::thread::Builder::new().name("tidings-journal".to_owned()).spawn(work);
        let thread = thread.map_err(|error| JournalError::io("start the thread that writes", path, error))?;
        let room = Arc::new(Semaphore::new(ROOM));
        Ok(Writer {
            queue: Some(queue),
            room,
            state,
            deltas: count,
            full,
            tap,
            thread: Some(thread),
            unlocked,
        })
    }

    pub(super) fn waiting(&self) -> UnflushedDeltas {
        UnflushedDeltas { state: Arc::clone(&self.state), count: Arc::clone(&self.deltas) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(super) fn set_tap(&self, tap: Tap) {
        *self.tap.lock() = Some(tap);
    }

    /// Runs `work` in a transaction, and returns when that is committed. `work` may run more than once, each
    /// time in a transaction without the effects of earlier runs.
    pub(super) async fn call<R, F>(&self, load: Load, work: F) -> Result<R, JournalError>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<R, JournalError> + Send + 'static,
    {
        self.send(load, AfterCall::Continue, work).await
    }

    /// Runs the last call: the thread ends after it, and the journal can be opened again at once.
    pub(super) async fn call_last<F>(&self, work: F) -> Result<(), JournalError>
    where
        F: FnMut(&mut Tx<'_>) -> Result<(), JournalError> + Send + 'static,
    {
        let done = self.send(Load::DURABLE, AfterCall::Stop, work).await;
        // Nothing is ever sent: this ends when the thread has released the lock.
        drop(self.unlocked.clone().changed().await);
        done
    }

    async fn send<R, F>(&self, load: Load, after: AfterCall, work: F) -> Result<R, JournalError>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<R, JournalError> + Send + 'static,
    {
        let units = u32::try_from((load.bytes / WRITER_ROOM_UNIT + 1).min(ROOM)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let room = room.map_err(|_| JournalError::closed())?;
        let (reply, answer) = oneshot::channel();
        let job: Box<dyn Job> = Box::new(QueuedCall { load, after, work, result: None, reply, room });
        let queue = self.queue.as_ref().ok_or_else(JournalError::closed)?;
        queue.send(job).await.map_err(|_| JournalError::closed())?;
        answer.await.map_err(|_| JournalError::closed())?
    }

    /// Stores deltas on the caller's thread. Returns none if they have to go through the queue.
    pub(super) fn store_on_caller(
        &self,
        key: &Key,
        fence: Fence,
        drafts: &[Draft],
    ) -> Option<Result<Vec<Stored>, JournalError>> {
        let mut state = self.state.try_lock()?;
        let state = state.as_mut()?;
        let stored = state.store_deltas(key, fence, drafts);
        if state.uncopied >= CHECKPOINT_BYTES
            && let Some(queue) = &self.queue
        {
            // Copying the log takes long, so the thread does it. If the queue is full, the thread gets to it
            // by itself.
            drop(queue.try_send(Box::new(Wake)));
        }
        stored
    }
}

impl Drop for Writer {
    /// Waits until queued calls are written, so that the journal can be opened again at once.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by its hook; it cannot be returned here.
            drop(thread.join());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterCall {
    Continue,
    Stop,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobOutcome {
    Done,
    /// Its changes must be rolled back.
    Refused,
}

/// One call in the queue.
trait Job: Send {
    fn load(&self) -> Load;
    fn after(&self) -> AfterCall;
    /// Does the work and keeps the result. `Err` only if the engine failed; a refusal is a result.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<JobOutcome, JournalError>;
    /// Sends the result, or the reason why nothing was committed.
    fn answer(self: Box<Self>, committed: Result<(), JournalError>);
}

struct QueuedCall<R, F> {
    load: Load,
    after: AfterCall,
    work: F,
    result: Option<Result<R, JournalError>>,
    reply: oneshot::Sender<Result<R, JournalError>>,
    room: OwnedSemaphorePermit,
}

impl<R, F> Job for QueuedCall<R, F>
where
    R: Send,
    F: FnMut(&mut Tx<'_>) -> Result<R, JournalError> + Send,
{
    fn load(&self) -> Load {
        self.load
    }

    fn after(&self) -> AfterCall {
        self.after
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> Result<JobOutcome, JournalError> {
        let result = (self.work)(tx);
        if let Err(error) = &result
            && error.is_engine()
        {
            return Err(error.clone());
        }
        let outcome = if result.is_ok() { JobOutcome::Done } else { JobOutcome::Refused };
        self.result = Some(result);
        Ok(outcome)
    }

    fn answer(self: Box<Self>, committed: Result<(), JournalError>) {
        let QueuedCall { result, reply, room, .. } = *self;
        drop(room);
        let result = committed.and_then(|()| result.unwrap_or_else(|| Err(JournalError::closed())));
        // The caller may be gone; its effects stay.
        drop(reply.send(result));
    }
}

/// A job without work, which wakes the thread.
struct Wake;

impl Job for Wake {
    fn load(&self) -> Load {
        Load { class: Class::Delta, bytes: 0, makes_room: true }
    }

    fn after(&self) -> AfterCall {
        AfterCall::Continue
    }

    fn run(&mut self, _: &mut Tx<'_>) -> Result<JobOutcome, JournalError> {
        Ok(JobOutcome::Done)
    }

    fn answer(self: Box<Self>, _: Result<(), JournalError>) {}
}

/// Main loop of the thread, until the last call or until the writer is dropped.
fn work(
    shared: &Mutex<Option<WriterState>>,
    mut jobs: mpsc::Receiver<Box<dyn Job>>,
    checkpointer: Connection,
) {
    while let Some(first) = jobs.blocking_recv() {
        let is_due = {
            let mut guard = shared.lock();
            let Some(state) = guard.as_mut() else { return };
            if state.serve(first, &mut jobs) == AfterCall::Stop {
                // The caller of the last call has its result by now, so the lock must not be released in
                // between.
                drop(checkpointer);
                *guard = None;
                return;
            }
            state.is_due()
        };
        if is_due {
            copy_log(shared, &checkpointer);
        }
    }
    drop(checkpointer);
    drop(shared.lock().take());
}

/// Copies the log into the main file while others go on writing, since it waits for the disk. Writers wait
/// only for a log that grows faster than it is copied, since it can begin anew only when all of it was
/// copied.
fn copy_log(shared: &Mutex<Option<WriterState>>, checkpointer: &Connection) {
    let left = checkpoint(checkpointer, "PASSIVE");
    let mut state = shared.lock();
    let Some(state) = state.as_mut() else { return };
    if left.is_some_and(|left| left.log_bytes >= WAL_BYTES_MAX && !left.is_all) {
        checkpoint(&state.conn, "PASSIVE");
    }
}

/// State of the log after a checkpoint.
#[derive(Debug, Clone, Copy)]
struct LogState {
    log_bytes: u64,
    /// True if all of it is in the main file.
    is_all: bool,
}

fn checkpoint(conn: &Connection, mode: &str) -> Option<LogState> {
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

/// Treatment of the logged deltas by a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaFlush {
    Now,
    Later,
}

/// State of the writer, used under a lock.
struct WriterState {
    conn: Connection,
    audit_key: AuditKey,
    deltas: PendingDeltas,
    path: PathBuf,
    bytes_max: u64,
    tap: Arc<Mutex<Option<Tap>>>,
    /// Durability that the connection is set to.
    syncing: Option<Class>,
    /// Approximate bytes in the log that are not in the main file yet.
    uncopied: usize,
    /// True if deleted sessions may have rows left.
    sweeping: bool,
    full: Arc<AtomicBool>,
}

impl WriterState {
    fn store_deltas(
        &mut self,
        key: &Key,
        fence: Fence,
        drafts: &[Draft],
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

    fn flush_deltas(&mut self) -> Result<(), JournalError> {
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
    fn read_with_deltas<R>(
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
    fn serve(&mut self, first: Box<dyn Job>, jobs: &mut mpsc::Receiver<Box<dyn Job>>) -> AfterCall {
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
            // The log is copied first, so that a closed journal is one complete file.
            let committed = self.try_commit(std::slice::from_mut(&mut closing));
            checkpoint(&self.conn, "TRUNCATE");
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

    /// True if enough was written since the log was last copied. The caller must copy it then.
    fn is_due(&mut self) -> bool {
        let is_due = self.uncopied >= CHECKPOINT_BYTES;
        if is_due {
            self.uncopied = 0;
        }
        is_due
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
        self.conn.prepare_cached("BEGIN IMMEDIATE").and_then(|mut it| it.execute([])).doing(doing)?;
        if deltas == DeltaFlush::Now {
            self.deltas.flush(&self.conn)?;
        }
        let has_calls = !batch.is_empty();
        let mut tx = Tx { conn: &self.conn, commits: Vec::new(), audit_key: &self.audit_key };
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
        self.conn.prepare_cached("COMMIT").and_then(|mut it| it.execute([])).doing(doing)?;
        if deltas == DeltaFlush::Now {
            self.deltas.forget_flushed();
            if has_calls {
                self.deltas.forget_rows();
            }
        }
        Ok(commits)
    }

    fn publish(&mut self, commits: &[OwnedCommit]) {
        let tap = self.tap.lock().clone();
        for owned in commits {
            let commit = match owned {
                OwnedCommit::Events(key, events) => Commit::Events(key, events),
                OwnedCommit::Restarted(key) => Commit::Restarted(key),
                OwnedCommit::Deleted(key) => {
                    self.sweeping = true;
                    self.deltas.forget(key);
                    Commit::Deleted(key)
                }
            };
            if let Some(tap) = &tap {
                tap(commit);
            }
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
                Ok(conn) => (self.conn, self.syncing) = (conn, None),
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
