//! Sessions, projects and the audit log of a journal in memory.

use std::collections::{HashMap, VecDeque};
use std::ops::Bound;

use jiff::Timestamp;

use super::state::{SessionRecord, StoreState};
use crate::event::whole_micros;
use crate::limits::{CLI_SESSIONS_MAX, HANDLE_MAX, LIST_MAX, PROJECTS_MAX};
use crate::{
    AUDIT_START, AuditDraft, AuditEntry, Changed, ClientId, Commit, Cursor, Epoch, Fence, Handle,
    JournalError, Key, NewSession, Novelty, Project, ProjectFolder, Session, SessionChange, SessionCounts,
    SessionName, Stored,
};

impl StoreState {
    pub(super) fn create(&mut self, new: &NewSession) -> Result<(Session, Novelty), JournalError> {
        new.check()?;
        if let Some(made) = new.client_id.as_ref().and_then(|id| self.made_by(id)) {
            return Ok((made, Novelty::Seen));
        }
        if self.keys.contains_key(&new.key) {
            return Err(new.exists());
        }
        if self.handles >= HANDLE_MAX {
            return Err(JournalError::too_large("The number of sessions", HANDLE_MAX));
        }
        self.handles += 1;
        let handle = Handle::new(self.handles);
        let epoch = self.epoch.unwrap_or(Epoch::from_random(0)).of_session(handle);
        let row = Session::made(new, handle, Cursor::new(epoch, 0));
        let record = SessionRecord {
            row: row.clone(),
            fence: 0,
            past: Vec::new(),
            events: VecDeque::new(),
            client_ids: HashMap::new(),
            asks: HashMap::new(),
        };
        self.sessions.insert(handle, record);
        self.keys.insert(new.key.clone(), handle);
        if let Some(id) = &new.client_id {
            self.made_by.insert(id.clone(), handle);
        }
        Ok((row, Novelty::New))
    }

    pub(super) fn made_by(&self, id: &ClientId) -> Option<Session> {
        self.made_by.get(id).and_then(|handle| self.sessions.get(handle)).map(|record| record.row.clone())
    }

    pub(super) fn session(&self, name: &SessionName) -> Result<Session, JournalError> {
        match name {
            SessionName::Key(key) => self.find(key).map(|record| record.row.clone()),
            SessionName::Handle(handle) => {
                let record = self.sessions.get(handle).ok_or_else(|| JournalError::no_session(handle))?;
                Ok(record.row.clone())
            }
        }
    }

    pub(super) fn counts(&self) -> SessionCounts {
        let mut counts = SessionCounts::default();
        for record in self.sessions.values() {
            *counts.sessions.entry(record.row.state.clone()).or_default() += 1;
            counts.open_asks += record.open_asks().count() as u64;
        }
        counts
    }

    pub(super) fn sessions(&self, after: Option<Handle>, max: usize) -> Vec<Session> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.sessions.range((start, Bound::Unbounded)).map(|(_, record)| record.row.clone());
        rows.take(max.min(LIST_MAX)).collect()
    }

    pub(super) fn update(
        &mut self,
        key: &Key,
        fence: Fence,
        change: &SessionChange,
    ) -> Result<Changed, JournalError> {
        change.check()?;
        self.check_room(change.event.as_slice())?;
        let record = self.fenced(key, fence)?;
        record.check_numbers(1)?;
        let id = change.event.as_ref().and_then(|event| event.client_id.as_ref());
        if let Some((cursor, _)) = id.and_then(|id| record.client_ids.get(id)) {
            let event = Some(Stored { cursor: *cursor, novelty: Novelty::Seen });
            return Ok(Changed { session: record.row.clone(), event });
        }
        let newer = change.cli_session.as_ref().filter(|id| record.row.cli_sessions.last() != Some(*id));
        if newer.is_some() && record.row.cli_sessions.len() >= CLI_SESSIONS_MAX {
            return Err(JournalError::too_large("The number of CLI sessions", CLI_SESSIONS_MAX));
        }
        record.row.cli_sessions.extend(newer.cloned());
        change.apply(&mut record.row);
        let mut appended = Vec::new();
        let event = change.event.as_ref().map(|event| record.put(event, &mut appended));
        let session = record.row.clone();
        self.publish_events(key, &appended);
        Ok(Changed { session, event })
    }

    pub(super) fn delete(&mut self, key: &Key) -> Result<(), JournalError> {
        let handle = self.find(key)?.row.handle;
        self.keys.remove(key);
        self.made_by.retain(|_, made| *made != handle);
        if let Some(record) = self.sessions.remove(&handle) {
            self.forget_bytes(record.row.bytes);
        }
        for project in self.projects.values_mut() {
            project.session.take_if(|session| session == key);
        }
        self.publish(Commit::Deleted(key));
        Ok(())
    }

    pub(super) fn claim(&mut self, key: &Key) -> Result<Fence, JournalError> {
        let record = self.find_mut(key)?;
        record.fence += 1;
        Ok(Fence::new(record.fence))
    }

    pub(super) fn open_project(
        &mut self,
        folder: ProjectFolder,
        session: Option<Key>,
        at: Timestamp,
    ) -> Result<Project, JournalError> {
        session.as_ref().map_or(Ok(()), |key| self.find(key).map(drop))?;
        if let Some(project) = self.projects.get_mut(&folder) {
            project.session = session;
            return Ok(project.clone());
        }
        let (from, to) = folder.inside();
        let other = |path: &str| self.projects.keys().find(|other| other.as_str() == path);
        let around = folder.ancestors().find_map(other);
        let inside =
            || self.projects.keys().find(|other| (from.as_str()..to.as_str()).contains(&other.as_str()));
        if let Some(other) = around.or_else(inside) {
            return Err(folder.nested(other.as_str()));
        }
        if self.projects.len() >= PROJECTS_MAX {
            return Err(JournalError::too_large("The number of projects", PROJECTS_MAX));
        }
        let project = Project { folder: folder.clone(), session, opened: whole_micros(at) };
        self.projects.insert(folder, project.clone());
        Ok(project)
    }

    pub(super) fn close_project(&mut self, folder: &ProjectFolder) -> Result<(), JournalError> {
        self.projects.remove(folder).map(drop).ok_or_else(|| folder.unknown())
    }

    pub(super) fn projects(&self, after: Option<&ProjectFolder>) -> Vec<Project> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.projects.range::<ProjectFolder, _>((start, Bound::Unbounded));
        range.map(|(_, project)| project.clone()).take(LIST_MAX).collect()
    }

    pub(super) fn audit(&mut self, draft: &AuditDraft) -> AuditEntry {
        let before = self.audit.last().map_or(AUDIT_START, |entry| entry.hash.as_str());
        let entry = draft.chained(self.audit.len() as u64 + 1, before);
        self.audit.push(entry.clone());
        entry
    }

    pub(super) fn audit_log(&self, after: u64) -> Vec<AuditEntry> {
        let skipped = usize::try_from(after).unwrap_or(usize::MAX);
        self.audit.iter().skip(skipped).take(LIST_MAX).cloned().collect()
    }
}
