//! A journal in memory: for demos and tests, and as a second implementation to compare with.

mod asks;
mod replicas;
mod sessions;
mod state;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use state::StoreState;
use tidings_protocol::ui::PermissionResolved;

use super::broadcast::Publisher;
use super::{
    AskId, AuditDraft, AuditEntry, Changed, ClientId, Cursor, DocumentChange, EventDraft, Fence, Handle,
    Journal, JournalCall, JournalError, Keep, Key, Max, NewRequest, NewSession, Novelty, Opening, Page,
    Project, ProjectFolder, Replica, Resume, Retained, Session, SessionChange, SessionCounts, SessionName,
    Settle, Settled, Settlement, Stored, StoredDocument, StoredRequest,
};

/// A journal in memory.
///
/// ```
/// # use tidings_journal::*;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let opening = Opening { boot_id: "a".into(), fresh_epoch: Epoch::from_random(7) };
/// let journal = MemoryJournal::new(&opening);
/// let (key, now) = (Key::new("demo")?, jiff::Timestamp::UNIX_EPOCH);
/// journal.create(NewSession::new(key.clone(), "/tmp", now)).await?;
///
/// let fence = journal.claim(&key).await?;
/// let hello = EventDraft::new(Class::Durable, now, Kind::new("text")?, *b"hello");
/// let stored = journal.append(&key, fence, vec![hello]).await?;
/// assert_eq!(stored[0].cursor.seq, 1);
///
/// let page = journal.read(&key, None, Max::default()).await?;
/// assert_eq!((page.verdict, &*page.events[0].body), (CursorVerdict::Ok, &b"hello"[..]));
/// # Ok::<(), JournalError>(()) }).unwrap();
/// ```
pub struct MemoryJournal {
    store: MemoryStore,
    /// Number of this opening of the store; a later one invalidates it.
    opened: u64,
    publisher: Arc<Publisher>,
}

/// The contents of a [`MemoryJournal`], which outlive it, so that another can be opened on them: the disk of
/// a test.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<StoreState>>);

impl MemoryJournal {
    /// An empty journal.
    pub fn new(opening: &Opening) -> Self {
        MemoryJournal::open(&MemoryStore::default(), opening)
    }

    /// Opens a journal on an existing store. The earlier journal is closed, as if its process had been
    /// killed.
    pub fn open(store: &MemoryStore, opening: &Opening) -> Self {
        let publisher = Arc::default();
        let opened = store.0.lock().open(opening, Arc::clone(&publisher));
        MemoryJournal { store: store.clone(), opened, publisher }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut StoreState) -> Result<T, JournalError> + Send,
    ) -> JournalCall<'static, T>
    where
        T: Send + 'static,
    {
        let mut state = self.store.0.lock();
        let result = if state.is_open(self.opened) { work(&mut state) } else { Err(JournalError::closed()) };
        Box::pin(std::future::ready(result))
    }
}

