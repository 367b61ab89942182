//! The events of one session on their way to one subscriber, in any protocol.
//!
//! The feed waits for events, collects what is ready into a batch of bounded size and ends when the
//! subscription does. An [`Encoder`] per protocol writes the events: server-sent events, the WebSocket and
//! the phone.

use futures_util::FutureExt as _;
use tidings_api::ResyncReason;
use tidings_journal::broadcast::{Cut, Delivery, Subscription};
use tidings_journal::{Cursor, Event, JournalError};
use tidings_sessions::running::frames::FRAME;

use crate::limits::CHUNK_BYTES;

/// Writes events in one protocol.
pub(crate) trait Encoder {
    /// Encoded events that are sent together.
    type Batch: EventBatch;

    /// Adds an event to a batch. Some events have no form in some protocols.
    fn encode(&mut self, event: &Event, batch: &mut Self::Batch);

    /// Adds more of an event that was too long for one batch; false if there is no more.
    fn encode_rest(&mut self, batch: &mut Self::Batch) -> bool {
        let _ = batch;
        false
    }

    /// True if the protocol also shows the lines of the CLI.
    fn shows_frames(&self) -> bool {
        false
    }
}

/// Encoded events.
pub(crate) trait EventBatch: Default {
    fn is_empty(&self) -> bool;

    /// The approximate length.
    fn bytes(&self) -> usize;
}

/// The events of one session for one subscriber.
pub(crate) struct Feed<E> {
    pub(crate) events: Subscription,
    pub(crate) encoder: E,
    end: Option<FeedEnd>,
}

/// The end of a feed.
#[derive(Debug, Clone)]
pub(crate) enum FeedEnd {
    /// The subscription was cut off; the subscriber resumes after the cursor.
    Cut(Cut, Cursor),
    /// The journal failed.
    Failed(JournalError),
}

impl<E: Encoder> Feed<E> {
    pub(crate) fn new(events: Subscription, encoder: E) -> Self {
        Feed { events, encoder, end: None }
    }

    /// Continues with another subscription, after the end of the one before.
    pub(crate) fn renew(&mut self, events: Subscription) {
        self.events = events;
        self.end = None;
    }

    /// Waits for one event, and adds the events that are already available. Cancel safe.
    ///
    /// Events before the end are returned first, and the end with the next call.
    pub(crate) async fn next(&mut self) -> Result<E::Batch, FeedEnd> {
        let mut batch = E::Batch::default();
        if self.encoder.encode_rest(&mut batch) {
            return Ok(batch);
        }
        loop {
            if let Some(end) = &self.end {
                return Err(end.clone());
            }
            let next = self.events.next().await;
            self.take(next, &mut batch);
            while batch.bytes() < CHUNK_BYTES && self.end.is_none() {
                if self.encoder.encode_rest(&mut batch) {
                    continue;
                }
                let Some(next) = self.events.next().now_or_never() else { break };
                self.take(next, &mut batch);
            }
            if !batch.is_empty() {
                return Ok(batch);
            }
        }
    }

    fn take(&mut self, next: Result<Delivery, JournalError>, batch: &mut E::Batch) {
        match next {
            Ok(Delivery::Event(event)) => {
                if event.kind.as_str() != FRAME || self.encoder.shows_frames() {
                    self.encoder.encode(&event, batch);
                }
            }
            Ok(Delivery::Cut(cut)) => self.end = Some(FeedEnd::Cut(cut, self.events.cursor())),
            Err(error) => self.end = Some(FeedEnd::Failed(error)),
        }
    }
}

/// The reason that a client is told when its subscription was cut off.
pub(crate) fn reason(cut: Cut) -> ResyncReason {
    match cut {
        Cut::Resync(_) => ResyncReason::Behind,
        Cut::Gap(_) => ResyncReason::Gap,
        Cut::Deleted => ResyncReason::Deleted,
    }
}
