//! Asks of a journal in memory.

use tidings_protocol::ui::{PermissionResolved, UiMessage};

use super::state::{RequestRecord, SessionRecord, StoreState};
use crate::limits::{LIST_MAX, OPEN_ASKS_MAX};
use crate::{
    AskId, Class, EventDraft, Fence, JournalError, Key, NewRequest, Novelty, Settle, Settled, Settlement,
    Stored, StoredRequest,
};

impl StoreState {
    pub(super) fn ask(&mut self, key: &Key, fence: Fence, new: &NewRequest) -> Result<Stored, JournalError> {
        new.check()?;
        self.check_room(std::slice::from_ref(&new.event))?;
        let record = self.fenced(key, fence)?;
        if let Some(open) = record.asks.get(&new.id).filter(|ask| ask.settled.is_none()) {
            return Ok(Stored { cursor: open.ask.opened, novelty: Novelty::Seen });
        }
        if record.open_asks().count() >= OPEN_ASKS_MAX {
            return Err(JournalError::too_large("The number of open asks", OPEN_ASKS_MAX));
        }
        record.check_numbers(1)?;
        let mut appended = Vec::new();
        let event = EventDraft { client_id: None, class: Class::Durable, ..new.event.clone() };
        let stored = record.put(&event, &mut appended);
        let ask = new.opened(key, stored.cursor);
        record.asks.insert(new.id.clone(), RequestRecord { ask, settled: None });
        self.publish_events(key, &appended);
        Ok(stored)
    }

    pub(super) fn settle(
        &mut self,
        key: &Key,
        id: &AskId,
        settle: &Settle,
    ) -> Result<Settlement, JournalError> {
        settle.check()?;
        self.check_room(std::slice::from_ref(&settle.event))?;
        let record = self.find_mut(key)?;
        let seen =
            settle.event.client_id.as_ref().and_then(|id| record.client_ids.get(id)).map(|seen| seen.0);
        let ask = record.asks.get(id).ok_or_else(|| id.unknown())?;
        if let Some((winner, at)) = ask.settled.clone() {
            return Ok(match seen {
                Some(cursor) if cursor == at => Settlement::Won(Stored { cursor, novelty: Novelty::Seen }),
                _ => Settlement::Lost { winner, at },
            });
        }
        if seen.is_some() {
            return Err(id.used_elsewhere());
        }
        record.check_numbers(1)?;
        let mut appended = Vec::new();
        let stored = record.put(&EventDraft { class: Class::Durable, ..settle.event.clone() }, &mut appended);
        let mut line = settle.audit.clone();
        if let Some(record) = record.asks.get_mut(id) {
            record.settled = Some((settle.outcome.clone(), stored.cursor));
            line = line.map(|line| line.about(record.ask.digest.clone(), record.ask.opened_at));
        }
        if let Some(line) = &line {
            self.audit(line);
        }
        self.publish_events(key, &appended);
        Ok(Settlement::Won(stored))
    }

    pub(super) fn outcome(&self, key: &Key, id: &AskId) -> Result<Option<Settled>, JournalError> {
        let ask = self.find(key)?.asks.get(id);
        Ok(ask.and_then(|ask| ask.settled.clone()).map(|(outcome, _)| outcome))
    }

    pub(super) fn open_ask(&self, key: &Key, id: &AskId) -> Result<Option<StoredRequest>, JournalError> {
        let ask = self.find(key)?.asks.get(id).filter(|ask| ask.settled.is_none());
        Ok(ask.map(|record| record.ask.clone()))
    }

    pub(super) fn known_ask(&self, key: &Key, id: &AskId) -> Result<Option<StoredRequest>, JournalError> {
        Ok(self.find(key)?.asks.get(id).map(|record| record.ask.clone()))
    }

    pub(super) fn changed_inputs(&self, cli_session: Option<&str>) -> Vec<PermissionResolved> {
        let uses = |record: &&SessionRecord| {
            cli_session.is_none_or(|wanted| record.row.cli_sessions.iter().any(|id| id == wanted))
        };
        let events = self.sessions.values().filter(uses).flat_map(|record| &record.events);
        let answers = events.filter_map(|event| match event.message().as_deref() {
            Some(UiMessage::PermissionResolved(resolved)) => Some(resolved.clone()),
            _ => None,
        });
        answers.filter(|resolved| resolved.updated_input.is_some()).collect()
    }

    pub(super) fn asks(&self, key: Option<&Key>) -> Result<Vec<StoredRequest>, JournalError> {
        let mut asks: Vec<StoredRequest> = match key {
            Some(key) => self.find(key)?.open_asks().cloned().collect(),
            None => self.sessions.values().flat_map(|record| record.open_asks().cloned()).collect(),
        };
        asks.sort_by(|a, b| {
            (a.opened_at, &a.session, a.opened.seq).cmp(&(b.opened_at, &b.session, b.opened.seq))
        });
        asks.truncate(LIST_MAX);
        Ok(asks)
    }
}
