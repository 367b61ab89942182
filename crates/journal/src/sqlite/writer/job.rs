//! Calls in the queue of the writer.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::sqlite::failure::Doing as _;
use crate::sqlite::tally::SharedTally;
use crate::{AuditKey, Class, Event, JournalError, Key};

/// The connection inside a transaction, and the commits to publish after it.
pub(in crate::sqlite) struct Tx<'c> {
    pub(in crate::sqlite) conn: &'c Connection,
    pub(in crate::sqlite) commits: Vec<OwnedCommit>,
    /// Seals lines of the audit log.
    pub(in crate::sqlite) audit_key: &'c AuditKey,
    /// Counts rows.
    pub(super) tally: &'c SharedTally,
}

impl Tx<'_> {
    /// Runs one of several calls, so that it can be rolled back alone.
    pub(super) fn run(&mut self, job: &mut dyn Job) -> Result<(), JournalError> {
        let (commits, counted) = (self.commits.len(), self.tally.lock().savepoint());
        self.conn.prepare_cached("SAVEPOINT call").and_then(|mut it| it.execute([])).doing("begin a call")?;
        if job.run(self)? == JobOutcome::Refused {
            self.commits.truncate(commits);
            self.tally.lock().roll_back(counted);
            self.conn.execute_batch("ROLLBACK TO call").doing("take a call back")?;
        }
        self.conn.prepare_cached("RELEASE call").and_then(|mut it| it.execute([])).doing("end a call")?;
        Ok(())
    }
}

pub(in crate::sqlite) enum OwnedCommit {
    Events(Key, Vec<Arc<Event>>),
    Restarted(Key),
    Deleted(Key),
}

/// Size and durability of a call.
#[derive(Debug, Clone, Copy)]
pub(in crate::sqlite) struct Load {
    pub(in crate::sqlite) class: Class,
    pub(in crate::sqlite) bytes: usize,
    /// True if it appends nothing and removes something, so that it runs on a full disk as well.
    pub(in crate::sqlite) makes_room: bool,
}

impl Load {
    /// A short call that must survive a loss of power.
    pub(in crate::sqlite) const DURABLE: Load = Load { class: Class::Durable, bytes: 0, makes_room: false };
    /// The same for a call that removes something.
    pub(in crate::sqlite) const MAKES_ROOM: Load = Load { makes_room: true, ..Load::DURABLE };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterCall {
    Continue,
    Stop,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobOutcome {
    Done,
    /// Its changes must be rolled back.
    Refused,
}

/// One call in the queue.
pub(super) trait Job: Send {
    fn load(&self) -> Load;
    fn after(&self) -> AfterCall;
    /// Does the work and keeps the result. `Err` only if the engine failed; a refusal is a result.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<JobOutcome, JournalError>;
    /// Sends the result, or the reason why nothing was committed.
    fn answer(self: Box<Self>, committed: Result<(), JournalError>);
}

pub(super) struct QueuedCall<R, F> {
    pub(super) load: Load,
    pub(super) after: AfterCall,
    pub(super) work: F,
    pub(super) result: Option<Result<R, JournalError>>,
    pub(super) reply: oneshot::Sender<Result<R, JournalError>>,
    pub(super) room: OwnedSemaphorePermit,
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
pub(super) struct Wake;

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
