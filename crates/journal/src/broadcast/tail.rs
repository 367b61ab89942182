//! The newest events of one session, shared by all its subscribers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tidings_protocol::ui::{Durability, UiMessage};
use tokio::sync::watch;

use super::merger::{Merger, Merging};
use crate::limits::{LONG_EVENT_BYTES, MERGER_BYTES_BEHIND, TAIL_EVENT_BYTES, TAIL_EVENTS_MAX};
use crate::{Cursor, Event, Max, PageRoom};

pub(crate) struct Tail {
    newest: Mutex<NewestEvents>,
    /// Long events that subscribers have read from the journal, as long as one of them holds them.
    long: Mutex<HashMap<u64, LongEvent>>,
    /// Held while one subscriber reads the journal: otherwise many that read the same long event at once
    /// would each hold a copy.
    reading: tokio::sync::Mutex<()>,
    /// Progress of the session, for subscribers that wait.
    progress: watch::Sender<TailProgress>,
    /// The mergers of its subscribers.
    mergers: Mutex<Vec<Weak<Merger>>>,
    /// The weight of all events when a merger had something to do last, for subscribers that wait for it.
    merge_due: watch::Sender<u64>,
}

/// A long event that a subscriber holds, or of which a connection still writes the body.
struct LongEvent {
    event: Weak<Event>,
    body: Weak<[u8]>,
    /// The event without its body.
    rest: Event,
}

impl LongEvent {
    fn new(event: &Arc<Event>) -> Self {
        let rest = Event { body: Arc::default(), ..Event::clone(event) };
        LongEvent { event: Arc::downgrade(event), body: Arc::downgrade(&event.body), rest }
    }

    fn is_held(&self) -> bool {
        self.body.strong_count() > 0
    }

    /// The event, if its body is held.
    fn get(&mut self) -> Option<Arc<Event>> {
        if let Some(event) = self.event.upgrade() {
            return Some(event);
        }
        let event = Arc::new(Event { body: self.body.upgrade()?, ..self.rest.clone() });
        self.event = Arc::downgrade(&event);
        Some(event)
    }
}

/// Progress of a session since its tail exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TailProgress {
    /// The number of the newest event; 0 if there was none yet.
    pub(crate) head: u64,
    /// The weight of all events.
    pub(crate) bytes: u64,
    /// The weight of the longest event, if it is a long one.
    pub(crate) longest: u64,
    /// True after the session was deleted.
    pub(crate) ended: bool,
    /// True after its events became void.
    pub(crate) restarted: bool,
}

/// Result of looking for the events after a position in the tail.
#[derive(Debug)]
pub(crate) enum TailLookup {
    /// The events.
    Events(Vec<Arc<Event>>),
    /// They are older than the tail; the journal has them.
    InJournal,
    /// There are none yet.
    None,
}

#[derive(Default)]
struct NewestEvents {
    /// Consecutive numbers.
    events: VecDeque<Arc<Event>>,
    /// The memory that they take.
    bytes: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Tail {
            newest: Mutex::default(),
            long: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            progress: watch::Sender::new(TailProgress::default()),
            mergers: Mutex::default(),
            merge_due: watch::Sender::new(0),
        }
    }
}

impl Tail {
    /// Adds committed events, and keeps the newest ones that fit. Commits arrive in order; events missing
    /// between two commits are in the journal.
    pub(crate) fn push(&self, events: &[Arc<Event>], bytes_max: usize) {
        let Some(head) = events.last().map(|event| event.cursor.seq) else { return };
        let weight: u64 = events.iter().map(|event| event.weight()).sum();
        let long = events.iter().filter(|event| event.body.len() >= LONG_EVENT_BYTES);
        let longest = long.map(|event| event.weight()).max().unwrap_or_default();
        self.newest.lock().push(events, bytes_max);
        self.progress.send_modify(|progress| {
            progress.head = head;
            progress.bytes += weight;
            progress.longest = progress.longest.max(longest);
        });
        let bytes = self.progress.borrow().bytes;
        let ends_deltas = events.iter().any(|event| !may_be_merged(event));
        self.merge_due.send_if_modified(|before| {
            let is_due = ends_deltas || bytes - *before >= MERGER_BYTES_BEHIND;
            *before = if is_due { bytes } else { *before };
            is_due
        });
    }

