//! The contents of a journal in memory, and its events.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::broadcast::Publisher;
use crate::event::{check_drafts, weight};
use crate::limits::{CLIENT_ID_KEPT, MEMORY_BYTES_MAX, PAST_EPOCHS_MAX, RETAIN_STEP, SEQ_MAX};
use crate::opening::LastStop;
use crate::retention::RetentionWalk;
use crate::{
    AskId, AuditEntry, ClientId, Commit, Cursor, CursorVerdict, DocumentChange, Epoch, ErrorKind, Event,
    EventDraft, Extent, Fence, Handle, JournalError, Keep, Key, Max, Novelty, Opening, Page, PageRoom,
    Project, ProjectFolder, Rest, Retained, Session, Settled, Stored, StoredDocument, StoredRequest,
};

#[derive(Default)]
pub(super) struct StoreState {
    pub(super) sessions: BTreeMap<Handle, SessionRecord>,
    pub(super) keys: HashMap<Key, Handle>,
    pub(super) made_by: HashMap<ClientId, Handle>,
    pub(super) handles: u64,
    pub(super) projects: BTreeMap<ProjectFolder, Project>,
    pub(super) audit: Vec<AuditEntry>,
    documents: BTreeMap<(&'static str, String), Arc<[u8]>>,
    pub(super) epoch: Option<Epoch>,
    boot_id: String,
    openings: u64,
    is_open: bool,
    bytes: u64,
    /// Of the journal that was opened last.
    publisher: Arc<Publisher>,
}

/// One session with all its data.
pub(super) struct SessionRecord {
    pub(super) row: Session,
    pub(super) fence: u64,
    pub(super) past: Vec<(Epoch, u64)>,
    pub(super) events: VecDeque<Arc<Event>>,
    pub(super) client_ids: HashMap<ClientId, (Cursor, Timestamp)>,
    pub(super) asks: HashMap<AskId, RequestRecord>,
}

pub(super) struct RequestRecord {
    pub(super) ask: StoredRequest,
    pub(super) settled: Option<(Settled, Cursor)>,
}

impl StoreState {
    pub(super) fn open(&mut self, opening: &Opening, publisher: Arc<Publisher>) -> u64 {
        let stop = if self.is_open { LastStop::Unclean } else { LastStop::Clean };
        let fresh = opening.fresh_epoch;
        self.epoch.get_or_insert(fresh);
        if opening.may_have_lost(stop, &self.boot_id) {
            self.epoch = Some(fresh);
            // A replica has the epoch of its owner.
            let own = self.sessions.values_mut().filter(|record| record.row.node.is_none());
            own.for_each(|record| record.begin(fresh));
        }
        self.boot_id.clone_from(&opening.boot_id);
        self.openings += 1;
        self.is_open = true;
        self.publisher = publisher;
        self.openings
    }

    pub(super) fn is_open(&self, opened: u64) -> bool {
        self.is_open && self.openings == opened
    }

    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    pub(super) fn change_documents(&mut self, changes: Vec<DocumentChange>) {
        for DocumentChange { kind, id, body } in changes {
            match body {
                Some(body) => drop(self.documents.insert((kind, id), body)),
                None => drop(self.documents.remove(&(kind, id))),
            }
        }
    }

    pub(super) fn documents(&self, kind: &'static str) -> Vec<StoredDocument> {
        let of_kind = self.documents.iter().filter(|((found, _), _)| *found == kind);
        of_kind.map(|((_, id), body)| StoredDocument { id: id.clone(), body: Arc::clone(body) }).collect()
    }

    pub(super) fn find(&self, key: &Key) -> Result<&SessionRecord, JournalError> {
        let record = self.keys.get(key).and_then(|handle| self.sessions.get(handle));
        record.ok_or_else(|| JournalError::no_session(key))
    }

    pub(super) fn find_mut(&mut self, key: &Key) -> Result<&mut SessionRecord, JournalError> {
        let record = self.keys.get(key).and_then(|handle| self.sessions.get_mut(handle));
        record.ok_or_else(|| JournalError::no_session(key))
    }

    pub(super) fn fenced(&mut self, key: &Key, fence: Fence) -> Result<&mut SessionRecord, JournalError> {
        let record = self.find_mut(key)?;
        if record.fence == fence.number() { Ok(record) } else { Err(JournalError::fenced(key)) }
    }

    /// Refuses drafts that do not fit, before anything is changed.
    pub(super) fn check_room(&self, drafts: &[EventDraft]) -> Result<(), JournalError> {
        check_drafts(drafts)?;
        let more: u64 = drafts.iter().map(|draft| weight(draft.body.len())).sum();
        if self.bytes + more > MEMORY_BYTES_MAX as u64 {
            let hint = "retain less, or keep the journal on a disk";
            return Err(JournalError::new(ErrorKind::Full, "The journal in memory is full", hint));
        }
        Ok(())
    }

    pub(super) fn append(
        &mut self,
        key: &Key,
        fence: Fence,
        drafts: &[EventDraft],
    ) -> Result<Vec<Stored>, JournalError> {
        self.check_room(drafts)?;
        let record = self.fenced(key, fence)?;
        record.check_numbers(drafts.len())?;
        let mut appended = Vec::new();
        let stored = drafts.iter().map(|draft| record.put(draft, &mut appended)).collect();
        self.publish_events(key, &appended);
        Ok(stored)
    }

    /// The step after storing: subscribers get what was committed.
    pub(super) fn publish(&self, commit: Commit<'_>) {
        self.publisher.publish(commit);
    }

