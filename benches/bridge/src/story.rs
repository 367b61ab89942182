//! What an agent is asked to tell: so many pieces of text, so far apart, each with the time in it.

use std::time::Duration;

use crate::Failure;
use crate::clock::now_ns;

/// A prompt, as both ends understand it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Story {
    pub(crate) pieces: usize,
    pub(crate) gap_us: u64,
}

impl Story {
    /// The last one that a text asks for; one piece if it asks for none.
    pub(crate) fn asked(text: &str) -> Self {
        let number = |name: &str| {
            let from = text.rfind(name)? + name.len();
            let digits =
                text[from..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len() - from);
            text[from..from + digits].parse().ok()
        };
        Story {
            pieces: number("pieces=").and_then(|pieces| usize::try_from(pieces).ok()).unwrap_or(1),
            gap_us: number("gap_us=").unwrap_or(0),
        }
    }

    /// Tells it: says each piece when its time has come.
    pub(crate) fn tell(self, mut say: impl FnMut(&str) -> Result<(), Failure>) -> Result<(), Failure> {
        let gap_ns = self.gap_us * 1000;
        let mut next = now_ns() + gap_ns;
        for _ in 0..self.pieces {
            let wait = next.saturating_sub(now_ns());
            if wait > 0 {
                std::thread::sleep(Duration::from_nanos(wait));
            }
            next += gap_ns;
            say(&format!("@{} and so on ", now_ns()))?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Story {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "pieces={} gap_us={}", self.pieces, self.gap_us)
    }
}