impl Journal for MemoryJournal {
    fn create(&self, new: NewSession) -> JournalCall<'_, (Session, Novelty)> {
        self.with(|state| state.create(&new))
    }

    fn session(&self, name: &SessionName) -> JournalCall<'_, Session> {
        self.with(|state| state.session(name))
    }

    fn made_by(&self, id: &ClientId) -> JournalCall<'_, Option<Session>> {
        self.with(|state| Ok(state.made_by(id)))
    }

    fn seen(&self, key: &Key, id: &ClientId) -> JournalCall<'_, Option<Cursor>> {
        self.with(|state| Ok(state.find(key)?.client_ids.get(id).map(|(cursor, _)| *cursor)))
    }

    fn sessions(&self, after: Option<Handle>, max: usize) -> JournalCall<'_, Vec<Session>> {
        self.with(|state| Ok(state.sessions(after, max)))
    }

    fn update(&self, key: &Key, fence: Fence, change: SessionChange) -> JournalCall<'_, Changed> {
        self.with(|state| state.update(key, fence, &change))
    }

    fn delete(&self, key: &Key) -> JournalCall<'_, ()> {
        self.with(|state| state.delete(key))
    }

    fn claim(&self, key: &Key) -> JournalCall<'_, Fence> {
        self.with(|state| state.claim(key))
    }

    fn append(&self, key: &Key, fence: Fence, drafts: Vec<EventDraft>) -> JournalCall<'_, Vec<Stored>> {
        self.with(|state| state.append(key, fence, &drafts))
    }

    fn read(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Page> {
        self.with(|state| state.read(key, after, max))
    }

    fn history(&self, key: &Key, before: Option<u64>, max: Max) -> JournalCall<'_, Page> {
        self.with(|state| state.history(key, before, max))
    }

    fn resume(&self, key: &Key, after: Option<Cursor>, max: Max) -> JournalCall<'_, Resume> {
        self.with(|state| {
            let session = state.session(&SessionName::Key(key.clone()))?;
            let (page, pending) = (state.read(key, after, max)?, state.asks(Some(key))?);
            Ok(Resume { page, pending, session, past: state.find(key)?.past.clone() })
        })
    }

    fn replicate(&self, replica: Replica) -> JournalCall<'_, Session> {
        self.with(|state| state.replicate(&replica))
    }

    fn ask(&self, key: &Key, fence: Fence, ask: NewRequest) -> JournalCall<'_, Stored> {
        self.with(|state| state.ask(key, fence, &ask))
    }

    fn settle(&self, key: &Key, id: &AskId, settle: Settle) -> JournalCall<'_, Settlement> {
        self.with(|state| state.settle(key, id, &settle))
    }

    fn outcome(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<Settled>> {
        self.with(|state| state.outcome(key, id))
    }

    fn open_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>> {
        self.with(|state| state.open_ask(key, id))
    }

    fn known_ask(&self, key: &Key, id: &AskId) -> JournalCall<'_, Option<StoredRequest>> {
        self.with(|state| state.known_ask(key, id))
    }

    fn changed_inputs(&self, cli_session: Option<&str>) -> JournalCall<'_, Vec<PermissionResolved>> {
        self.with(|state| Ok(state.changed_inputs(cli_session)))
    }

    fn counts(&self) -> JournalCall<'_, SessionCounts> {
        self.with(|state| Ok(state.counts()))
    }

    fn asks(&self, key: Option<&Key>) -> JournalCall<'_, Vec<StoredRequest>> {
        self.with(|state| state.asks(key))
    }

    fn retain(&self, key: &Key, keep: Keep, now: Timestamp) -> JournalCall<'_, Retained> {
        self.with(|state| state.retain(key, keep, now))
    }

    fn open_project(
        &self,
        folder: ProjectFolder,
        session: Option<Key>,
        at: Timestamp,
    ) -> JournalCall<'_, Project> {
        self.with(|state| state.open_project(folder, session, at))
    }

    fn close_project(&self, folder: &ProjectFolder) -> JournalCall<'_, ()> {
        self.with(|state| state.close_project(folder))
    }

    fn projects(&self, after: Option<&ProjectFolder>) -> JournalCall<'_, Vec<Project>> {
        self.with(|state| Ok(state.projects(after)))
    }

    fn audit(&self, draft: AuditDraft) -> JournalCall<'_, AuditEntry> {
        self.with(|state| draft.check().map(|()| state.audit(&draft)))
    }

    fn audit_log(&self, after: u64) -> JournalCall<'_, Vec<AuditEntry>> {
        self.with(|state| Ok(state.audit_log(after)))
    }

    fn change_documents(&self, changes: Vec<DocumentChange>) -> JournalCall<'_, ()> {
        self.with(|state| {
            changes.iter().try_for_each(DocumentChange::check)?;
            state.change_documents(changes);
            Ok(())
        })
    }

    fn documents(&self, kind: &'static str) -> JournalCall<'_, Vec<StoredDocument>> {
        self.with(|state| Ok(state.documents(kind)))
    }

    fn publisher(&self) -> &Arc<Publisher> {
        &self.publisher
    }

    fn close(&self) -> JournalCall<'_, ()> {
        self.with(|state| {
            state.close();
            Ok(())
        })
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryJournal")
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