    /// Returns the copy of a long event that other subscribers hold: otherwise each would hold its own while
    /// its client does not read.
    pub(crate) fn share(&self, event: Arc<Event>) -> Arc<Event> {
        if event.body.len() < LONG_EVENT_BYTES {
            return event;
        }
        let mut long = self.long.lock();
        let known = long.get_mut(&event.cursor.seq).and_then(LongEvent::get);
        if let Some(known) = known.filter(|known| known.cursor == event.cursor) {
            return known;
        }
        long.retain(|_, event| event.is_held());
        long.insert(event.cursor.seq, LongEvent::new(&event));
        event
    }

    /// The long event with this cursor, if another subscriber has it.
    pub(crate) fn long_at(&self, cursor: Cursor) -> Option<Arc<Event>> {
        let mut long = self.long.lock();
        long.get_mut(&cursor.seq).and_then(LongEvent::get).filter(|event| event.cursor == cursor)
    }

    /// Waits until no other subscriber of the session reads the journal.
    pub(crate) async fn lock_reading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.reading.lock().await
    }

    pub(crate) fn end(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
        self.merge_due.send_modify(|_| ());
    }

    pub(crate) fn restart(&self) {
        self.progress.send_modify(|progress| progress.restarted = true);
        self.merge_due.send_modify(|_| ());
    }

    pub(crate) fn progress(&self) -> watch::Receiver<TailProgress> {
        self.progress.subscribe()
    }

    /// Changes when subscribers that wait for a merger have to look again.
    pub(crate) fn merge_due(&self) -> watch::Receiver<u64> {
        self.merge_due.subscribe()
    }

    /// The merger of all subscribers that merge by this rule.
    pub(crate) fn merger(&self, merging: Merging) -> Arc<Merger> {
        let mut mergers = self.mergers.lock();
        mergers.retain(|merger| merger.strong_count() > 0);
        let known = mergers.iter().filter_map(Weak::upgrade).find(|merger| merger.merging == merging);
        known.unwrap_or_else(|| {
            let merger = Arc::new(Merger::new(merging));
            mergers.push(Arc::downgrade(&merger));
            merger
        })
    }

    /// The number after which it has all events.
    pub(super) fn floor(&self) -> u64 {
        let newest = self.newest.lock();
        newest.events.front().map_or_else(|| self.progress.borrow().head, |first| first.cursor.seq - 1)
    }

    /// Returns some events after a number.
    pub(crate) fn after(&self, seq: u64, max: Max) -> TailLookup {
        let newest = self.newest.lock();
        let (Some(first), Some(last)) = (newest.events.front(), newest.events.back()) else {
            // An event that is longer than the whole tail is in the journal only.
            return if seq < self.progress.borrow().head { TailLookup::InJournal } else { TailLookup::None };
        };
        if seq >= last.cursor.seq {
            return TailLookup::None;
        }
        let Some(skipped) = (seq + 1).checked_sub(first.cursor.seq) else { return TailLookup::InJournal };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let mut room = PageRoom::new(max);
        let admitted = newest.events.iter().skip(skipped).take_while(|event| room.admits(event.body.len()));
        TailLookup::Events(admitted.cloned().collect())
    }
}

impl NewestEvents {
    fn push(&mut self, events: &[Arc<Event>], bytes_max: usize) {
        for event in events {
            let follows = self.events.back().is_none_or(|last| last.cursor.seq + 1 == event.cursor.seq);
            if !follows {
                self.events.clear();
                self.bytes = 0;
            }
            self.bytes += memory(event);
            self.events.push_back(Arc::clone(event));
            while self.is_over(bytes_max) {
                let Some(oldest) = self.events.pop_front() else { break };
                self.bytes -= memory(&oldest);
            }
        }
    }