    /// Counts and publishes events after they were stored.
    pub(super) fn publish_events(&mut self, key: &Key, events: &[Arc<Event>]) {
        self.bytes += events.iter().map(|event| event.weight()).sum::<u64>();
        if !events.is_empty() {
            self.publish(Commit::Events(key, events));
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn forget_bytes(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }

    pub(super) fn read(&self, key: &Key, after: Option<Cursor>, max: Max) -> Result<Page, JournalError> {
        let record = self.find(key)?;
        let extent = record.extent();
        let (verdict, from) = extent.judge(after);
        let skipped = usize::try_from(from + 1 - extent.floor).unwrap_or(usize::MAX);
        Ok(extent.page(verdict, take(record.events.iter().skip(skipped), max)))
    }

    pub(super) fn history(&self, key: &Key, before: Option<u64>, max: Max) -> Result<Page, JournalError> {
        let record = self.find(key)?;
        let below = |event: &&Arc<Event>| before.is_none_or(|before| event.cursor.seq < before);
        let mut events = take(record.events.iter().rev().filter(below), max);
        events.reverse();
        Ok(record.extent().page(CursorVerdict::Ok, events))
    }

    pub(super) fn retain(&mut self, key: &Key, keep: Keep, now: Timestamp) -> Result<Retained, JournalError> {
        let record = self.find_mut(key)?;
        let asked = record.open_asks().map(|ask| ask.opened.seq).min();
        let before = record.row.bytes;
        let mut trim = RetentionWalk::new(keep, record.row.head.seq, record.row.floor, before, asked);
        let mut removed = 0;
        while removed < RETAIN_STEP as u64
            && record.events.front().is_some_and(|event| trim.drops(event.at, event.weight()))
        {
            record.events.pop_front();
            removed += 1;
        }
        let floor = trim.floor();
        (record.row.floor, record.row.bytes) = (floor, trim.bytes());
        record.asks.retain(|_, ask| ask.settled.as_ref().is_none_or(|(_, at)| at.seq >= floor));
        record
            .client_ids
            .retain(|_, (cursor, at)| cursor.seq >= floor || now.duration_since(*at) < client_id_lifetime());
        self.bytes -= before - trim.bytes();
        let rest = if removed == RETAIN_STEP as u64 { Rest::More } else { Rest::Done };
        Ok(Retained { floor, removed, rest })
    }
}

impl SessionRecord {
    pub(super) fn extent(&self) -> Extent {
        let Cursor { epoch, seq } = self.row.head;
        Extent { epoch, head: seq, floor: self.row.floor, past: self.past.clone() }
    }

    /// Begins another epoch. Stored events keep their numbers and become part of it.
    fn begin(&mut self, journal: Epoch) {
        self.past.push((self.row.head.epoch, self.row.head.seq));
        let surplus = self.past.len().saturating_sub(PAST_EPOCHS_MAX);
        self.past.drain(..surplus);
        self.begin_as(journal.of_session(self.row.handle));
    }

    /// Gives everything that is stored another epoch.
    pub(super) fn begin_as(&mut self, epoch: Epoch) {
        if self.row.head.epoch == epoch {
            return;
        }
        self.row.head.epoch = epoch;
        for event in &mut self.events {
            Arc::make_mut(event).cursor.epoch = epoch;
        }
        for (cursor, _) in self.client_ids.values_mut() {
            cursor.epoch = epoch;
        }
        for record in self.asks.values_mut() {
            record.ask.opened.epoch = epoch;
            if let Some((_, at)) = &mut record.settled {
                at.epoch = epoch;
            }
        }
    }

    pub(super) fn open_asks(&self) -> impl Iterator<Item = &StoredRequest> {
        self.asks.values().filter(|ask| ask.settled.is_none()).map(|ask| &ask.ask)
    }

    pub(super) fn check_numbers(&self, more: usize) -> Result<(), JournalError> {
        if self.row.head.seq + more as u64 > SEQ_MAX {
            return Err(JournalError::new(ErrorKind::TooLarge, "The session has used up its numbers", ""));
        }
        Ok(())
    }

    /// Appends one event, unless its client id was seen.
    pub(super) fn put(&mut self, draft: &EventDraft, appended: &mut Vec<Arc<Event>>) -> Stored {
        if let Some((cursor, _)) = draft.client_id.as_ref().and_then(|id| self.client_ids.get(id)) {
            return Stored { cursor: *cursor, novelty: Novelty::Seen };
        }
        self.row.head.seq += 1;
        let cursor = self.row.head;
        let event = Arc::new(Event::of(draft, cursor));
        if let Some(id) = &draft.client_id {
            self.client_ids.insert(id.clone(), (cursor, event.at));
        }
        self.row.bytes += event.weight();
        self.row.active = self.row.active.max(event.at);
        self.row.host_offset = self.row.host_offset.max(draft.host_offset);
        self.events.push_back(Arc::clone(&event));
        appended.push(event);
        Stored { cursor, novelty: Novelty::New }
    }
}

/// Takes as many events as a page may have.
fn take<'a>(events: impl Iterator<Item = &'a Arc<Event>>, max: Max) -> Vec<Arc<Event>> {
    let mut room = PageRoom::new(max);
    events.take_while(|event| room.admits(event.body.len())).cloned().collect()
}

fn client_id_lifetime() -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(CLIENT_ID_KEPT).unwrap_or(jiff::SignedDuration::MAX)
}
