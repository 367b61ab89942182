//! The subscription of a phone to one session: missed messages in parts, then the messages of each new event.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tidings_journal::Event;
use tidings_journal::broadcast::Subscription;
use tidings_protocol::mobile::{MobileBody, MobileMessage};
use tokio_util::sync::CancellationToken;

use super::parts::PartTranslator;
use super::position::MessagePosition;
use super::sync::Sync;
use crate::api::feed::{Encoder, EventBatch, Feed, FeedEnd};
use crate::api::recovery::Start;
use crate::limits::CHUNK_BYTES;

/// The subscription of a phone to one session.
pub(crate) struct PhoneFeed {
    /// The project that the messages name.
    pub(super) project: Arc<str>,
    /// Ends the subscription.
    pub(super) stop: CancellationToken,
    /// The position after the last message that was returned.
    pub(super) position: MessagePosition,
    events: Feed<PartTranslator>,
    /// Messages that are translated and not returned yet.
    ready: VecDeque<(MessagePosition, MobileMessage)>,
    /// The messages that the phone missed, until they are sent.
    sync: Option<Box<Sync>>,
}

/// The next messages of a subscription, or its end.
pub(crate) enum PhoneUpdate {
    /// Messages, and more will follow.
    Messages(Vec<MobileMessage>),
    /// The phone has unsubscribed.
    Stopped,
    /// The subscription has ended.
    Ended(FeedEnd),
}

impl PhoneFeed {
    /// A feed that continues at `start`. Events must come after the cursor of `start`.
    pub(super) fn new(project: &str, events: Subscription, start: Start, sync: Option<Box<Sync>>) -> Self {
        PhoneFeed {
            project: Arc::from(project),
            stop: CancellationToken::new(),
            position: MessagePosition::after(start.cursor),
            events: Feed::new(events, PartTranslator::new(start.translator)),
            ready: start.rest.into(),
            sync,
        }
    }

    /// Waits for one message, and adds the messages that are already available.
    pub(crate) async fn next(&mut self) -> PhoneUpdate {
        let stop = self.stop.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => PhoneUpdate::Stopped,
            messages = self.messages() => messages.map_or_else(PhoneUpdate::Ended, PhoneUpdate::Messages),
        }
    }

    async fn messages(&mut self) -> Result<Vec<MobileMessage>, FeedEnd> {
        if let Some(mut sync) = self.sync.take() {
            let part = self.part(&mut sync).await?;
            if sync.remaining > 0 {
                self.sync = Some(sync);
            }
            return Ok(part);
        }
        let (mut messages, mut bytes) = (Vec::new(), 0);
        loop {
            while let Some((position, message)) = self.ready.pop_front() {
                self.position = position;
                bytes += length(&message);
                messages.push(message);
                if bytes >= CHUNK_BYTES {
                    return Ok(messages);
                }
            }
            if messages.is_empty() {
                self.read().await?;
                continue;
            }
            match self.read().now_or_never() {
                Some(Ok(())) => {}
                // The messages before the end come first; the subscription reports its end again.
                Some(Err(_)) | None => return Ok(messages),
            }
        }
    }

    /// The next part of the missed messages.
    async fn part(&mut self, sync: &mut Sync) -> Result<Vec<MobileMessage>, FeedEnd> {
        let (mut messages, mut bytes) = (Vec::new(), 0);
        while messages.len() < sync.part_len && sync.remaining > 0 && bytes < CHUNK_BYTES {
            let Some((position, message)) = self.ready.pop_front() else {
                match self.read().await {
                    Ok(()) => continue,
                    Err(over) if messages.is_empty() => return Err(over),
                    Err(_) => break,
                }
            };
            self.position = position;
            if sync.skip > 0 {
                sync.skip -= 1;
                continue;
            }
            sync.remaining -= 1;
            bytes += length(&message);
            messages.push(message);
        }
        Ok(sync.part(self.position, messages))
    }

    /// Waits for the messages of more events. Cancel safe.
    async fn read(&mut self) -> Result<(), FeedEnd> {
        self.ready.extend(self.events.next().await?.messages);
        Ok(())
    }
}

impl Encoder for PartTranslator {
    type Batch = PhoneBatch;

    fn encode(&mut self, event: &Event, batch: &mut PhoneBatch) {
        let from = batch.messages.len();
        self.translate(event, &mut batch.messages);
        batch.count(from);
    }

    fn encode_rest(&mut self, batch: &mut PhoneBatch) -> bool {
        let from = batch.messages.len();
        let is_some = self.translate_rest(&mut batch.messages);
        batch.count(from);
        is_some
    }
}

/// Messages of one or more events.
#[derive(Debug, Default)]
pub(crate) struct PhoneBatch {
    messages: Vec<(MessagePosition, MobileMessage)>,
    bytes: usize,
}

impl PhoneBatch {
    /// Counts the bytes of the messages from this one on.
    fn count(&mut self, from: usize) {
        self.bytes += self.messages[from..].iter().map(|(_, message)| length(message)).sum::<usize>();
    }
}

impl EventBatch for PhoneBatch {
    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The approximate length of a message: only texts are long.
fn length(message: &MobileMessage) -> usize {
    const REST: usize = 256;
    match &message.body {
        MobileBody::ClaudeResponse(response) => REST + response.content.len(),
        MobileBody::PermissionRequest(request) => {
            let texts = request.details.values().filter_map(|value| value.as_str());
            REST + texts.map(str::len).sum::<usize>()
        }
        _ => REST,
    }
}