    /// True if the oldest event must go. The newest one stays unless it is long, so that subscribers who have
    /// all others take it from here.
    fn is_over(&self, bytes_max: usize) -> bool {
        let is_last = self.events.len() == 1;
        let is_long = self.events.front().is_some_and(|event| event.body.len() >= LONG_EVENT_BYTES);
        let is_over = self.bytes > bytes_max || self.events.len() > TAIL_EVENTS_MAX;
        is_over && (!is_last || is_long)
    }
}

/// True if the event may be merged with the one before, judged by its kind alone.
fn may_be_merged(event: &Event) -> bool {
    UiMessage::facts_of(event.kind.as_str())
        .is_some_and(|facts| facts.durability == Durability::MergeableDelta)
}

/// The memory that an event takes, with the forms that subscribers share.
pub(super) fn memory(event: &Event) -> usize {
    2 * event.body.len() + TAIL_EVENT_BYTES
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::limits::TAIL_BYTES_MAX;
    use crate::{Class, Epoch, EventDraft, Kind};

    fn read(bytes: usize, seq: u64) -> Arc<Event> {
        let kind = Kind::new("Display").unwrap();
        let draft = EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, kind, vec![b'x'; bytes]);
        Arc::new(Event::of(&draft, Cursor::new(Epoch::from_random(1), seq)))
    }

    /// It was seen only when the next event came.
    #[test]
    fn k6_an_event_that_is_too_long_to_be_kept_is_looked_for_in_the_journal() {
        let tail = Tail::default();
        let max = Max::default();
        assert!(matches!(tail.after(0, max), TailLookup::None));
        tail.push(&[read(TAIL_BYTES_MAX + 1, 1)], TAIL_BYTES_MAX);
        assert!(matches!(tail.after(0, max), TailLookup::InJournal));
        assert!(matches!(tail.after(1, max), TailLookup::None));
    }

    #[test]
    fn k31_a_tail_takes_the_memory_that_it_may_and_keeps_the_newest_event() {
        let tail = Tail::default();
        for seq in 1..=1000 {
            tail.push(&[read(100, seq)], 64 << 10);
        }
        let kept = |tail: &Tail| tail.newest.lock().events.len();
        assert_eq!(kept(&tail), (64 << 10) / (2 * 100 + TAIL_EVENT_BYTES));
        tail.push(&[read(LONG_EVENT_BYTES - 1, 1001)], 32 << 10);
        assert_eq!(kept(&tail), 1, "not long enough to be read from the journal by each subscriber");
        assert!(matches!(tail.after(999, Max::default()), TailLookup::InJournal));
    }

    #[test]
    fn k6_a_long_event_from_the_journal_is_held_once() {
        let tail = Tail::default();
        let long = tail.share(read(LONG_EVENT_BYTES, 1));
        assert!(Arc::ptr_eq(&long, &tail.share(read(LONG_EVENT_BYTES, 1))), "both have the same");
        assert!(!Arc::ptr_eq(&long, &tail.share(read(LONG_EVENT_BYTES, 2))));
        assert!(
            tail.long_at(long.cursor).is_some_and(|found| Arc::ptr_eq(&found, &long)),
            "no other reads it"
        );
        assert_eq!(
            tail.long_at(Cursor::new(Epoch::from_random(2), 1)),
            None,
            "another journal has another event"
        );
        // A connection that writes it holds only its body.
        let body = Arc::clone(&long.body);
        drop(long);
        let again = tail.share(read(LONG_EVENT_BYTES, 1));
        assert!(Arc::ptr_eq(&again.body, &body), "the body is not read twice");
        assert_eq!(*again, *read(LONG_EVENT_BYTES, 1));
        drop((again, body));
        assert_eq!(
            Arc::strong_count(&tail.share(read(LONG_EVENT_BYTES, 1))),
            1,
            "the broadcast itself holds none"
        );
    }
}
