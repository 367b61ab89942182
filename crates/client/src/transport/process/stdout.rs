//! The output of a child, read in batches during bursts.

use std::io;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStdout;
use tokio::time::Instant;

use crate::limits::{BURST_DELTAS, BURST_GAP, BURST_REST};

/// The size of a read in bytes.
pub(super) const CHUNK_BYTES: usize = 64 << 10;

/// The output of a child.
#[derive(Debug)]
pub(super) struct Stdout {
    #[cfg(unix)]
    pipe: Option<tokio::net::unix::pipe::Receiver>,
    #[cfg(not(unix))]
    pipe: Option<ChildStdout>,
    pace: Pace,
}

impl Stdout {
    pub(super) fn new(pipe: ChildStdout) -> io::Result<Self> {
        #[cfg(unix)]
        let pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(pipe.into_owned_fd()?)?;
        Ok(Stdout { pipe: Some(pipe), pace: Pace::default() })
    }

    /// The next bytes; 0 at the end.
    pub(super) async fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.pace.burst {
            self.rest().await?;
        }
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let count = pipe.read(chunk).await?;
        self.pace.note(Instant::now(), count);
        Ok(count)
    }

    /// Waits while deltas accumulate. The pipe is deregistered from the runtime meanwhile, since it would
    /// wake up for each.
    #[cfg(unix)]
    async fn rest(&mut self) -> io::Result<()> {
        use tokio::net::unix::pipe::Receiver;
        let pipe = self.pipe.take().ok_or(io::ErrorKind::BrokenPipe)?.into_nonblocking_fd()?;
        tokio::time::sleep(BURST_REST).await;
        self.pipe = Some(Receiver::from_owned_fd_unchecked(pipe)?);
        self.pace.last = Some(Instant::now());
        Ok(())
    }

    #[cfg(not(unix))]
    async fn rest(&mut self) -> io::Result<()> {
        tokio::time::sleep(BURST_REST).await;
        self.pace.last = Some(Instant::now());
        Ok(())
    }
}

/// Distinguishes a burst of small deltas from the pace of a model.
///
/// Waking up for each delta of a burst costs more than reading it. During a burst, short rests let deltas
/// accumulate; at the pace of a model there are no rests, and nothing is delayed.
#[derive(Debug, Default)]
struct Pace {
    last: Option<Instant>,
    quick: u32,
    burst: bool,
}

impl Pace {
    /// Records a read of this many bytes.
    fn note(&mut self, now: Instant, bytes: usize) {
        let quick = self.last.is_some_and(|last| now.duration_since(last) < BURST_GAP);
        // A read after a rest is large, and gives no information.
        let small = u32::from(bytes < CHUNK_BYTES / 2);
        self.quick = if quick { self.quick.saturating_add(small) } else { 0 };
        self.last = Some(now);
        // A full chunk means that more is available already.
        self.burst = self.quick >= BURST_DELTAS && bytes < CHUNK_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Only small deltas in quick succession are a burst, and never the first of them.
    #[test]
    fn only_many_small_deltas_in_a_row_are_delayed() {
        let rests = |gap: Duration, bytes: usize| {
            let mut pace = Pace::default();
            let mut now = Instant::now();
            let mut rests = 0;
            for _ in 0..100 {
                now += gap;
                pace.note(now, bytes);
                if pace.burst {
                    rests += 1;
                    now += BURST_REST;
                    pace.last = Some(now);
                }
            }
            rests
        };
        assert_eq!(rests(Duration::from_micros(20), 200), 100 - 32);
        assert_eq!(rests(Duration::from_millis(5), 200), 0, "the pace of a model");
        assert_eq!(rests(Duration::from_micros(20), CHUNK_BYTES), 0, "large reads are efficient");
    }
}
