//! The one connection that writes.
//!
//! A thread takes all queued calls and commits them together: there is no timer, so a single call is
//! committed at once, and under load the cost of a commit is shared. One durable call makes the whole commit
//! durable.
//!
//! A delta need not reach the disk before it is acknowledged. If the connection is idle, a delta is
//! [stored](PendingDeltas) on the caller's thread: that takes less time than waking the writer's thread and
//! being woken by it, which would be most of a subscriber's latency.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

pub(super) use self::job::{Load, OwnedCommit, Tx};

use self::job::{AfterCall, Job, QueuedCall, Wake};
use self::state::WriterState;
use super::audit_key;
use super::open::{self, OpenJournal};
use super::pending_deltas::PendingDeltas;
use crate::broadcast::Publisher;
use crate::limits::{CHECKPOINT_BYTES, WRITER_QUEUE_MAX, WRITER_ROOM_BYTES_MAX, WRITER_ROOM_UNIT};
use crate::{EventDraft, Fence, JournalError, Key, Stored};

mod checkpoint;
mod job;
mod state;

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
    publisher: Arc<Publisher>,
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

/// The whole room, in units.
const ROOM: usize = WRITER_ROOM_BYTES_MAX / WRITER_ROOM_UNIT;

impl Writer {
    pub(super) fn start(opened: OpenJournal, path: &Path, bytes_max: u64) -> Result<Self, JournalError> {
        let (queue, jobs) = mpsc::channel(WRITER_QUEUE_MAX);
        let publisher = Arc::<Publisher>::default();
        let OpenJournal { conn, lock, deltas, tally, heads, losses } = opened;
        let deltas = PendingDeltas::new(deltas);
        let count = deltas.count();
        let audit_key = audit_key::open(path, &conn)?;
        let state = WriterState {
            conn,
            audit_key,
            deltas,
            tally,
            heads,
            losses,
            path: path.to_owned(),
            bytes_max,
            publisher: Arc::clone(&publisher),
            syncing: None,
            uncopied: 0,
            copying: Arc::default(),
            sweeping: true,
            full: Arc::default(),
        };
        let full = Arc::clone(&state.full);
        let state = Arc::new(Mutex::new(Some(state)));
        let shared = Arc::clone(&state);
        let checkpointer = open::checkpointer(path)?;
        checkpoint::without_waiting(&checkpointer);
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
            publisher,
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

    pub(super) fn publisher(&self) -> &Arc<Publisher> {
        &self.publisher
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
        drafts: &[EventDraft],
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

/// Main loop of the thread, until the last call or until the writer is dropped.
fn work(
    shared: &Arc<Mutex<Option<WriterState>>>,
    mut jobs: mpsc::Receiver<Box<dyn Job>>,
    checkpointer: Connection,
) {
    // One message is enough: the thread that copies the log looks at all of it.
    let (due, is_due) = std::sync::mpsc::sync_channel(1);
    let copied = Arc::clone(shared);
    let copying = move || checkpoint::work(&copied, &is_due, &checkpointer);
    let copying = std::thread::Builder::new().name("tidings-checkpoint".to_owned()).spawn(copying);
    if let Err(error) = &copying {
        tracing::error!(%error, "failed to start the thread that copies the log of the journal");
    }
    while let Some(first) = jobs.blocking_recv() {
        let mut guard = shared.lock();
        let Some(state) = guard.as_mut() else { break };
        if state.serve(first, &mut jobs) == AfterCall::Stop {
            // The caller of the last call has its result by now, so the lock must not be released in between.
            *guard = None;
            break;
        }
        if state.is_due() {
            // A message that finds no room says nothing new.
            due.try_send(()).unwrap_or_default();
        }
    }
    drop(shared.lock().take());
    drop(due);
    if let Ok(copying) = copying {
        // A panic of the thread was reported by its hook.
        drop(copying.join());
    }
}
