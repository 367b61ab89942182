use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::Watched;
use super::tail::{Found, News};
use crate::journal::{Cursor, ErrorKind, Event, Journal, JournalError, Max, Verdict};
use crate::limits::{PORTION_BYTES_MAX, PORTION_EVENTS_MAX};

/// What a watcher takes at once.
pub(super) const PORTION: Max = Max { events: PORTION_EVENTS_MAX, bytes: PORTION_BYTES_MAX };

/// One watcher's way through the events of a session.
pub struct Subscription {
    journal: Arc<dyn Journal>,
    watched: Watched,
    news: watch::Receiver<News>,
    /// The last event that was handed out.
    place: Cursor,
    /// Read from the journal and not handed out yet.
    replay: VecDeque<Arc<Event>>,
    /// Whether everything that was there before the tail has been read.
    caught_up: bool,
    /// What the news weighed when this watcher last took an event, or had nothing to take.
    taken_bytes: u64,
    bytes_untaken_max: u64,
    cut: Option<Cut>,
}

/// What a watcher gets next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The next event.
    Event(Arc<Event>),
    /// There will be no more.
    Cut(Cut),
}

/// Why a watcher was cut off. It loses nothing: it comes back with the cursor of the last event that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// It took nothing while too much was published.
    Resync(Cursor),
    /// What it would have got next was removed meanwhile.
    Gap(Cursor),
    /// The session was deleted.
    Deleted,
}

impl Subscription {
    pub(super) fn new(
        journal: Arc<dyn Journal>,
        watched: Watched,
        place: Cursor,
        first: Vec<Arc<Event>>,
        bytes_untaken_max: u64,
    ) -> Self {
        let mut news = watched.tail.news();
        let taken_bytes = news.borrow_and_update().bytes;
        let replay = first.into_iter().map(|event| watched.tail.share(event)).collect();
        Subscription {
            journal,
            watched,
            news,
            place,
            replay,
            caught_up: false,
            taken_bytes,
            bytes_untaken_max,
            cut: None,
        }
    }

    /// The last event that was handed out, which is where to come back to.
    pub fn place(&self) -> Cursor {
        self.place
    }

    /// Whether somebody else watches the session too, so that it is worth keeping what was made of an event.
    pub(crate) fn is_shared(&self) -> bool {
        // The hub holds the tail, and so does each watcher.
        Arc::strong_count(&self.watched.tail) > 2
    }

    /// The next event, as soon as there is one. It may be dropped while it waits, and nothing is lost.
    ///
    /// After a [`Delivery::Cut`] it gives the same again and again.
    pub async fn next(&mut self) -> Result<Delivery, JournalError> {
        loop {
            if let Some(cut) = self.check_cut() {
                return Ok(Delivery::Cut(cut));
            }
            if let Some(event) = self.replay.pop_front() {
                self.place = event.cursor;
                self.taken_bytes = self.news.borrow().bytes;
                return Ok(Delivery::Event(event));
            }
            match self.watched.tail.after(self.place.seq, PORTION) {
                Found::Here(events) => self.replay.extend(events),
                Found::InJournal => self.read().await?,
                Found::Nowhere if !self.caught_up => {
                    self.read().await?;
                    self.caught_up = self.replay.is_empty();
                }
                Found::Nowhere => self.wait().await,
            }
        }
    }

    /// Ends when the watcher is so far behind that it is cut off: for doors whose own writing is stuck, since those do
    /// not ask for the next event.
    pub async fn fallen_behind(&mut self) -> Cut {
        loop {
            if let Some(cut) = self.check_cut() {
                return cut;
            }
            if self.news.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits for news that this watcher has not seen. The hub holds the sender for as long as this watches.
    async fn wait(&mut self) {
        if self.news.changed().await.is_err() {
            self.cut = Some(Cut::Deleted);
        }
    }

    /// Reads on in a task of its own: a client that does not read leaves this future alone, and others wait for their turn to read.
    async fn read(&mut self) -> Result<(), JournalError> {
        let (journal, tail) = (Arc::clone(&self.journal), Arc::clone(&self.watched.tail));
        let (key, place) = (self.watched.key.clone(), self.place);
        let reading = tokio::spawn(async move {
            let _reading = tail.lock_reading().await;
            if let Some(event) = tail.long_at(Cursor::new(place.epoch, place.seq + 1)) {
                return Ok((Verdict::Ok, vec![event]));
            }
            let page = journal.read(&key, Some(place), PORTION).await?;
            Ok((page.verdict, page.events.into_iter().map(|event| tail.share(event)).collect()))
        });
        // It fails only if the runtime is going down.
        let Ok(read) = reading.await else {
            self.cut = Some(Cut::Resync(self.place));
            return Ok(());
        };
        match read {
            Ok((Verdict::Ok, events)) => self.replay.extend(events),
            Ok(_) => self.cut = Some(Cut::Gap(self.place)),
            Err(error) if JournalError::kind(&error) == ErrorKind::NotFound => self.cut = Some(Cut::Deleted),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A slow watcher is not cut off: what it has not taken lies in the journal. One that takes nothing is, since it
    /// would learn of the present only after all of the past.
    fn check_cut(&mut self) -> Option<Cut> {
        let news = *self.news.borrow_and_update();
        if self.replay.is_empty() && news.head <= self.place.seq {
            self.taken_bytes = news.bytes;
        }
        if news.ended {
            self.cut = Some(Cut::Deleted);
        } else if news.bytes - self.taken_bytes > self.bytes_untaken_max.saturating_add(news.longest) {
            // One event that is longer than the bound does not cut off those who are about to take it.
            self.cut.get_or_insert(Cut::Resync(self.place));
        }
        if self.cut.is_some() {
            self.replay = VecDeque::new();
        }
        self.cut
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subscription { watched, place, cut, .. } = self;
        let mut shown = f.debug_struct("Subscription");
        shown.field("key", &watched.key).field("place", place).field("cut", cut).finish_non_exhaustive()
    }
}
