//! A conversation in few events, for those who were not there.

use std::sync::Arc;

use tidings_agent::UiMessage;
use tidings_protocol::api::{Snapshot, Subscribed};

use super::Sessions;
use super::frames::FRAME;
use crate::broadcast::Watch;
use crate::error::{Code, Error};
use crate::journal::{Event, Key, Max};
use crate::limits::{SNAPSHOT_READ_BYTES_MAX, SNAPSHOT_RESULT_BYTES_MAX};
use crate::snapshot::{Budget, Compacted, compact};

impl Sessions {
    /// The end of a conversation, put together. Whoever subscribes after its cursor misses nothing and gets nothing twice.
    pub async fn snapshot(&self, name: &str, events_max: usize, bytes_max: usize) -> Result<Snapshot, Error> {
        let key = self.row(name).await?.key;
        let watch = Watch { may_answer: false, ..Watch::default() };
        let (told, events) = self.subscribe(key.as_str(), watch).await?;
        // What waits, how the session stands and where it ends are of one moment; the events up to there are read now.
        drop(events);
        let Subscribed { pending_permissions, pending_questions, state: session, .. } = told;
        // What is read for one is in memory until it is put together, so they are made a few at a time.
        let place = Arc::clone(&self.0.snapshots).acquire_owned().await.map_err(lost)?;
        let read = self.newest(&key, session.head).await?;
        let is_all = read.first().is_none_or(|event| event.cursor.seq <= session.floor);
        let budget = Budget { events_max, bytes_max, result_bytes_max: SNAPSHOT_RESULT_BYTES_MAX };
        // It takes a while for a long conversation, and those who watch others do not wait for it.
        let work = move || {
            // The place is left when the work is done, also if whoever wanted it is gone.
            let _place = place;
            put_together(&read, budget)
        };
        let compacted = tokio::task::spawn_blocking(work).await.map_err(lost)?;
        let events = compacted.events.iter().filter_map(|(_, event)| serde_json::to_value(event).ok());
        Ok(Snapshot {
            cursor: told.head,
            from: compacted.from,
            more: compacted.more || !is_all,
            events: events.collect(),
            session,
            pending_permissions,
            pending_questions,
        })
    }

    /// The newest events up to a number, as many as may be looked at for one snapshot.
    async fn newest(&self, key: &Key, head: u64) -> Result<Vec<Arc<Event>>, Error> {
        let mut pages = Vec::new();
        let (mut before, mut bytes) = (head.saturating_add(1), 0);
        while before > 1 && bytes < SNAPSHOT_READ_BYTES_MAX {
            let page = self.broadcast().journal().history(key, Some(before), Max::default()).await?;
            let Some(first) = page.events.first() else { break };
            before = first.cursor.seq;
            bytes += page.events.iter().map(|event| event.body.len()).sum::<usize>();
            pages.push(page.events);
        }
        Ok(pages.into_iter().rev().flatten().collect())
    }
}

fn put_together(events: &[Arc<Event>], budget: Budget) -> Compacted {
    let shown = events.iter().filter(|event| event.kind.as_str() != FRAME);
    let messages = shown.filter_map(|event| {
        let message: UiMessage = serde_json::from_slice(&event.body).ok()?;
        Some((event.cursor.seq, message))
    });
    compact(messages, budget)
}

fn lost(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("A snapshot could not be made: {error}"), "")
}
