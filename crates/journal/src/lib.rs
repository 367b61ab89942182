//! Sessions and their events: numbered, ordered and stored.
//!
//! Commit, then number, then publish: an event gets its sequence number when it is stored, and is not visible
//! earlier. Numbers have no holes. A reader resumes with the [`Cursor`] of its last event, and either gets
//! every later event once and in order, or a verdict that it cannot: [`CursorVerdict::Gap`] or
//! [`CursorVerdict::Reset`].
//!
//! Engines are [`SqliteJournal`], one file, and [`MemoryJournal`], in memory. All engines pass one
//! suite, `conformance`, behind the feature of that name.

mod ask;
mod audit;
pub mod broadcast;
#[cfg(feature = "conformance")]
pub mod conformance;
mod cursor;
mod document;
mod error;
mod event;
mod event_forms;
pub mod limits;
mod loss;
mod memory;
mod names;
mod opening;
mod page;
mod project;
mod replica;
mod retention;
mod session;
pub mod snapshot;
mod sqlite;

use std::fmt;
use std::sync::Arc;

use broadcast::Publisher;
use futures_core::future::BoxFuture;
use jiff::Timestamp;
use tidings_protocol::ui::PermissionResolved;

pub use ask::{NewRequest, Settle, Settled, Settlement, StoredRequest};
pub use audit::{AUDIT_START, AuditDraft, AuditEntry, AuditKey, Broken, verify_audit, verify_sealed_audit};
pub use cursor::{Cursor, Epoch};
pub use document::{DocumentChange, StoredDocument};
pub use error::{ErrorKind, JournalError};
pub use event::{Class, Event, EventDraft, Novelty, Stored};
pub use event_forms::EventForms;
pub use loss::Loss;
pub use memory::{MemoryJournal, MemoryStore};
pub use names::{AskId, ClientId, Key, Kind};
pub use opening::Opening;
pub use page::{CursorVerdict, Max, Page, Resume};
pub(crate) use page::{Extent, PageRoom};
pub use project::{Project, ProjectFolder};
pub use replica::{Replica, ReplicaRow};
pub use retention::{Keep, Rest, Retained};
pub use session::{Changed, Fence, Handle, NewSession, Session, SessionChange, SessionCounts, SessionName};
pub use sqlite::SqliteJournal;

/// Name of the journal in a server's data folder.
pub const JOURNAL_FILE: &str = "journal.db";

/// The future of a journal's method.
///
/// A call that is dropped may still have its effect: repeat it with the same [`ClientId`] to get its result.
pub type JournalCall<'a, T> = BoxFuture<'a, Result<T, JournalError>>;

/// A store of sessions, their events and asks.
pub trait Journal: fmt::Debug + Send + Sync {
    /// Creates a session. The same client id again returns the session that it created.
    fn create(&self, new: NewSession) -> JournalCall<'_, (Session, Novelty)>;

    /// Returns one session.
    fn session(&self, name: &SessionName) -> JournalCall<'_, Session>;

    /// The session that a command created, if the command was seen.
    fn made_by(&self, id: &ClientId) -> JournalCall<'_, Option<Session>>;

    /// The cursor of a command's event, if the command was seen in the session.
    fn seen(&self, key: &Key, id: &ClientId) -> JournalCall<'_, Option<Cursor>>;

    /// Sessions by handle, those above `after`, at most a thousand.
    fn sessions(&self, after: Option<Handle>, max: usize) -> JournalCall<'_, Vec<Session>>;

    /// Changes a session, and appends the event of the change.
    fn update(&self, key: &Key, fence: Fence, change: SessionChange) -> JournalCall<'_, Changed>;

    /// Removes a session with all its data. Its handle and its epoch are never used again.
    fn delete(&self, key: &Key) -> JournalCall<'_, ()>;

    /// Takes over the right to write a session; earlier fences become invalid.
    fn claim(&self, key: &Key) -> JournalCall<'_, Fence>;

    /// Appends events, all or none, and returns the position of each.
    ///
    /// Returns when they are as safe as the safest [`Class`] among them requires.
    fn append(&self, key: &Key, fence: Fence, drafts: Vec<EventDraft>) -> JournalCall<'_, Vec<Stored>>;

