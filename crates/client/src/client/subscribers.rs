//! Subscribers of a session. Their queues are bounded, and only lossless subscribers can delay the session.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::event::{Event, TurnEnd};
use crate::error::Error;
use crate::limits::{QUEUE_BYTES_MAX, QUEUE_FRAMES_MAX};

/// A subscription to the events of a session; see [`Client::subscribe`](super::Client::subscribe).
///
/// A subscriber that reads too slowly loses the oldest events and receives their number in [`Event::Lagged`],
/// unless it is [lossless](super::Client::follow).
#[derive(Debug)]
pub struct Subscriber {
    queue: Arc<Mutex<Queue>>,
}

/// The queue of one subscriber.
#[derive(Debug, Default)]
struct Queue {
    /// The prompt whose turn it follows; `None` for all events.
    prompt: Option<String>,
    /// No event is dropped: the reader task waits while the queue is full.
    lossless: bool,
    /// The reader task, if it waits for room in this queue.
    reader: Option<Waker>,
    events: VecDeque<Event>,
    bytes: usize,
    lost: u64,
    end: Option<SubscriptionEnd>,
    waker: Option<Waker>,
}

/// The reason why no more events follow.
#[derive(Debug, Clone)]
pub(super) enum SubscriptionEnd {
    Turn(Arc<TurnEnd>),
    Failed(Error),
    Session,
}

#[derive(Debug, Default)]
pub(super) struct Subscribers(Mutex<Vec<Weak<Mutex<Queue>>>>);

impl Subscribers {
    /// Subscribes to all events from now on, or to the turn of one prompt.
    pub(super) fn add(&self, prompt: Option<String>) -> Subscriber {
        self.register(Queue { prompt, ..Queue::default() })
    }

    /// Subscribes to all events from now on, without loss.
    pub(super) fn add_lossless(&self) -> Subscriber {
        self.register(Queue { lossless: true, ..Queue::default() })
    }

