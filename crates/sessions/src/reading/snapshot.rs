//! Snapshots of running sessions.

use std::sync::Arc;

use tidings_agent::UiMessage;
use tidings_api::{Code, Snapshot, Subscribed};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::snapshot::{ConversationSnapshot, SnapshotBudget, take_snapshot};
use tidings_journal::{Event, Key, Max};

use crate::limits::{SNAPSHOT_READ_BYTES_MAX, SNAPSHOT_RESULT_BYTES_MAX};
use crate::running::frames::FRAME;
use crate::{Error, Sessions};

impl Sessions {
    /// Returns the end of a conversation as a snapshot. Subscribing after its cursor neither misses nor
    /// repeats events.
    pub async fn snapshot(&self, name: &str, events_max: usize, bytes_max: usize) -> Result<Snapshot, Error> {
        let key = self.row(name).await?.key;
        let watch = SubscribeOptions { may_answer: false, ..SubscribeOptions::default() };
        let (subscribed, events) = self.subscribe(key.as_str(), watch).await?;
        // The open requests, the state and the head are of one moment; the events up to the head are read
        // now.
        drop(events);
        let Subscribed { pending_permissions, pending_questions, state: session, .. } = subscribed;
        // The events stay in memory until the snapshot is built, so only a few are built at a time.
        let permit = Arc::clone(&self.0.snapshots).acquire_owned().await.map_err(lost)?;
        let read = self.newest(&key, session.head).await?;
        let is_all = read.first().is_none_or(|event| event.cursor.seq <= session.floor);
        let budget = SnapshotBudget { events_max, bytes_max, result_bytes_max: SNAPSHOT_RESULT_BYTES_MAX };
        // It takes a while for a long conversation, and must not block the runtime.
        let work = move || {
            // The permit is released when the work is done, also if the caller is gone.
            let _permit = permit;
            build(&read, budget)
        };
        let (snapshot, times) = tokio::task::spawn_blocking(work).await.map_err(lost)?;
        let with_times = snapshot.events.iter().zip(times);
        let (events, times) =
            with_times.filter_map(|((_, event), at)| Some((serde_json::to_value(event).ok()?, at))).unzip();
        Ok(Snapshot {
            cursor: subscribed.head,
            from: snapshot.from,
            more: snapshot.more || !is_all,
            events,
            times,
            session,
            pending_permissions,
            pending_questions,
        })
    }

    /// The newest events up to a number, within the limit of one snapshot.
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

/// The snapshot, and the times of its events.
fn build(events: &[Arc<Event>], budget: SnapshotBudget) -> (ConversationSnapshot, Vec<String>) {
    let shown = events.iter().filter(|event| event.kind.as_str() != FRAME);
    let messages = shown.filter_map(|event| {
        let message: UiMessage = serde_json::from_slice(&event.body).ok()?;
        Some((event.cursor.seq, message))
    });
    let snapshot = take_snapshot(messages, budget);
    let time = |(seq, _): &(u64, UiMessage)| {
        let found = events.binary_search_by_key(seq, |event| event.cursor.seq).ok();
        found.and_then(|index| events.get(index)).map_or_else(String::new, |event| format!("{:.3}", event.at))
    };
    let times = snapshot.events.iter().map(time).collect();
    (snapshot, times)
}

fn lost(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("Failed to build a snapshot: {error}"), "")
}
