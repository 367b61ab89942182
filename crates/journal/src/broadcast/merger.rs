//! Merged deltas, made once for all subscribers of a session that ask for the same merging.
//!
//! A merger follows the tail. It has no task: the subscriber that looks first moves it forward for all, and
//! the others get the batches that it made. A subscriber whose cursor lies outside of them, since it is far
//! behind or came in the middle of one, merges by itself until it reaches the end of a batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidings_protocol::ui::UiMessage;
use tokio::time::Instant;

use super::tail::{Tail, TailLookup, memory};
use crate::limits::{MERGED_BATCHES_BYTES_MAX, MERGED_BYTES_MAX};
use crate::{Class, Event, EventForms, Max};

/// A rule that merges consecutive deltas of a text into one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Merging {
    /// The time within which deltas become one; without one, all up to the next other event.
    pub within: Option<Duration>,
    /// The kind of events that its subscribers do not see. They do not part deltas.
    pub hidden: &'static str,
}

impl Merging {
    pub(crate) fn hides(&self, event: &Event) -> bool {
        event.kind.as_str() == self.hidden
    }

    /// Begins to merge, if the event is a delta that can be merged.
    pub(crate) fn begin(&self, event: &Arc<Event>) -> Option<Run> {
        if event.class != Class::Delta {
            return None;
        }
        event.message().filter(|message| message.is_mergeable())?;
        let seq = event.cursor.seq;
        let until = self.within.map(|within| Instant::now() + within);
        Some(Run { first: seq, last: seq, delta: Arc::clone(event), merged: None, until })
    }
}

/// Consecutive deltas that become one event.
pub(crate) struct Run {
    first: u64,
    /// The last event that it covers: a delta, or a hidden event.
    last: u64,
    /// The last delta.
    delta: Arc<Event>,
    /// The text so far, if there is more than one delta.
    merged: Option<Box<UiMessage>>,
    /// The time at which it is complete; `None` if another event has to follow first.
    until: Option<Instant>,
}

impl Run {
    /// Takes the next event, unless that ends the run.
    pub(crate) fn take(&mut self, event: &Arc<Event>, merging: Merging) -> bool {
        if !merging.hides(event) {
            let next = event.message().filter(|next| event.class == Class::Delta && next.is_mergeable());
            let Some(next) = next else { return false };
            if !self.append(&next) {
                return false;
            }
            self.delta = Arc::clone(event);
        }
        self.last = event.cursor.seq;
        true
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    fn append(&mut self, next: &UiMessage) -> bool {
        if let Some(merged) = &mut self.merged {
            return merged.append(next, MERGED_BYTES_MAX);
        }
        let Some(mut merged) = self.delta.message().map(|first| Box::new(UiMessage::clone(&first))) else {
            return false;
        };
        let is_same = merged.append(next, MERGED_BYTES_MAX);
        self.merged = is_same.then_some(merged);
        is_same
    }

    /// The deltas as one event, with the cursor of the last of them.
    pub(crate) fn into_event(self) -> Arc<Event> {
        let Some(merged) = self.merged else { return self.delta };
        let body = serde_json::to_vec(&merged).unwrap_or_default().into();
        Arc::new(Event { body, forms: EventForms::of(*merged), ..Event::clone(&self.delta) })
    }
}

/// The merged deltas of one session.
pub(crate) struct Merger {
    pub(super) merging: Merging,
    state: Mutex<MergerState>,
}

#[derive(Default)]
struct MergerState {
    /// Oldest first. Events between them are not merged.
    batches: VecDeque<Batch>,
    bytes: usize,
    /// Deltas that are not complete.
    run: Option<Run>,
    /// The last event that was looked at.
    head: u64,
}

/// Merged deltas that are complete.
struct Batch {
    first: u64,
    last: u64,
    event: Arc<Event>,
}

/// The next events after a subscriber's cursor.
pub(crate) enum MergedLookup {
    /// Merged deltas; the subscriber then has all events up to this number.
    Batch(Arc<Event>, u64),
    /// Deltas that are complete at this time, or when another event follows.
    Open(Option<Instant>),
    /// Other events, up to this number: the subscriber takes them from its subscription.
    Apart(u64),
    /// Nothing that the merger has seen.
    None,
}

impl Merger {
    pub(super) fn new(merging: Merging) -> Self {
        Merger { merging, state: Mutex::default() }
    }

    /// Looks for what follows a number, after it has taken what is new in the tail.
    pub(crate) fn after(&self, tail: &Tail, seq: u64) -> MergedLookup {
        let mut state = self.state.lock();
        state.advance(tail, self.merging);
        // All deltas up to another event become one, also those of a subscriber that came in the middle.
        let apart = |last: u64| MergedLookup::Apart(self.merging.within.map_or(u64::MAX, |_| last));
        let next = state.batches.partition_point(|batch| batch.last <= seq);
        match (state.batches.get(next), &state.run) {
            (Some(batch), _) if batch.first == seq + 1 => {
                MergedLookup::Batch(Arc::clone(&batch.event), batch.last)
            }
            (Some(batch), _) if batch.first > seq + 1 => apart(batch.first - 1),
            (Some(batch), _) => apart(batch.last),
            (None, Some(run)) if run.first > seq + 1 => apart(run.first - 1),
            (None, Some(run)) => MergedLookup::Open(run.until),
            (None, None) if seq < state.head => apart(state.head),
            (None, None) => MergedLookup::None,
        }
    }
}

impl MergerState {
    /// Takes the events that the tail has and this does not.
    fn advance(&mut self, tail: &Tail, merging: Merging) {
        loop {
            match tail.after(self.head, Max::default()) {
                TailLookup::Events(events) => events.iter().for_each(|event| self.take(event, merging)),
                TailLookup::None => break,
                // No subscriber has looked for long.
                TailLookup::InJournal => *self = MergerState { head: tail.floor(), ..MergerState::default() },
            }
        }
        if self.run.as_ref().and_then(|run| run.until).is_some_and(|until| until <= Instant::now()) {
            self.complete();
        }
    }

    fn take(&mut self, event: &Arc<Event>, merging: Merging) {
        self.head = event.cursor.seq;
        if self.run.as_mut().is_some_and(|run| run.take(event, merging)) {
            return;
        }
        self.complete();
        self.run = merging.begin(event);
    }

    /// Ends the run, so that subscribers get it.
    fn complete(&mut self) {
        let Some(run) = self.run.take() else { return };
        let (first, last) = (run.first, run.last);
        let event = run.into_event();
        self.bytes += memory(&event);
        self.batches.push_back(Batch { first, last, event });
        while self.bytes > MERGED_BATCHES_BYTES_MAX && self.batches.len() > 1 {
            let Some(oldest) = self.batches.pop_front() else { break };
            self.bytes -= memory(&oldest.event);
        }
    }
}
