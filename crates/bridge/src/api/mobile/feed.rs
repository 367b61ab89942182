//! The subscription of a phone to one session: missed messages in parts, then the messages of each new event.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tidings_protocol::mobile::{MobileBody, MobileMessage};
use tokio_util::sync::CancellationToken;

use super::place::Place;
use super::sync::Sync;
use super::translator::Translator;
use crate::api::recovery::Start;
use crate::broadcast::{Cut, Delivery, Subscription};
use crate::journal::JournalError;
use crate::limits::CHUNK_BYTES;

/// The subscription of a phone to one session.
pub(crate) struct Feed {
    /// The project that the messages name.
    pub(super) project: Arc<str>,
    /// Ends the subscription.
    pub(super) stop: CancellationToken,
    /// The position after the last message that was returned.
    pub(super) place: Place,
    events: Subscription,
    translator: Translator,
    /// Messages that are translated and not returned yet.
    ready: VecDeque<(Place, MobileMessage)>,
    /// The messages that the phone missed, until they are sent.
    sync: Option<Box<Sync>>,
}

/// The next messages of a subscription, or its end.
pub(crate) enum News {
    /// Messages, and more will follow.
    Messages(Vec<MobileMessage>),
    /// The phone has unsubscribed.
    Stopped,
    /// The subscription has ended.
    Over(Result<Cut, JournalError>),
}

/// The end of a subscription.
type Over = Result<Cut, JournalError>;

impl Feed {
    /// A feed that continues at `start`. Events must come after the cursor of `start`.
    pub(super) fn new(project: &str, events: Subscription, start: Start, sync: Option<Box<Sync>>) -> Self {
        Feed {
            project: Arc::from(project),
            stop: CancellationToken::new(),
            place: Place::after(start.cursor),
            events,
            translator: start.translator,
            ready: start.rest.into(),
            sync,
        }
    }

    /// Waits for one message, and adds the messages that are already available.
    pub(crate) async fn next(&mut self) -> News {
        let stop = self.stop.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => News::Stopped,
            messages = self.messages() => messages.map_or_else(News::Over, News::Messages),
        }
    }

    async fn messages(&mut self) -> Result<Vec<MobileMessage>, Over> {
        if let Some(mut sync) = self.sync.take() {
            let part = self.part(&mut sync).await?;
            if sync.remaining > 0 {
                self.sync = Some(sync);
            }
            return Ok(part);
        }
        let (mut messages, mut bytes) = (Vec::new(), 0);
        loop {
            while let Some((place, message)) = self.ready.pop_front() {
                self.place = place;
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
    async fn part(&mut self, sync: &mut Sync) -> Result<Vec<MobileMessage>, Over> {
        let (mut messages, mut bytes) = (Vec::new(), 0);
        while messages.len() < sync.part_len && sync.remaining > 0 && bytes < CHUNK_BYTES {
            let Some((place, message)) = self.ready.pop_front() else {
                match self.read().await {
                    Ok(()) => continue,
                    Err(over) if messages.is_empty() => return Err(over),
                    Err(_) => break,
                }
            };
            self.place = place;
            if sync.skip > 0 {
                sync.skip -= 1;
                continue;
            }
            sync.remaining -= 1;
            bytes += length(&message);
            messages.push(message);
        }
        Ok(sync.part(self.place, messages))
    }

    /// Waits for one event and translates it. Cancel safe.
    async fn read(&mut self) -> Result<(), Over> {
        match self.events.next().await {
            Ok(Delivery::Event(event)) => {
                let mut said = Vec::new();
                self.translator.translate(&event, &mut said);
                self.ready.extend(said);
                Ok(())
            }
            Ok(Delivery::Cut(cut)) => Err(Ok(cut)),
            Err(error) => Err(Err(error)),
        }
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
