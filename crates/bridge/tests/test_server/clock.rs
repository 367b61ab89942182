//! A clock that the test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tidings_agent::Clock;

/// A clock that stands still until the test moves it.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn at(time: &str) -> Self {
        let clock = TestClock(Arc::default());
        clock.set(time);
        clock
    }

    pub(crate) fn set(&self, time: &str) {
        let time: Timestamp = time.parse().unwrap();
        self.0.store(time.as_millisecond(), Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn clock(&self) -> Clock {
        let shared = Arc::clone(&self.0);
        Clock::from_fn(move || Timestamp::from_millisecond(shared.load(Ordering::Relaxed)).unwrap())
    }
}