    /// Events after a cursor; from the oldest one if there is no cursor.
    fn read(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Page>;

    /// The newest events before a number; from the head if there is no number. The verdict is always `Ok`.
    fn history(&self, key: &Key, before: Option<u64>, max: Max) -> JournalCall<'_, Page>;

    /// Everything that a subscriber starts with, from one moment.
    fn resume(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Resume>;

    /// Stores events of a session that another server owns, with their own numbers; creates the session if it
    /// is new. Events that are there already are skipped, and missing ones leave a gap.
    fn replicate(&self, replica: Replica) -> JournalCall<'_, Session>;

    /// Opens an ask and appends its event. An ask that is open already is not opened again.
    fn ask(&self, key: &Key, fence: Fence, ask: NewRequest) -> JournalCall<'_, Stored>;

    /// Settles an ask, unless it was settled before. It needs no fence, since any client may answer first.
    fn settle(&self, key: &Key, id: &AskId, settle: Settle) -> JournalCall<'_, Settlement>;

    /// Open asks, the oldest first: of one session, or of all; at most a thousand.
    fn asks(&self, key: Option<&Key>) -> JournalCall<'_, Vec<StoredRequest>>;

    /// An open ask of a session; none if it was settled or is unknown.
    fn open_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>>;

    /// An ask, open or settled; none if it is unknown.
    fn known_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>>;

    /// The answers that changed the input of a call, as long as they are stored: those in sessions that have
    /// used a session of the CLI, or in all sessions in which an input was asked about. The CLI's own files
    /// have the inputs that the model asked for.
    fn changed_inputs(&self, cli_session: Option<&str>) -> JournalCall<'_, Vec<PermissionResolved>>;

    /// Counts of sessions and open asks.
    fn counts(&self) -> JournalCall<'_, SessionCounts>;

    /// Number of events that could not be read since the journal was opened. Readers get a placeholder for
    /// each.
    fn damaged_events(&self) -> u64 {
        0
    }

    /// Losses that were found when the journal was opened.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }

    /// The outcome of an ask; none if it is open or unknown.
    fn outcome(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<Settled>>;

    /// Removes old events in steps: call it until nothing is left to remove. Ids of commands expire relative
    /// to `now`.
    fn retain(&self, key: &Key, keep: Keep, now: Timestamp) -> JournalCall<'_, Retained>;

    /// Opens a folder as a project, or gives an open one another session.
    fn open_project(
        &self,
        folder: ProjectFolder,
        session: Option<Key>,
        at: Timestamp,
    ) -> JournalCall<'_, Project>;

    /// Removes a project, but not its session.
    fn close_project(&self, folder: &ProjectFolder) -> JournalCall<'_, ()>;

    /// Projects by folder, those after `after`, at most a thousand.
    fn projects(&self, after: Option<&ProjectFolder>) -> JournalCall<'_, Vec<Project>>;

    /// Adds a line to the audit log.
    fn audit(&self, draft: AuditDraft) -> JournalCall<'_, AuditEntry>;

    /// Lines of the audit log after a number, at most a thousand. [`verify_audit`] checks them.
    fn audit_log(&self, after: u64) -> JournalCall<'_, Vec<AuditEntry>>;

    /// Stores and removes documents, all or none.
    fn change_documents(&self, changes: Vec<DocumentChange>) -> JournalCall<'_, ()>;

    /// All documents of a kind, by id.
    fn documents(&self, kind: &'static str) -> JournalCall<'_, Vec<StoredDocument>>;

    /// The publisher of this journal. It gets every commit right after that was stored, in the order of the
    /// commits and before the callers return.
    fn publisher(&self) -> &Arc<Publisher>;

    /// True if the last attempt to store something found no room. Reading works meanwhile.
    fn is_full(&self) -> bool {
        false
    }

    /// Checks for room again after [`Journal::is_full`], and returns whether the journal is still full.
    fn check_room(&self) -> JournalCall<'_, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Stores everything and closes cleanly, so that the next start keeps its epoch. Later calls fail.
    fn close(&self) -> JournalCall<'_, ()>;
}

/// One commit, as it is published.
#[derive(Debug, Clone, Copy)]
pub enum Commit<'a> {
    /// Consecutive events of a session.
    Events(&'a Key, &'a [Arc<Event>]),
    /// Earlier events of the session are void: another epoch begins, or some are missing.
    Restarted(&'a Key),
    /// The session was deleted.
    Deleted(&'a Key),
}
