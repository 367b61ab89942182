//! Source of the current time, which tests replace.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Source of the current time, for the expiry of grants and for deadlines in events.
///
/// It is the system clock by default. Tests replace it to get reproducible runs.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The clock of the system.
    pub fn system() -> Self {
        Clock(Arc::new(Timestamp::now))
    }

    /// Creates a clock from a function.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
