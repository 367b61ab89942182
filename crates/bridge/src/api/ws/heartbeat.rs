//! The heartbeats of a WebSocket, and how many of them its client left unanswered.

use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::close::Close;
use super::link::Message;
use crate::limits::{HEARTBEAT, HEARTBEATS_MISSED_MAX};

pub(crate) struct Heartbeat {
    interval: Interval,
    unanswered: u32,
}

impl Heartbeat {
    pub(crate) fn new() -> Self {
        let mut interval = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Heartbeat { interval, unanswered: 0 }
    }

    /// Waits until the next ping is due, and returns it; an error if the client is gone. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Message, Close> {
        self.interval.tick().await;
        if self.unanswered >= HEARTBEATS_MISSED_MAX {
            return Err(Close::Gone);
        }
        self.unanswered += 1;
        Ok(Message::Ping(axum::body::Bytes::new()))
    }

    /// Notes that the client has sent something.
    pub(crate) fn answered(&mut self) {
        self.unanswered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_answers_nothing_is_gone_and_one_that_answers_late_is_not() {
        let mut heartbeat = Heartbeat::new();
        for _ in 0..HEARTBEATS_MISSED_MAX {
            assert!(matches!(heartbeat.next().await, Ok(Message::Ping(_))));
        }
        heartbeat.answered();
        for _ in 0..HEARTBEATS_MISSED_MAX {
            assert!(matches!(heartbeat.next().await, Ok(Message::Ping(_))));
        }
        assert!(matches!(heartbeat.next().await, Err(Close::Gone)));
    }

    /// F133: heartbeats are counted and not timed.
    #[tokio::test(start_paused = true)]
    async fn f133_a_server_that_was_suspended_does_not_take_its_clients_for_gone() {
        let mut heartbeat = Heartbeat::new();
        tokio::time::advance(HEARTBEAT * 100).await;
        assert!(matches!(heartbeat.next().await, Ok(Message::Ping(_))));
    }
}
