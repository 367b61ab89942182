//! A journal in one file.
//!
//! One thread writes and acknowledges; a few connections read at the same time. The file belongs to one
//! process at a time, and only its owner may read it.

mod asks;
mod audit_key;
mod audit_log;
mod backup;
mod begin;
mod changed_inputs;
mod compare;
mod damage;
mod delta_log;
mod documents;
mod events;
mod examine;
mod failure;
mod heads;
mod mark;
mod open;
mod pages;
mod pending_deltas;
mod projects;
mod readers;
mod repair;
mod replicas;
mod salvage;
mod schema;
mod sessions;
mod sweep;
mod tally;
mod wal;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tidings_protocol::ui::PermissionResolved;

use self::damage::Damage;
use self::failure::Doing as _;
use self::readers::Readers;
use self::writer::{Load, Writer};
use super::event::{check_drafts, class_of, weight};
use super::{
    AskId, AuditDraft, AuditEntry, Changed, Class, ClientId, Cursor, DocumentChange, EventDraft, Fence,
    Handle, Journal, JournalCall, JournalError, Keep, Key, Loss, Max, NewRequest, NewSession, Novelty,
    Opening, Page, Project, ProjectFolder, Replica, Resume, Retained, Session, SessionChange, SessionCounts,
    SessionName, Settle, Settled, Settlement, Stored, StoredDocument, StoredRequest,
};
use crate::broadcast::Publisher;
use crate::limits::{DELTA_BYTES_MAX, JOURNAL_BYTES_MAX, LIST_MAX};

/// A journal in one `SQLite` file.
///
/// It reads on threads of the tokio runtime, so its calls have to be awaited inside one.
pub struct SqliteJournal {
    path: PathBuf,
    readers: Arc<Readers>,
    writer: Writer,
    damage: Damage,
    /// Losses that were found when it was opened.
    losses: Vec<Loss>,
}

impl SqliteJournal {
    /// Opens or creates the journal. It blocks on the disk.
    pub fn open(path: impl Into<PathBuf>, opening: &Opening) -> Result<Self, JournalError> {
        SqliteJournal::open_bounded(path, opening, JOURNAL_BYTES_MAX)
    }

    /// Like [`open`](Self::open), with another limit for the size of the file. Appends to a journal that has
    /// reached it fail until something is removed.
    pub fn open_bounded(
        path: impl Into<PathBuf>,
        opening: &Opening,
        bytes_max: u64,
    ) -> Result<Self, JournalError> {
        let path = path.into();
        let opened = open::writer(&path, opening, bytes_max)?;
        let losses = opened.losses.clone();
        let writer = Writer::start(opened, &path, bytes_max)?;
        let readers = Readers::new(path.clone(), writer.waiting());
        Ok(SqliteJournal { path, readers, writer, damage: Damage::default(), losses })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the files of a journal, whatever they are, so that the next [`open`](Self::open) creates an
    /// empty one. Returns the new name of the main file, if there was one. Only the mark is deleted. It
    /// blocks on the disk.
    pub fn put_aside(path: &Path) -> Result<Option<PathBuf>, JournalError> {
        open::put_aside(path)
    }

    /// Compares a journal with what it must hold, also while another process writes it. It blocks on the
    /// disk.
    pub fn losses_of(path: &Path) -> Result<Vec<Loss>, JournalError> {
        schema::check(&open::reader(path)?)?;
        examine::inspect(path)
    }

    /// Reads every event of a journal, also while another process writes it, and returns the number of
    /// damaged ones. It blocks on the disk.
    pub fn inspect(path: &Path) -> Result<u64, JournalError> {
        let conn = open::reader(path)?;
        schema::check(&conn)?;
        let damage = Damage::default();
        let mut after = None;
        loop {
            let page = sessions::list(&conn, after, LIST_MAX)?;
            let Some(last) = page.last() else { return Ok(damage.count()) };
            after = Some(last.handle);
            for session in page {
                let mut cursor = None;
                loop {
                    let page = events::read(&conn, &session.key, cursor, Max::default(), &damage)?;
                    cursor = page.events.last().map(|event| event.cursor);
                    if cursor.is_none_or(|cursor| cursor.seq >= page.head.seq) {
                        break;
                    }
                }
            }
        }
    }

    /// The answers that changed the inputs of calls, of all sessions; also while another process writes the
    /// journal. The CLI's own files have the inputs that the model asked for. It blocks on the disk.
    pub fn read_changed_inputs(path: &Path) -> Result<Vec<PermissionResolved>, JournalError> {
        let conn = open::reader(path)?;
        schema::check(&conn)?;
        changed_inputs::read(&conn, None)
    }

    /// Reads the documents of a kind, also while another process writes the journal. A journal of an earlier
    /// version has none. It blocks on the disk.
    pub fn read_documents(path: &Path, kind: &str) -> Result<Vec<StoredDocument>, JournalError> {
        let conn = open::reader(path)?;
        if schema::check(&conn)? < schema::WITH_DOCUMENTS {
            return Ok(Vec::new());
        }
        documents::list(&conn, kind)
    }

    /// Copies a journal to a new file, also while another process writes it. A journal that is opened from
    /// the copy begins another epoch, so that readers that saw more get a reset. Calls `progress` with the
    /// bytes done and their total. It blocks on the disk.
    pub fn backup(journal: &Path, to: &Path, mut progress: impl FnMut(u64, u64)) -> Result<(), JournalError> {
        backup::copy(journal, to, &mut progress)
    }
}

impl Journal for SqliteJournal {
    fn create(&self, new: NewSession) -> JournalCall<'_, (Session, Novelty)> {
        Box::pin(async move {
            new.check()?;
            self.writer.call(Load::DURABLE, move |tx| sessions::create(tx, &new)).await
        })
    }

