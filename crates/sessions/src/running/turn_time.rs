//! The wall-time budget of a session's turns.

use std::time::Duration;

use tokio::time::Instant;

/// The turn that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnTime {
    began: Instant,
    /// Milliseconds that the turns before it took. Its own are added with its result, which comes before its
    /// end.
    before_ms: u64,
}

impl TurnTime {
    pub(crate) fn new(began: Instant, before_ms: u64) -> Self {
        TurnTime { began, before_ms }
    }

    /// Milliseconds that all turns together have taken by now.
    pub(crate) fn taken_ms(self, now: Instant) -> u64 {
        let own_ms = u64::try_from(now.duration_since(self.began).as_millis()).unwrap_or(u64::MAX);
        self.before_ms.saturating_add(own_ms)
    }

    /// Deadline at which all turns together have taken this long.
    pub(crate) fn is_up_at(self, max_seconds: u64) -> Option<Instant> {
        let left_ms = max_seconds.saturating_mul(1000).saturating_sub(self.before_ms);
        self.began.checked_add(Duration::from_millis(left_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_from_the_beginning_of_the_turn_whatever_the_budget_was_then() {
        let began = Instant::now();
        let turn = TurnTime::new(began, 4_000);
        for (max_seconds, left_s) in [(10, 6), (4, 0), (1, 0), (3600, 3596)] {
            assert_eq!(turn.is_up_at(max_seconds), Some(began + Duration::from_secs(left_s)));
        }
        assert_eq!(turn.taken_ms(began + Duration::from_secs(6)), 10_000);
    }
}
