//! The turn of a prompt, as a stream of its frames.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use tidings_protocol::Frame;
use tidings_protocol::messages::Message;

use super::event::{Event, TurnEnd};
use super::subscribers::{Subscriber, SubscriptionEnd};
use crate::error::{Error, ErrorKind};

/// The turn of a prompt: a stream of its frames, and its end.
///
/// Prompts that are sent while another is being answered may be answered together; each receives all frames
/// of the turn that it became part of. Dropping a `Turn` only unsubscribes; the turn goes on.
#[derive(Debug)]
pub struct Turn {
    uuid: String,
    subscriber: Subscriber,
    failed: bool,
}

impl Turn {
    pub(super) fn new(uuid: String, subscriber: Subscriber) -> Self {
        Turn { uuid, subscriber, failed: false }
    }

    /// The id of the prompt, for cancelling it or for rewinding files to it.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// The next message; the last is the result. `None` once the turn is over.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        Some(self.next_frame().await?.map(|frame| frame.message()))
    }

    /// The next frame; the last is the result. `None` once the turn is over.
    pub async fn next_frame(&mut self) -> Option<Result<Frame, Error>> {
        std::future::poll_fn(|context| self.poll_frame(context)).await
    }

    /// Waits for the end of the turn and skips unread messages. An error result is a normal end.
    pub async fn finish(self) -> Result<Arc<TurnEnd>, Error> {
        match self.subscriber.end().await {
            SubscriptionEnd::Turn(end) => Ok(end),
            SubscriptionEnd::Failed(error) => Err(error),
            SubscriptionEnd::Session => Err(Error::closed()),
        }
    }

    /// The end of the turn, if it has ended.
    pub fn end(&self) -> Option<Result<Arc<TurnEnd>, Error>> {
        match self.subscriber.ended()? {
            SubscriptionEnd::Turn(end) => Some(Ok(end)),
            SubscriptionEnd::Failed(error) => Some(Err(error)),
            SubscriptionEnd::Session => Some(Err(Error::closed())),
        }
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        loop {
            match self.subscriber.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Event::Frame { frame, .. })) => return Poll::Ready(Some(Ok(frame))),
                Poll::Ready(Some(Event::Lagged { lost })) => return Poll::Ready(Some(Err(lagged(lost)))),
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => {
                    if let Some(Err(error)) = self.end().filter(|_| !self.failed) {
                        self.failed = true;
                        return Poll::Ready(Some(Err(error)));
                    }
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl Stream for Turn {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_frame(context).map(|next| next.map(|frame| frame.map(|frame| frame.message())))
    }
}

pub(crate) fn lagged(lost: u64) -> Error {
    let message = format!("Messages arrived faster than they were read, and {lost} were dropped");
    Error::new(ErrorKind::Lagged, message, "read faster, or read them in a separate task")
}
