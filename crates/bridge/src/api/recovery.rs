//! Recovery of the phone dialect: the state of its translator at a cursor, computed from the journal.
//!
//! The dialects `native`, `ui` and `frames` translate each event without state, so a cursor is enough for
//! them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tidings_api::SessionView;
use tidings_journal::{Cursor, CursorVerdict, Event, Journal, JournalError, Key, Max};
use tidings_protocol::mobile::MobileMessage;

use super::mobile::{MessagePosition, MobileTranslator};
use crate::limits::{RECOVERY_CHECKPOINTS_MAX, RECOVERY_PART_BYTES, RECOVERY_PART_EVENTS};

/// Events that are read from the journal at once.
const PART: Max = Max { events: RECOVERY_PART_EVENTS, bytes: RECOVERY_PART_BYTES };

/// Computes translator states from a journal, and keeps the newest of them to continue from.
pub(crate) struct Recovery {
    journal: Arc<dyn Journal>,
    checkpoints: Mutex<VecDeque<Checkpoint>>,
}

/// The translator of a session after an event.
#[derive(Clone)]
struct Checkpoint {
    key: Key,
    cursor: Cursor,
    /// The time of the event, in milliseconds since the epoch.
    at_ms: i64,
    translator: Arc<MobileTranslator>,
}

/// A position in the phone dialect, to continue from.
pub(crate) struct Start {
    /// The events that follow come after this cursor.
    pub(crate) cursor: Cursor,
    /// The translator after the event at `cursor`.
    pub(crate) translator: MobileTranslator,
    /// Messages of the event at `cursor` that the client does not have yet.
    pub(crate) rest: Vec<(MessagePosition, MobileMessage)>,
}

impl Recovery {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Recovery { journal, checkpoints: Mutex::default() }
    }

    /// The position after all messages of the event at a cursor of the current epoch.
    pub(crate) async fn after(&self, session: &SessionView, cursor: Cursor) -> Result<Start, JournalError> {
        let is_before = |checkpoint: &Checkpoint| checkpoint.cursor.seq <= cursor.seq;
        let (cursor, translator) =
            self.fold(session, cursor, is_before, |event| event.cursor.seq > cursor.seq).await?;
        Ok(Start { cursor, translator, rest: Vec::new() })
    }

    /// The position after a message.
    pub(crate) async fn after_message(
        &self,
        session: &SessionView,
        position: MessagePosition,
    ) -> Result<Start, JournalError> {
        let before = Cursor::new(position.cursor.epoch, position.cursor.seq.saturating_sub(1));
        let mut start = self.after(session, before).await?;
        let key = Key::new(&session.key)?;
        let one = Max { events: 1, bytes: RECOVERY_PART_BYTES };
        let page = self.journal.read(&key, Some(before), one).await?;
        if let Some(event) = page.events.first().filter(|event| event.cursor.seq == position.cursor.seq) {
            start.translator.translate(event, &mut start.rest);
            start.rest.drain(..start.rest.len().min(position.number.saturating_add(1)));
        }
        start.cursor = position.cursor;
        Ok(start)
    }

    /// The position before the first event at or after a time, or after the message of that time with this
    /// id. Requests have the id of their tool call.
    pub(crate) async fn after_time(
        &self,
        session: &SessionView,
        head: Cursor,
        (at_ms, id): (i64, &str),
    ) -> Result<Start, JournalError> {
        let is_before = |checkpoint: &Checkpoint| checkpoint.at_ms < at_ms;
        let (cursor, translator) =
            self.fold(session, head, is_before, |event| event.at.as_millisecond() >= at_ms).await?;
        let start = Start { cursor, translator, rest: Vec::new() };
        let (mut cursor, mut translator) = (start.cursor, start.translator.clone());
        let key = Key::new(&session.key)?;
        loop {
            let page = self.journal.read(&key, Some(cursor), PART).await?;
            if page.events.is_empty() || page.verdict != CursorVerdict::Ok {
                return Ok(start);
            }
            for event in &page.events {
                if event.at.as_millisecond() > at_ms {
                    return Ok(start);
                }
                cursor = event.cursor;
                let mut messages = Vec::new();
                translator.translate(event, &mut messages);
                if let Some(known) =
                    messages.iter().position(|(_, message)| message.id.as_deref() == Some(id))
                {
                    messages.drain(..=known);
                    return Ok(Start { cursor, translator, rest: messages });
                }
            }
        }
    }

    /// Calls `visit` with each event after a cursor, up to a number.
    pub(crate) async fn each_event(
        &self,
        session: &SessionView,
        after: Cursor,
        head: u64,
        mut visit: impl FnMut(&Event),
    ) -> Result<(), JournalError> {
        let key = Key::new(&session.key)?;
        let mut cursor = after;
        while cursor.seq < head {
            let page = self.journal.read(&key, Some(cursor), PART).await?;
            let Some(last) = page.events.last() else { break };
            cursor = last.cursor;
            page.events.iter().take_while(|event| event.cursor.seq <= head).for_each(|event| visit(event));
        }
        Ok(())
    }

    /// Folds events until one of them is past the position, and gives the last cursor before it.
    async fn fold(
        &self,
        session: &SessionView,
        current: Cursor,
        is_before: impl Fn(&Checkpoint) -> bool,
        is_past: impl Fn(&Event) -> bool,
    ) -> Result<(Cursor, MobileTranslator), JournalError> {
        let key = Key::new(&session.key)?;
        let known = self.nearest(&key, current, is_before);
        let mut at_ms = known.as_ref().map_or(i64::MIN, |known| known.at_ms);
        let mut cursor = known.as_ref().map(|known| known.cursor);
        let mut translator = known.map(|known| (*known.translator).clone()).unwrap_or_default();
        'all: loop {
            let page = self.journal.read(&key, cursor, PART).await?;
            if page.verdict != CursorVerdict::Ok || (cursor.is_none() && page.floor > 1) {
                translator = MobileTranslator::at_floor(session);
                cursor = Some(Cursor::new(page.head.epoch, page.floor - 1));
            }
            for event in &page.events {
                if is_past(event) {
                    break 'all;
                }
                translator.translate(event, &mut Vec::new());
                (cursor, at_ms) = (Some(event.cursor), event.at.as_millisecond());
            }
            if page.events.is_empty() {
                break;
            }
        }
        let cursor = cursor.unwrap_or(Cursor::new(current.epoch, 0));
        self.keep(Checkpoint { key, cursor, at_ms, translator: Arc::new(translator.clone()) });
        Ok((cursor, translator))
    }

    fn nearest(
        &self,
        key: &Key,
        current: Cursor,
        is_before: impl Fn(&Checkpoint) -> bool,
    ) -> Option<Checkpoint> {
        let checkpoints = self.checkpoints.lock();
        let usable = checkpoints.iter().filter(|checkpoint| {
            checkpoint.key == *key && checkpoint.cursor.epoch == current.epoch && is_before(checkpoint)
        });
        usable.max_by_key(|checkpoint| checkpoint.cursor.seq).cloned()
    }

    fn keep(&self, checkpoint: Checkpoint) {
        let mut checkpoints = self.checkpoints.lock();
        checkpoints.retain(|known| known.key != checkpoint.key || known.cursor != checkpoint.cursor);
        if checkpoints.len() >= RECOVERY_CHECKPOINTS_MAX {
            checkpoints.pop_front();
        }
        checkpoints.push_back(checkpoint);
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recovery").field("journal", &self.journal).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
