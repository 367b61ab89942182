//! Asks of a journal in memory.

use super::state::{KeptAsk, State};
use crate::journal::{
    Ask, AskId, Class, Draft, Fence, JournalError, Key, NewAsk, Novelty, Settle, Settled, Settlement, Stored,
};
use crate::limits::{LIST_MAX, OPEN_ASKS_MAX};

impl State {
    pub(super) fn ask(&mut self, key: &Key, fence: Fence, new: &NewAsk) -> Result<Stored, JournalError> {
        new.check()?;
        self.check_room(std::slice::from_ref(&new.event))?;
        let kept = self.fenced(key, fence)?;
        if let Some(open) = kept.asks.get(&new.id).filter(|ask| ask.settled.is_none()) {
            return Ok(Stored { cursor: open.ask.opened, novelty: Novelty::Seen });
        }
        if kept.open_asks().count() >= OPEN_ASKS_MAX {
            return Err(JournalError::too_large("The number of open asks", OPEN_ASKS_MAX));
        }
        kept.check_numbers(1)?;
        let mut told = Vec::new();
        let event = Draft { client_id: None, class: Class::Durable, ..new.event.clone() };
        let stored = kept.put(&event, &mut told);
        let ask = new.opened(key, stored.cursor);
        kept.asks.insert(new.id.clone(), KeptAsk { ask, settled: None });
        self.publish(key, &told);
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
        let kept = self.find_mut(key)?;
        let seen = settle.event.client_id.as_ref().and_then(|id| kept.client_ids.get(id)).map(|seen| seen.0);
        let ask = kept.asks.get(id).ok_or_else(|| id.unknown())?;
        if let Some((winner, at)) = ask.settled.clone() {
            return Ok(match seen {
                Some(cursor) if cursor == at => Settlement::Won(Stored { cursor, novelty: Novelty::Seen }),
                _ => Settlement::Lost { winner, at },
            });
        }
        if seen.is_some() {
            return Err(id.used_elsewhere());
        }
        kept.check_numbers(1)?;
        let mut told = Vec::new();
        let stored = kept.put(&Draft { class: Class::Durable, ..settle.event.clone() }, &mut told);
        let mut line = settle.audit.clone();
        if let Some(kept) = kept.asks.get_mut(id) {
            kept.settled = Some((settle.outcome.clone(), stored.cursor));
            line = line.map(|line| line.about(kept.ask.digest.clone(), kept.ask.opened_at));
        }
        if let Some(line) = &line {
            self.audit(line);
        }
        self.publish(key, &told);
        Ok(Settlement::Won(stored))
    }

    pub(super) fn outcome(&self, key: &Key, id: &AskId) -> Result<Option<Settled>, JournalError> {
        let ask = self.find(key)?.asks.get(id);
        Ok(ask.and_then(|ask| ask.settled.clone()).map(|(outcome, _)| outcome))
    }

    pub(super) fn open_ask(&self, key: &Key, id: &AskId) -> Result<Option<Ask>, JournalError> {
        let ask = self.find(key)?.asks.get(id).filter(|ask| ask.settled.is_none());
        Ok(ask.map(|kept| kept.ask.clone()))
    }

    pub(super) fn asks(&self, key: Option<&Key>) -> Result<Vec<Ask>, JournalError> {
        let mut asks: Vec<Ask> = match key {
            Some(key) => self.find(key)?.open_asks().cloned().collect(),
            None => self.kept.values().flat_map(|kept| kept.open_asks().cloned()).collect(),
        };
        asks.sort_by(|a, b| {
            (a.opened_at, &a.session, a.opened.seq).cmp(&(b.opened_at, &b.session, b.opened.seq))
        });
        asks.truncate(LIST_MAX);
        Ok(asks)
    }
}
