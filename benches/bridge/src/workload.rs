//! The work of an agent: a number of deltas at a pace, each with the time in it.

use std::time::Duration;

use crate::Failure;
use crate::clock::now_ns;

/// A workload, whose text form is the prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) deltas: usize,
    pub(crate) gap_us: u64,
}

impl Workload {
    /// The last workload in a text; one delta if there is none.
    pub(crate) fn asked(text: &str) -> Self {
        let number = |name: &str| {
            let from = text.rfind(name)? + name.len();
            let digits =
                text[from..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len() - from);
            text[from..from + digits].parse().ok()
        };
        Workload {
            deltas: number("deltas=").and_then(|deltas| usize::try_from(deltas).ok()).unwrap_or(1),
            gap_us: number("gap_us=").unwrap_or(0),
        }
    }

    /// Calls `write` with each delta when it is due.
    pub(crate) fn run(self, mut write: impl FnMut(&str) -> Result<(), Failure>) -> Result<(), Failure> {
        let gap_ns = self.gap_us * 1000;
        let mut next = now_ns() + gap_ns;
        for _ in 0..self.deltas {
            let wait = next.saturating_sub(now_ns());
            if wait > 0 {
                std::thread::sleep(Duration::from_nanos(wait));
            }
            next += gap_ns;
            write(&format!("@{} and so on ", now_ns()))?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Workload {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "deltas={} gap_us={}", self.deltas, self.gap_us)
    }
}
