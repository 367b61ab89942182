//! The sessions of this server, for replication.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tidings_fleet::limits::{UNIT_BYTES_MAX, UNIT_EVENTS_MAX};
use tidings_fleet::{FleetCall, FleetError, SessionSource, SourcePage, UnitEvent};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Class, Cursor, CursorVerdict, Epoch, ErrorKind, Event, JournalError, Key, Max};
use tidings_sessions::Sessions;

use super::row::TravellingRow;

/// Deltas of one session that are kept for replication. They are in the journal too; reading them there moves
/// them into its tables, which costs more than publishing them.
const RECENT_EVENTS_MAX: usize = 256;

/// Sessions with such deltas.
const RECENT_SESSIONS_MAX: usize = 256;

/// Deltas that were committed just now, by session.
#[derive(Debug, Default)]
pub(super) struct RecentDeltas(Mutex<HashMap<Key, VecDeque<Arc<Event>>>>);

pub(super) struct OwnSessions {
    sessions: Sessions,
    recent: Arc<RecentDeltas>,
}

impl RecentDeltas {
    /// Notes committed events. Deltas can be published from here; everything else comes from the journal.
    pub(super) fn note(&self, key: &Key, events: &[Arc<Event>]) {
        let mut recent = self.0.lock();
        if events.iter().any(|event| event.class == Class::Durable) {
            recent.remove(key);
            return;
        }
        if recent.len() >= RECENT_SESSIONS_MAX && !recent.contains_key(key) {
            recent.clear();
        }
        let kept = recent.entry(key.clone()).or_default();
        kept.extend(events.iter().cloned());
        let surplus = kept.len().saturating_sub(RECENT_EVENTS_MAX);
        kept.drain(..surplus);
    }

    /// The deltas right after a position, if they are here.
    fn after(&self, key: &Key, after: Cursor) -> Option<SourcePage> {
        let mut recent = self.0.lock();
        let kept = recent.get_mut(key)?;
        while kept.front().is_some_and(|event| event.cursor.seq <= after.seq) {
            kept.pop_front();
        }
        let first = kept.front()?;
        if first.cursor != Cursor::new(after.epoch, after.seq + 1) {
            return None;
        }
        let page = SourcePage {
            epoch: after.epoch.number(),
            first: after.seq + 1,
            events: kept.iter().map(|event| unit_event(event)).collect(),
            ..SourcePage::default()
        };
        kept.clear();
        Some(page)
    }
}

impl OwnSessions {
    pub(super) fn new(sessions: Sessions, recent: Arc<RecentDeltas>) -> Self {
        OwnSessions { sessions, recent }
    }

    async fn page(&self, key: &Key, after: Option<Cursor>) -> Result<Option<SourcePage>, JournalError> {
        if let Some(page) = after.and_then(|after| self.recent.after(key, after)) {
            return Ok(Some(page));
        }
        let max = Max { events: UNIT_EVENTS_MAX, bytes: UNIT_BYTES_MAX };
        let resumed = match self.sessions.broadcast().journal().resume(key, after, max).await {
            Ok(resumed) => resumed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if resumed.session.node.is_some() {
            return Ok(None);
        }
        let (page, session) = (resumed.page, resumed.session);
        let restart = after.is_none() || page.verdict == CursorVerdict::Reset;
        let from = match (page.verdict, after) {
            (CursorVerdict::Ok, Some(after)) => after.seq,
            _ => page.floor - 1,
        };
        let last = page.events.last().map_or(from, |event| event.cursor.seq);
        let is_durable =
            page.events.is_empty() || page.events.iter().any(|event| event.class == Class::Durable);
        let row = (restart || is_durable).then(|| {
            let view = self.sessions.view(&session);
            let row = TravellingRow::new(view, session.state.clone(), session.created, &resumed.pending);
            Bytes::from(serde_json::to_vec(&row).unwrap_or_default())
        });
        Ok(Some(SourcePage {
            restart,
            epoch: page.head.epoch.number(),
            first: from + 1,
            past: resumed.past.iter().map(|(epoch, last)| (epoch.number(), *last)).collect(),
            events: page.events.iter().map(|event| unit_event(event)).collect(),
            row,
            more: last < page.head.seq,
        }))
    }
}

impl SessionSource for OwnSessions {
    fn sessions(&self) -> FleetCall<'_, Vec<String>> {
        Box::pin(async move {
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let rows = self
                    .sessions
                    .broadcast()
                    .journal()
                    .sessions(after, LIST_MAX)
                    .await
                    .map_err(|error| local(&error))?;
                let Some(last) = rows.last() else { return Ok(all) };
                after = Some(last.handle);
                all.extend(rows.iter().filter(|row| row.node.is_none()).map(|row| row.key.to_string()));
            }
        })
    }

    fn read<'a>(&'a self, session: &'a str, after: Option<(u64, u64)>) -> FleetCall<'a, Option<SourcePage>> {
        Box::pin(async move {
            let key = Key::new(session).map_err(|error| local(&error))?;
            let after = after.map(|(epoch, seq)| Cursor::new(Epoch::from_random(epoch), seq));
            self.page(&key, after).await.map_err(|error| local(&error))
        })
    }
}

fn unit_event(event: &Event) -> UnitEvent {
    UnitEvent {
        at_us: event.at.as_microsecond(),
        durable: event.class == Class::Durable,
        kind: event.kind.to_string(),
        client_id: event.client_id.as_ref().map(ToString::to_string),
        body: Bytes::from(event.body.to_vec()),
    }
}

pub(super) fn local(error: &JournalError) -> FleetError {
    FleetError::new(tidings_fleet::ErrorKind::Local, error.to_string(), error.hint())
}
