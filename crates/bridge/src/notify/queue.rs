//! The queue of notifications for one target.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::compose::Notification;
use crate::limits::{NOTIFY_PAUSE_FIRST, NOTIFY_PAUSE_MAX, NOTIFY_QUEUE_MAX};

/// Notifications that wait for their first attempt or for a retry, the oldest first.
#[derive(Debug, Default)]
pub(super) struct NotificationQueue(Vec<Due>);

/// A notification, and the time of its next attempt.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) notification: Arc<Notification>,
    /// The number of attempts so far.
    pub(super) tries: u32,
    at: Instant,
}

impl NotificationQueue {
    /// Adds a notification to send at once. Returns the one that is dropped if the queue is full: the oldest
    /// that needs no answer, or else the oldest.
    pub(super) fn add(&mut self, notification: Arc<Notification>, now: Instant) -> Option<Arc<Notification>> {
        self.0.push(Due { notification, tries: 0, at: now });
        if self.0.len() <= NOTIFY_QUEUE_MAX {
            return None;
        }
        let news = self.0.iter().position(|due| !due.notification.needs_answer());
        Some(self.0.remove(news.unwrap_or_default()).notification)
    }

    /// Takes the next notification to send: those that need an answer first, then new ones before retries,
    /// then by age.
    pub(super) fn take(&mut self, now: Instant) -> Option<Due> {
        let due = self.0.iter().enumerate().filter(|(_, due)| due.at <= now);
        let (at, _) = due.min_by_key(|(_, due)| (Reverse(due.notification.needs_answer()), due.tries > 0))?;
        Some(self.0.remove(at))
    }

    /// The time of the next attempt.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.0.iter().map(|due| due.at).min()
    }

    /// Queues a retry after a pause: the one that the target requested, or twice the last one.
    pub(super) fn put_back(&mut self, due: Due, after: Option<Duration>, now: Instant) {
        let pause = NOTIFY_PAUSE_FIRST.saturating_mul(1 << due.tries.min(16));
        let pause = after.unwrap_or(pause).min(NOTIFY_PAUSE_MAX);
        self.0.push(Due { tries: due.tries + 1, at: now + pause, ..due });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(id: &str) -> Arc<Notification> {
        Arc::new(Notification {
            id: id.to_owned(),
            event: "turn_ended",
            at: String::new(),
            session: String::new(),
            project: String::new(),
            text: String::new(),
            tool_use_id: None,
            tool: None,
            risk: None,
            link: None,
            details: None,
        })
    }

    fn ask(id: &str) -> Arc<Notification> {
        Arc::new(Notification { tool_use_id: Some("tool".to_owned()), ..(*news(id)).clone() })
    }

    fn taken(waiting: &mut NotificationQueue, now: Instant) -> Vec<String> {
        std::iter::from_fn(|| waiting.take(now)).map(|due| due.notification.id.clone()).collect()
    }

    #[test]
    fn what_waits_for_an_answer_goes_first_and_what_has_failed_last() {
        let (mut waiting, now) = (NotificationQueue::default(), Instant::now());
        waiting.add(news("failed"), now);
        let failed = waiting.take(now).unwrap();
        waiting.put_back(failed, None, now);
        for notification in [news("old"), ask("asked"), news("new"), ask("asked later")] {
            waiting.add(notification, now);
        }
        assert_eq!(taken(&mut waiting, now), ["asked", "asked later", "old", "new"], "one pauses");
        assert_eq!(waiting.next_due(), Some(now + NOTIFY_PAUSE_FIRST));
        waiting.add(news("newest"), now);
        assert_eq!(taken(&mut waiting, now + NOTIFY_PAUSE_FIRST), ["newest", "failed"]);
    }

    #[test]
    fn pauses_grow_and_no_target_makes_them_longer_than_the_longest() {
        let (mut waiting, now) = (NotificationQueue::default(), Instant::now());
        waiting.add(news("one"), now);
        let mut pause = |after: Option<u64>| {
            let due = waiting.take(now + NOTIFY_PAUSE_MAX).unwrap();
            waiting.put_back(due, after.map(Duration::from_secs), now);
            (waiting.next_due().unwrap() - now).as_secs()
        };
        let pauses = [None, None, None, Some(0), Some(86_400), None, None, None].map(&mut pause);
        assert_eq!(pauses, [1, 2, 4, 0, 60, 32, 60, 60]);
    }

    #[test]
    fn where_too_much_waits_news_is_dropped_before_what_waits_for_an_answer() {
        let (mut waiting, now) = (NotificationQueue::default(), Instant::now());
        waiting.add(ask("asked first"), now);
        waiting.add(news("news"), now);
        for _ in 2..NOTIFY_QUEUE_MAX {
            assert!(waiting.add(ask("asked"), now).is_none());
        }
        let mut dropped = || waiting.add(ask("asked last"), now).unwrap().id.clone();
        assert_eq!([dropped(), dropped()], ["news", "asked first"]);
    }
}
