//! One subscriber's position in the events of a session.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::merger::{MergedLookup, Merger, Merging, Run};
use super::tail::{TailLookup, TailProgress};
use super::{SubscribeOptions, TailHandle};
use crate::limits::{PORTION_BYTES_MAX, PORTION_EVENTS_MAX};
use crate::{Cursor, CursorVerdict, ErrorKind, Event, Journal, JournalError, Max};

/// Events and bytes that a subscriber takes at once.
pub(super) const PORTION: Max = Max { events: PORTION_EVENTS_MAX, bytes: PORTION_BYTES_MAX };

/// One subscriber's position in the events of a session.
pub struct Subscription {
    journal: Arc<dyn Journal>,
    handle: TailHandle,
    progress: watch::Receiver<TailProgress>,
    /// The last event that was handed out.
    cursor: Cursor,
    /// Read from the journal and not handed out yet.
    replay: VecDeque<Arc<Event>>,
    /// True after everything from before the tail was read.
    caught_up: bool,
    /// Bytes published in total when this subscriber last took an event, or had nothing to take.
    taken_bytes: u64,
    bytes_untaken_max: u64,
    merger: Option<Arc<Merger>>,
    merge_due: watch::Receiver<u64>,
    /// Deltas that this subscriber merges by itself, up to a number.
    run: Option<(Run, u64)>,
    cut: Option<Cut>,
}

/// Next item for a subscriber.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The next event.
    Event(Arc<Event>),
    /// There will be no more.
    Cut(Cut),
}

/// Reason why a subscription ended. The subscriber loses nothing: it resumes from the cursor of its last
/// event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The subscriber took nothing while too much was published.
    Resync(Cursor),
    /// Its next event was removed meanwhile.
    Gap(Cursor),
    /// The session was deleted.
    Deleted,
}

impl Subscription {
    pub(super) fn new(
        journal: Arc<dyn Journal>,
        handle: TailHandle,
        cursor: Cursor,
        first: Vec<Arc<Event>>,
        options: &SubscribeOptions,
    ) -> Self {
        let mut progress = handle.tail.progress();
        let taken_bytes = progress.borrow_and_update().bytes;
        let replay = first.into_iter().map(|event| handle.tail.share(event)).collect();
        let merge_due = handle.tail.merge_due();
        let merger = options.merging.map(|merging| handle.tail.merger(merging));
        Subscription {
            journal,
            handle,
            progress,
            cursor,
            replay,
            caught_up: false,
            taken_bytes,
            bytes_untaken_max: options.bytes_untaken_max,
            merger,
            merge_due,
            run: None,
            cut: None,
        }
    }

    /// The cursor of the last event that was handed out; resuming after it loses nothing.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Waits for the next event. The future is cancel-safe.
    ///
    /// After a [`Delivery::Cut`] it returns the same one again and again.
    pub async fn next(&mut self) -> Result<Delivery, JournalError> {
        if let Some(merger) = self.merger.clone() {
            return self.next_merged(&merger).await;
        }
        loop {
            if let Some(cut) = self.check_cut() {
                return Ok(Delivery::Cut(cut));
            }
            if let Some(event) = self.replay.pop_front() {
                self.take(event.cursor);
                return Ok(Delivery::Event(event));
            }
            self.read_on().await?;
        }
    }

    /// The same with merged deltas: those that the merger has, and others that are merged here.
    async fn next_merged(&mut self, merger: &Merger) -> Result<Delivery, JournalError> {
        loop {
            self.merge_due.mark_unchanged();
            if let Some(cut) = self.check_cut() {
                // Deltas before the end come first.
                return Ok(self.complete().map_or(Delivery::Cut(cut), Delivery::Event));
            }
            let mut end = u64::MAX;
            if self.run.is_none() {
                match merger.after(&self.handle.tail, self.cursor.seq) {
                    MergedLookup::Batch(event, last) => {
                        self.take(Cursor::new(event.cursor.epoch, last));
                        return Ok(Delivery::Event(event));
                    }
                    MergedLookup::Open(until) => {
                        self.wait_for_merger(until).await;
                        continue;
                    }
                    MergedLookup::Apart(last) => end = last,
                    MergedLookup::None => {}
                }
            }
            let complete = match self.merge_next(merger.merging, end) {
                None if self.replay.is_empty() => self.read_on_in_time().await?,
                complete => complete,
            };
            if let Some(event) = complete {
                return Ok(Delivery::Event(event));
            }
        }
    }

    /// Takes one event that was read, and returns what is complete then. Deltas are merged up to a number.
    fn merge_next(&mut self, merging: Merging, end: u64) -> Option<Arc<Event>> {
        let event = Arc::clone(self.replay.front()?);
        if let Some((run, _)) = &mut self.run {
            if !run.take(&event, merging) {
                return self.complete();
            }
        } else if let Some(run) = merging.begin(&event) {
            self.run = Some((run, end));
        } else if !merging.hides(&event) {
            self.take(event.cursor);
            return Some(event);
        }
        self.take(event.cursor);
        if self.run.as_ref().is_some_and(|(run, end)| run.last() >= *end) { self.complete() } else { None }
    }