    fn register(&self, queue: Queue) -> Subscriber {
        let queue = Arc::new(Mutex::new(queue));
        let mut all = self.0.lock();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&queue));
        Subscriber { queue }
    }

    /// Waits until all lossless subscribers have room.
    pub(super) async fn wait_for_room(&self) {
        std::future::poll_fn(|context| {
            let mut full = false;
            self.each(|queue| {
                if queue.lossless && queue.is_full() {
                    queue.reader = Some(context.waker().clone());
                    full = true;
                }
            });
            if full { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Sends an event to all subscribers; a subscriber of one prompt gets it only if that is among `prompts`.
    pub(super) fn publish(&self, event: &Event, prompts: &[String]) {
        self.each(|queue| {
            if queue.prompt.as_ref().is_none_or(|prompt| prompts.contains(prompt)) {
                queue.push(event.clone());
            }
        });
    }

    /// Ends the subscriptions to the turn of these prompts.
    pub(super) fn end_turn(&self, end: &Arc<TurnEnd>, prompts: &[String]) {
        self.each(|queue| {
            if queue.prompt.as_ref().is_some_and(|prompt| prompts.contains(prompt)) {
                queue.finish(SubscriptionEnd::Turn(Arc::clone(end)));
            }
        });
    }

    /// Fails the turns of these prompts.
    pub(super) fn fail_turn(&self, error: &Error, prompts: &[String]) {
        self.each(|queue| {
            if queue.prompt.as_ref().is_some_and(|prompt| prompts.contains(prompt)) {
                queue.finish(SubscriptionEnd::Failed(error.clone()));
            }
        });
    }

    /// Fails all subscriptions to turns. Other subscribers go on.
    pub(super) fn end_turns(&self, error: &Error) {
        self.each(|queue| {
            if queue.prompt.is_some() {
                queue.finish(SubscriptionEnd::Failed(error.clone()));
            }
        });
    }

    /// Ends all subscriptions; those to turns get the reason.
    pub(super) fn end(&self, error: &Error) {
        self.each(|queue| {
            let end = if queue.prompt.is_some() {
                SubscriptionEnd::Failed(error.clone())
            } else {
                SubscriptionEnd::Session
            };
            queue.finish(end);
        });
    }

    fn each(&self, mut visit: impl FnMut(&mut Queue)) {
        self.0.lock().retain(|queue| {
            let Some(queue) = queue.upgrade() else { return false };
            visit(&mut queue.lock());
            true
        });
    }
}

impl Subscriber {
    /// The next event; `None` when the subscription has ended.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut queue = self.queue.lock();
        if queue.lost > 0 {
            let lost = std::mem::take(&mut queue.lost);
            return Poll::Ready(Some(Event::Lagged { lost }));
        }
        if let Some(event) = queue.events.pop_front() {
            queue.bytes = queue.bytes.saturating_sub(event.weight());
            queue.wake_reader();
            return Poll::Ready(Some(event));
        }
        if queue.end.is_some() {
            return Poll::Ready(None);
        }
        queue.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Waits for the end, and ignores unread events.
    pub(super) async fn end(&self) -> SubscriptionEnd {
        std::future::poll_fn(|context| {
            let mut queue = self.queue.lock();
            if let Some(end) = &queue.end {
                return Poll::Ready(end.clone());
            }
            queue.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// The reason of the end, once all events are read.
    pub(super) fn ended(&self) -> Option<SubscriptionEnd> {
        self.queue.lock().end.clone()
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // The reader task does not wait for a dropped subscriber.
        if let Some(reader) = self.queue.lock().reader.take() {
            reader.wake();
        }
    }
}

impl futures_core::Stream for Subscriber {
    type Item = Event;

    fn poll_next(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll(context)
    }
}

impl Queue {
    fn push(&mut self, event: Event) {
        if self.end.is_some() {
            return;
        }
        self.bytes += event.weight();
        self.events.push_back(event);
        // The newest event always stays, whatever its size.
        while !self.lossless && self.events.len() > 1 && self.is_over() {
            if let Some(oldest) = self.events.pop_front() {
                self.bytes = self.bytes.saturating_sub(oldest.weight());
                self.lost += 1;
            }
        }
        self.wake();
    }

    /// True if the queue exceeds its limits.
    fn is_over(&self) -> bool {
        self.events.len() > QUEUE_FRAMES_MAX || self.bytes > QUEUE_BYTES_MAX
    }

    /// True if the queue has reached its limits.
    fn is_full(&self) -> bool {
        self.events.len() >= QUEUE_FRAMES_MAX || self.bytes >= QUEUE_BYTES_MAX
    }

    fn wake_reader(&mut self) {
        if !self.is_full()
            && let Some(reader) = self.reader.take()
        {
            reader.wake();
        }
    }

    fn finish(&mut self, end: SubscriptionEnd) {
        self.end.get_or_insert(end);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_protocol::Frame;

    /// F98: a subscriber that does not read loses the oldest events, learns how many, and holds a bounded
    /// number of bytes; a subscriber that reads loses nothing.
    #[tokio::test]
    async fn f98_a_slow_subscriber_loses_the_oldest_and_is_told() {
        let frame = Frame::from_json(&format!(r#"{{"type":"x","text":"{}"}}"#, "x".repeat(1 << 20))).unwrap();
        let event = Event::Frame { turn: None, frame, end: None };
        let subscribers = Subscribers::default();
        let (mut slow, mut quick) = (subscribers.add(None), subscribers.add(None));
        for _ in 0..100 {
            subscribers.publish(&event, &[]);
            assert!(matches!(quick.next().await, Some(Event::Frame { .. })));
        }
        assert!(slow.queue.lock().bytes <= QUEUE_BYTES_MAX);
        subscribers.end(&Error::closed());
        let Some(Event::Lagged { lost }) = slow.next().await else { panic!("no Lagged event") };
        let mut left = 0;
        while slow.next().await.is_some() {
            left += 1;
        }
        assert_eq!((left, lost), (63, 37));
        assert!(quick.next().await.is_none());
    }

    /// Many small frames are bounded by their number.
    #[test]
    fn f98_many_small_frames_are_bounded_by_their_number() {
        let subscribers = Subscribers::default();
        let slow = subscribers.add(None);
        for _ in 0..QUEUE_FRAMES_MAX + 10 {
            subscribers.publish(&Event::Noise { text: String::new() }, &[]);
        }
        let queue = slow.queue.lock();
        assert_eq!((queue.events.len(), queue.lost), (QUEUE_FRAMES_MAX, 10));
    }

    /// F98: the session waits for a lossless subscriber, until there is room or it is dropped.
    #[tokio::test(start_paused = true)]
    async fn f98_a_lossless_subscriber_is_waited_for() {
        let subscribers = Arc::new(Subscribers::default());
        let mut slow = subscribers.add_lossless();
        for number in 0..QUEUE_FRAMES_MAX {
            subscribers.wait_for_room().await;
            subscribers.publish(&Event::Noise { text: number.to_string() }, &[]);
        }
        let waiting = tokio::spawn({
            let subscribers = Arc::clone(&subscribers);
            async move { subscribers.wait_for_room().await }
        });
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert!(!waiting.is_finished(), "the session did not wait for the slow subscriber");
        assert!(matches!(slow.next().await, Some(Event::Noise { text }) if text == "0"));
        waiting.await.unwrap();

        subscribers.publish(&Event::Noise { text: "last".to_owned() }, &[]);
        let waiting = tokio::spawn({
            let subscribers = Arc::clone(&subscribers);
            async move { subscribers.wait_for_room().await }
        });
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert!(!waiting.is_finished());
        drop(slow);
        waiting.await.unwrap();
    }

    /// A dropped subscriber costs nothing.
    #[test]
    fn f32_a_subscriber_that_left_is_forgotten() {
        let subscribers = Subscribers::default();
        for _ in 0..1000 {
            drop(subscribers.add(None));
        }
        subscribers.publish(&Event::Noise { text: String::new() }, &[]);
        assert!(subscribers.0.lock().is_empty());
    }
}
