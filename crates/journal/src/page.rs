//! Pages of events, and the verdict on a reader's cursor.

use std::sync::Arc;

use super::{Cursor, Epoch, Event, Session, StoredRequest};
use crate::limits::{PAGE_BYTES_MAX, PAGE_EVENTS_MAX};

/// Verdict on a reader's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorVerdict {
    /// The events follow the cursor without a gap.
    Ok,
    /// Events between the cursor and the floor were removed; what follows starts at the floor.
    Gap,
    /// The cursor is from another epoch or another session; the events start at the floor, and the reader's
    /// own events may never have happened.
    Reset,
}

/// Limits of a page that a reader requests. The journal's own limits apply in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Max {
    /// Events.
    pub events: usize,
    /// Bytes of their bodies. The first event is returned even if it is longer.
    pub bytes: usize,
}

impl Default for Max {
    fn default() -> Self {
        Max { events: PAGE_EVENTS_MAX, bytes: PAGE_BYTES_MAX }
    }
}

impl Max {
    /// This number of events, and as many bytes as a page may have.
    pub fn events(events: usize) -> Self {
        Max { events, ..Max::default() }
    }

    /// Never zero events, so that a reader always makes progress; never more than a page.
    pub(crate) fn bounded(self) -> Self {
        Max { events: self.events.clamp(1, PAGE_EVENTS_MAX), bytes: self.bytes.min(PAGE_BYTES_MAX) }
    }
}

/// The room that is left in a page; the same rule for every engine.
#[derive(Debug)]
pub(crate) struct PageRoom {
    max: Max,
    taken: Max,
}

impl PageRoom {
    pub(crate) fn new(max: Max) -> Self {
        PageRoom { max: max.bounded(), taken: Max { events: 0, bytes: 0 } }
    }

    /// Takes room for an event with such a body; if it returns false, the page is complete.
    pub(crate) fn admits(&mut self, body_bytes: usize) -> bool {
        let bytes = self.taken.bytes.saturating_add(body_bytes);
        let fits = self.taken.events < self.max.events && bytes <= self.max.bytes;
        let admitted = fits || self.taken.events == 0;
        self.taken = Max { events: self.taken.events + 1, bytes };
        admitted
    }
}

/// A range of a session's events, and its position in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The verdict on the reader's cursor.
    pub verdict: CursorVerdict,
    /// Events without a hole between them, the oldest first.
    pub events: Vec<Arc<Event>>,
    /// The newest event of the session, at the time of reading.
    pub head: Cursor,
    /// The number of the oldest event that is kept; one above the head if none is.
    pub floor: u64,
}

/// Everything that a subscriber starts with, from one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The verdict and the first events.
    pub page: Page,
    /// Open asks.
    pub pending: Vec<StoredRequest>,
    /// The session, with its state.
    pub session: Session,
    /// Epochs that ended, each with its last surviving number.
    pub past: Vec<(Epoch, u64)>,
}

/// Range of a session's events, from which verdicts are computed.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    pub(crate) epoch: Epoch,
    pub(crate) head: u64,
    pub(crate) floor: u64,
    /// Epochs that ended, each with its last surviving number.
    pub(crate) past: Vec<(Epoch, u64)>,
}

impl Extent {
    /// The verdict on a cursor, and the number after which to read.
    ///
    /// A cursor of an earlier epoch is valid up to the last number that survived of that epoch, since these
    /// events are the ones that were published. Only a reader that saw more has to start again.
    pub(crate) fn judge(&self, after: Option<Cursor>) -> (CursorVerdict, u64) {
        let start = self.floor - 1;
        let Some(cursor) = after else { return (CursorVerdict::Ok, start) };
        let reached = if cursor.epoch == self.epoch {
            Some(self.head)
        } else {
            self.past.iter().find(|(epoch, _)| *epoch == cursor.epoch).map(|(_, last)| *last)
        };
        match reached {
            Some(reached) if cursor.seq <= reached && cursor.seq < start => (CursorVerdict::Gap, start),
            Some(reached) if cursor.seq <= reached => (CursorVerdict::Ok, cursor.seq),
            _ => (CursorVerdict::Reset, start),
        }
    }

    pub(crate) fn page(&self, verdict: CursorVerdict, events: Vec<Arc<Event>>) -> Page {
        Page { verdict, events, head: Cursor::new(self.epoch, self.head), floor: self.floor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f112_a_cursor_below_the_floor_is_told_so() {
        let (now, before, foreign) = (Epoch::from_random(1), Epoch::from_random(2), Epoch::from_random(3));
        let extent = Extent { epoch: now, head: 20, floor: 6, past: vec![(before, 10)] };
        let cases = [
            (None, CursorVerdict::Ok, 5),
            (Some((now, 20)), CursorVerdict::Ok, 20),
            (Some((now, 5)), CursorVerdict::Ok, 5),
            (Some((now, 4)), CursorVerdict::Gap, 5),
            (Some((now, 0)), CursorVerdict::Gap, 5),
            (Some((now, 21)), CursorVerdict::Reset, 5),
            (Some((before, 10)), CursorVerdict::Ok, 10),
            (Some((before, 11)), CursorVerdict::Reset, 5),
            (Some((before, 4)), CursorVerdict::Gap, 5),
            (Some((foreign, 7)), CursorVerdict::Reset, 5),
            (Some((foreign, 0)), CursorVerdict::Reset, 5),
        ];
        for (cursor, verdict, from) in cases {
            let after = cursor.map(|(epoch, seq)| Cursor::new(epoch, seq));
            assert_eq!(extent.judge(after), (verdict, from), "{after:?}");
        }
    }
}