    /// The deltas that this subscriber merges by itself, as one event.
    fn complete(&mut self) -> Option<Arc<Event>> {
        self.run.take().map(|(run, _)| run.into_event())
    }

    /// Moves the cursor to an event that was handed out.
    fn take(&mut self, cursor: Cursor) {
        self.cursor = cursor;
        self.taken_bytes = self.progress.borrow().bytes;
        while self.replay.front().is_some_and(|event| event.cursor.seq <= cursor.seq) {
            self.replay.pop_front();
        }
    }

    /// Reads more events, or waits for news of the session.
    async fn read_on(&mut self) -> Result<(), JournalError> {
        match self.handle.tail.after(self.cursor.seq, PORTION) {
            TailLookup::Events(events) => self.replay.extend(events),
            TailLookup::InJournal => self.read().await?,
            TailLookup::None if !self.caught_up => {
                self.read().await?;
                self.caught_up = self.replay.is_empty();
            }
            TailLookup::None => self.wait().await,
        }
        Ok(())
    }

    /// The same, until the deltas that this subscriber merges are complete: then it returns them.
    async fn read_on_in_time(&mut self) -> Result<Option<Arc<Event>>, JournalError> {
        let Some(until) = self.run.as_ref().and_then(|(run, _)| run.until()) else {
            return self.read_on().await.map(|()| None);
        };
        match timeout_at(until, self.read_on()).await {
            Ok(read) => read.map(|()| None),
            Err(_) => Ok(self.complete()),
        }
    }

    /// Waits until deltas that are being merged may be complete.
    async fn wait_for_merger(&mut self, until: Option<Instant>) {
        match until {
            // The wait is over, or there is something to merge.
            Some(until) => drop(timeout_at(until, self.merge_due.changed()).await),
            None => self.wait().await,
        }
    }

    /// Ends when the subscriber is so far behind that it is cut off: for endpoints whose own writing is
    /// stuck, since they do not call [`next`](Self::next).
    pub async fn fallen_behind(&mut self) -> Cut {
        loop {
            if let Some(cut) = self.check_cut() {
                return cut;
            }
            if self.progress.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits for progress that this subscriber has not seen. The broadcast holds the sender for as long as
    /// there are subscribers.
    async fn wait(&mut self) {
        if self.progress.changed().await.is_err() {
            self.cut = Some(Cut::Deleted);
        }
    }

    /// Reads on in a separate task: the future of a client that does not read is not polled, and other
    /// subscribers wait for the lock.
    async fn read(&mut self) -> Result<(), JournalError> {
        let (journal, tail) = (Arc::clone(&self.journal), Arc::clone(&self.handle.tail));
        let (key, cursor) = (self.handle.key.clone(), self.cursor);
        let reading = tokio::spawn(async move {
            let _reading = tail.lock_reading().await;
            if let Some(event) = tail.long_at(Cursor::new(cursor.epoch, cursor.seq + 1)) {
                return Ok((CursorVerdict::Ok, vec![event]));
            }
            let page = journal.read(&key, Some(cursor), PORTION).await?;
            Ok((page.verdict, page.events.into_iter().map(|event| tail.share(event)).collect()))
        });
        // Fails only when the runtime shuts down.
        let Ok(read) = reading.await else {
            self.cut = Some(Cut::Resync(self.cursor));
            return Ok(());
        };
        match read {
            Ok((CursorVerdict::Ok, events)) => self.replay.extend(events),
            Ok(_) => self.cut = Some(Cut::Gap(self.cursor)),
            Err(error) if JournalError::kind(&error) == ErrorKind::NotFound => self.cut = Some(Cut::Deleted),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Checks for a reason to end. A slow subscriber is not cut off, since the journal has what it has not
    /// taken. A subscriber that takes nothing is: it would see the present only after all of the past.
    fn check_cut(&mut self) -> Option<Cut> {
        let progress = *self.progress.borrow_and_update();
        if self.replay.is_empty() && progress.head <= self.cursor.seq {
            self.taken_bytes = progress.bytes;
        }
        if progress.ended {
            self.cut = Some(Cut::Deleted);
        } else if progress.restarted {
            self.cut.get_or_insert(Cut::Gap(self.cursor));
        } else if progress.bytes - self.taken_bytes > self.bytes_untaken_max.saturating_add(progress.longest)
        {
            // One event that is longer than the bound does not cut off subscribers that are about to take it.
            self.cut.get_or_insert(Cut::Resync(self.cursor));
        }
        if self.cut.is_some() {
            self.replay = VecDeque::new();
        }
        self.cut
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subscription { handle, cursor, cut, .. } = self;
        let mut shown = f.debug_struct("Subscription");
        shown.field("key", &handle.key).field("cursor", cursor).field("cut", cut).finish_non_exhaustive()
    }
}
