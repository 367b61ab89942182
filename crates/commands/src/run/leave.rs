//! Leaving a conversation with Ctrl-C.

use std::time::{Duration, Instant};

/// Time in which a second press leaves. One that comes later is a first one again.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// The presses of Ctrl-C at a prompt: two within a moment leave, without another key between them.
#[derive(Debug, Default)]
pub(super) struct LeavePresses {
    last: Option<Instant>,
}

impl LeavePresses {
    /// Notes a press. Returns true for the second one, which leaves.
    pub(super) fn press(&mut self, now: Instant) -> bool {
        let before = self.last.replace(now);
        before.is_some_and(|before| now.saturating_duration_since(before) <= LEAVE_WITHIN)
    }

    /// Forgets the press before, since the user stays.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c29_two_presses_within_a_moment_leave() {
        let (mut presses, start) = (LeavePresses::default(), Instant::now());
        let later = |seconds| start + Duration::from_secs(seconds);
        assert!(!presses.press(start));
        assert!(presses.press(later(1)));
        presses.reset();
        assert!(!presses.press(later(2)), "another key came between them");
        assert!(!presses.press(later(60)), "the press a minute ago was not meant for it");
        assert!(presses.press(later(64)));
    }
}