    fn session(&self, name: &SessionName) -> JournalCall<'_, Session> {
        let name = name.clone();
        self.readers.call(move |conn| sessions::find(conn, &name))
    }

    fn made_by(&self, id: &ClientId) -> JournalCall<'_, Option<Session>> {
        let id = id.clone();
        self.readers.call(move |conn| sessions::made_by(conn, &id))
    }

    fn seen(&self, key: &Key, id: &ClientId) -> JournalCall<'_, Option<Cursor>> {
        let (key, id) = (key.clone(), id.clone());
        self.readers.call(move |conn| events::SessionRow::find(conn, &key)?.seen(conn, &id))
    }

    fn sessions(&self, after: Option<Handle>, max: usize) -> JournalCall<'_, Vec<Session>> {
        self.readers.call(move |conn| sessions::list(conn, after, max))
    }

    fn update(&self, key: &Key, fence: Fence, change: SessionChange) -> JournalCall<'_, Changed> {
        let key = key.clone();
        Box::pin(async move {
            change.check()?;
            self.writer.call(Load::DURABLE, move |tx| sessions::update(tx, &key, fence, &change)).await
        })
    }

    fn delete(&self, key: &Key) -> JournalCall<'_, ()> {
        let key = key.clone();
        Box::pin(self.writer.call(Load::MAKES_ROOM, move |tx| sessions::delete(tx, &key)))
    }

    fn claim(&self, key: &Key) -> JournalCall<'_, Fence> {
        let key = key.clone();
        Box::pin(self.writer.call(Load::DURABLE, move |tx| sessions::claim(tx, &key)))
    }

    fn append(&self, key: &Key, fence: Fence, drafts: Vec<EventDraft>) -> JournalCall<'_, Vec<Stored>> {
        let key = key.clone();
        Box::pin(async move {
            check_drafts(&drafts)?;
            let bytes: u64 = drafts.iter().map(|draft| weight(draft.body.len())).sum();
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            let class = class_of(&drafts);
            let are_deltas = class == Class::Delta && drafts.iter().all(|draft| draft.client_id.is_none());
            if are_deltas
                && bytes <= DELTA_BYTES_MAX
                && let Some(stored) = self.writer.store_on_caller(&key, fence, &drafts)
            {
                return stored;
            }
            let load = Load { class, bytes, makes_room: false };
            self.writer.call(load, move |tx| events::append(tx, &key, fence, &drafts)).await
        })
    }

    fn read(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Page> {
        let (key, damage) = (key.clone(), self.damage.clone());
        self.readers.call(move |conn| events::read(conn, &key, after, max, &damage))
    }

    fn history(&self, key: &Key, before: Option<u64>, max: Max) -> JournalCall<'_, Page> {
        let (key, damage) = (key.clone(), self.damage.clone());
        self.readers.call(move |conn| events::history(conn, &key, before, max, &damage))
    }

    fn resume(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Resume> {
        let (key, damage) = (key.clone(), self.damage.clone());
        self.readers.call(move |conn| {
            let page = events::read(conn, &key, after, max, &damage)?;
            let pending = asks::list(conn, Some(&key))?;
            let past = events::SessionRow::find(conn, &key)?.extent(conn)?.past;
            Ok(Resume { page, pending, session: sessions::find(conn, &SessionName::Key(key))?, past })
        })
    }

    fn replicate(&self, replica: Replica) -> JournalCall<'_, Session> {
        Box::pin(async move {
            replica.check()?;
            let bytes: u64 = replica.events.iter().map(|event| weight(event.body.len())).sum();
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            // The owner and the fleet have the events too, so the disk need not have them at once.
            let load = Load { class: Class::Delta, bytes, makes_room: false };
            self.writer.call(load, move |tx| replicas::store(tx, &replica)).await
        })
    }

    fn ask(&self, key: &Key, fence: Fence, ask: NewRequest) -> JournalCall<'_, Stored> {
        let key = key.clone();
        Box::pin(async move {
            ask.check()?;
            let load = Load { bytes: ask.body.len() + ask.event.body.len(), ..Load::DURABLE };
            self.writer.call(load, move |tx| asks::open(tx, &key, fence, &ask)).await
        })
    }

    fn settle(&self, key: &Key, id: &AskId, settle: Settle) -> JournalCall<'_, Settlement> {
        let (key, id) = (key.clone(), id.clone());
        Box::pin(async move {
            settle.check()?;
            let load = Load { bytes: settle.event.body.len(), ..Load::DURABLE };
            self.writer.call(load, move |tx| asks::settle(tx, &key, &id, &settle)).await
        })
    }

    fn outcome(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<Settled>> {
        let (key, id) = (key.clone(), id.clone());
        self.readers.call(move |conn| asks::outcome(conn, &key, &id))
    }

    fn open_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>> {
        let (key, id) = (key.clone(), id.clone());
        self.readers.call(move |conn| asks::find(conn, &key, &id))
    }

    fn known_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>> {
        let (key, id) = (key.clone(), id.clone());
        self.readers.call(move |conn| asks::find_known(conn, &key, &id))
    }

    fn changed_inputs(&self, cli_session: Option<&str>) -> JournalCall<'_, Vec<PermissionResolved>> {
        let cli_session = cli_session.map(str::to_owned);
        self.readers.call(move |conn| changed_inputs::read(conn, cli_session.as_deref()))
    }

    fn damaged_events(&self) -> u64 {
        self.damage.count()
    }

    fn losses(&self) -> Vec<Loss> {
        self.losses.clone()
    }

    fn counts(&self) -> JournalCall<'_, SessionCounts> {
        self.readers.call(|conn| {
            Ok(SessionCounts { sessions: sessions::count(conn)?, open_asks: asks::count(conn)? })
        })
    }

    fn asks(&self, key: Option<&Key>) -> JournalCall<'_, Vec<StoredRequest>> {
        let key = key.cloned();
        self.readers.call(move |conn| asks::list(conn, key.as_ref()))
    }

    fn retain(&self, key: &Key, keep: Keep, now: Timestamp) -> JournalCall<'_, Retained> {
        let key = key.clone();
        Box::pin(self.writer.call(Load::MAKES_ROOM, move |tx| events::retain(tx, &key, keep, now)))
    }

    fn open_project(
        &self,
        folder: ProjectFolder,
        session: Option<Key>,
        at: Timestamp,
    ) -> JournalCall<'_, Project> {
        let open = move |tx: &mut writer::Tx<'_>| projects::open(tx, &folder, session.as_ref(), at);
        Box::pin(self.writer.call(Load::DURABLE, open))
    }

    fn close_project(&self, folder: &ProjectFolder) -> JournalCall<'_, ()> {
        let folder = folder.clone();
        Box::pin(self.writer.call(Load::DURABLE, move |tx| projects::close(tx, &folder)))
    }

    fn projects(&self, after: Option<&ProjectFolder>) -> JournalCall<'_, Vec<Project>> {
        let after = after.cloned();
        self.readers.call(move |conn| projects::list(conn, after.as_ref()))
    }

    fn audit(&self, draft: AuditDraft) -> JournalCall<'_, AuditEntry> {
        Box::pin(async move {
            draft.check()?;
            self.writer.call(Load::DURABLE, move |tx| audit_log::add(tx, &draft)).await
        })
    }

    fn audit_log(&self, after: u64) -> JournalCall<'_, Vec<AuditEntry>> {
        self.readers.call(move |conn| audit_log::list(conn, after))
    }

    fn change_documents(&self, changes: Vec<DocumentChange>) -> JournalCall<'_, ()> {
        Box::pin(async move {
            changes.iter().try_for_each(DocumentChange::check)?;
            let bytes = changes.iter().filter_map(|change| change.body.as_ref()).map(|body| body.len()).sum();
            let makes_room = changes.iter().all(|change| change.body.is_none());
            let load = Load { bytes, makes_room, ..Load::DURABLE };
            self.writer.call(load, move |tx| documents::change(tx, &changes)).await
        })
    }

    fn documents(&self, kind: &'static str) -> JournalCall<'_, Vec<StoredDocument>> {
        self.readers.call(move |conn| documents::list(conn, kind))
    }

    fn publisher(&self) -> &Arc<Publisher> {
        self.writer.publisher()
    }

    fn is_full(&self) -> bool {
        self.writer.is_full()
    }

    fn check_room(&self) -> JournalCall<'_, bool> {
        Box::pin(async move {
            if !self.writer.is_full() {
                return Ok(false);
            }
            // The probe needs a page of its own, as an event does.
            let probe = |tx: &mut writer::Tx<'_>| {
                let sql = "CREATE TABLE room (bytes BLOB); INSERT INTO room VALUES (zeroblob(16384)); DROP TABLE room";
                tx.conn.execute_batch(sql).doing("look for room on the disk")
            };
            match self.writer.call(Load::DURABLE, probe).await {
                Ok(()) => Ok(false),
                Err(error) if error.kind() == super::ErrorKind::Full => Ok(true),
                Err(error) => Err(error),
            }
        })
    }

    fn close(&self) -> JournalCall<'_, ()> {
        Box::pin(async move {
            self.readers.close();
            let clean = |tx: &mut writer::Tx<'_>| {
                tx.conn.execute("UPDATE journal SET clean = 1", []).doing("close the journal").map(drop)
            };
            self.writer.call_last(clean).await
        })
    }
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteJournal").field("path", &self.path).finish_non_exhaustive()
    }
}
