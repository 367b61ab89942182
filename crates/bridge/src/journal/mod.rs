//! What happened in every session, in order, numbered and kept.
//!
//! Commit, then number, then publish: an event has a sequence number once it is stored, and nobody sees it earlier.
//! Numbers have no holes. A reader comes back with the [`Cursor`] of the last event that it has, and either gets
//! every event after it once and in order, or is told in one word that it cannot: [`Verdict::Gap`] or
//! [`Verdict::Reset`].
//!
//! Engines are [`SqliteJournal`], one file, and [`MemoryJournal`], which forgets. All engines pass one suite,
//! `conformance`, behind the feature of that name.

mod ask;
mod audit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod cursor;
mod error;
mod event;
mod memory;
mod names;
mod opening;
mod page;
mod project;
mod retention;
mod session;
mod sqlite;

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use jiff::Timestamp;

pub use ask::{Ask, NewAsk, Settle, Settled, Settlement};
pub use audit::{AUDIT_START, AuditDraft, AuditEntry, AuditKey, Broken, verify_audit, verify_sealed_audit};
pub use cursor::{Cursor, Epoch};
pub use error::{ErrorKind, JournalError};
pub use event::{Class, Draft, Event, Novelty, Stored};
pub use memory::{MemoryJournal, MemoryStore};
pub use names::{AskId, ClientId, Key, Kind};
pub use opening::Opening;
pub use page::{Max, Page, Resume, Verdict};
pub use project::{Project, ProjectFolder};
pub use retention::{Keep, Rest, Retained};
pub use session::{Changed, Counts, Fence, Handle, NewSession, Session, SessionChange, SessionName};
pub use sqlite::SqliteJournal;

pub(crate) use page::{Extent, Room};

/// What a journal answers, in its own time.
///
/// A call that is dropped may still have its effect: send it again with the same [`ClientId`] to learn its outcome.
pub type Call<'a, T> = BoxFuture<'a, Result<T, JournalError>>;

/// Where sessions, their events and what waits for a person are kept.
pub trait Journal: fmt::Debug + Send + Sync {
    /// Makes a session. The same client id again gives the session that it made.
    fn create(&self, new: NewSession) -> Call<'_, (Session, Novelty)>;

    /// One session.
    fn session(&self, name: &SessionName) -> Call<'_, Session>;

    /// The session that a command has made, if the command was seen.
    fn made_by(&self, id: &ClientId) -> Call<'_, Option<Session>>;

    /// Where the event of a command is, if the command was seen in the session.
    fn seen(&self, key: &Key, id: &ClientId) -> Call<'_, Option<Cursor>>;

    /// Sessions by number, those above `after`, at most a thousand.
    fn sessions(&self, after: Option<Handle>, max: usize) -> Call<'_, Vec<Session>>;

    /// Changes what is kept about a session, and tells of it.
    fn update(&self, key: &Key, fence: Fence, change: SessionChange) -> Call<'_, Changed>;

    /// Removes a session and everything of it. Its number and its epoch do not come back.
    fn delete(&self, key: &Key) -> Call<'_, ()>;

    /// Takes the right to write a session from whoever had it.
    fn claim(&self, key: &Key) -> Call<'_, Fence>;

    /// Appends events, all or none, and says where each is.
    ///
    /// It is answered when they are as safe as the safest [`Class`] among them asks.
    fn append(&self, key: &Key, fence: Fence, drafts: Vec<Draft>) -> Call<'_, Vec<Stored>>;

    /// Events after a cursor; from the oldest that is kept where there is none.
    fn read(&self, key: &Key, after: Option<Cursor>, max: Max) -> Call<'_, Page>;

    /// Events before a number, the newest ones; from the head where there is none. The verdict is always `Ok`.
    fn history(&self, key: &Key, before: Option<u64>, max: Max) -> Call<'_, Page>;

    /// Everything that a watcher starts with, as it was at one moment.
    fn resume(&self, key: &Key, after: Option<Cursor>, max: Max) -> Call<'_, Resume>;

    /// Opens an ask and tells of it. One that is open already is not opened twice.
    fn ask(&self, key: &Key, fence: Fence, ask: NewAsk) -> Call<'_, Stored>;

    /// Ends an ask, unless somebody was faster; no fence, since anybody who may answer may be first.
    fn settle(&self, key: &Key, id: &AskId, settle: Settle) -> Call<'_, Settlement>;

    /// What waits, the oldest first: of one session, or of all of them; at most a thousand.
    fn asks(&self, key: Option<&Key>) -> Call<'_, Vec<Ask>>;

    /// One that waits in a session; nothing if it was settled or is unknown.
    fn open_ask(&self, key: &Key, id: &AskId) -> Call<'_, Option<Ask>>;

    /// How many there are of what is listed in parts.
    fn counts(&self) -> Call<'_, Counts>;

    /// The number of events that could not be read since the journal was opened. Each is replaced by one that says so.
    fn damaged_events(&self) -> u64 {
        0
    }

    /// How an ask ended; nothing if it is open or unknown.
    fn outcome(&self, key: &Key, id: &AskId) -> Call<'_, Option<Settled>>;

    /// Removes old events, in steps: call it until it has nothing left to do. `now` says which ids of commands are
    /// old enough to be forgotten.
    fn retain(&self, key: &Key, keep: Keep, now: Timestamp) -> Call<'_, Retained>;

    /// Opens a folder as a project, or gives an open one another session.
    fn open_project(&self, folder: ProjectFolder, session: Option<Key>, at: Timestamp) -> Call<'_, Project>;

    /// Forgets a project, and leaves its session alone.
    fn close_project(&self, folder: &ProjectFolder) -> Call<'_, ()>;

    /// Projects by folder, those after `after`, at most a thousand.
    fn projects(&self, after: Option<&ProjectFolder>) -> Call<'_, Vec<Project>>;

    /// Adds a line to the audit log.
    fn audit(&self, draft: AuditDraft) -> Call<'_, AuditEntry>;

    /// Lines of the audit log after a number, at most a thousand. [`verify_audit`] checks them.
    fn audit_log(&self, after: u64) -> Call<'_, Vec<AuditEntry>>;

    /// Has every commit told to `tap`, in the order of the commits and before the calls are answered.
    ///
    /// It runs where the writing is done, so it must not wait and must not call the journal. A second tap takes the
    /// place of the first.
    fn tap(&self, tap: Tap);

    /// Whether the last attempt to store something found no room. Reading works meanwhile.
    fn is_full(&self) -> bool {
        false
    }

    /// Looks whether there is room again after [`Journal::is_full`], and says whether there is none.
    fn check_room(&self) -> Call<'_, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Stores everything and stops cleanly, so that the next start keeps its epoch. Later calls are refused.
    fn close(&self) -> Call<'_, ()>;
}

/// Who is told of commits.
pub type Tap = Arc<dyn Fn(Commit<'_>) + Send + Sync>;

/// What a tap is told.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Commit<'a> {
    /// Events of a session, without a hole between them.
    Events(&'a Key, &'a [Arc<Event>]),
    /// A session is gone.
    Deleted(&'a Key),
}
