use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Where the time of day comes from: grants expire by it, and deadlines are told in it.
///
/// It is the system's unless something else is handed in, which a test does to get the same run twice.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The clock of the system.
    pub fn system() -> Self {
        Clock(Arc::new(Timestamp::now))
    }

    /// Another clock.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    /// The time.
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
