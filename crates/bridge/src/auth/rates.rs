//! Rate limits.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tidings_api::Code;
use tidings_sessions::Error;

use super::peer::Peer;
use crate::limits::RATE_ADDRESSES_MAX;

/// A burst, and one more request after each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The number of requests that may come at once.
    pub burst: NonZeroU32,
    /// The period after which one more request is allowed.
    pub every: Duration,
}

/// The rate limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Requests from one address.
    pub address: Rate,
    /// Requests from all addresses.
    pub total: Rate,
    /// Wrong credentials from one address.
    pub failures: Rate,
    /// Audit log entries about wrong credentials from one address.
    pub failure_entries: Rate,
    /// Audit log entries about wrong credentials from all addresses.
    pub failure_entries_total: Rate,
    /// Pairing attempts from one address.
    pub pairing: Rate,
    /// Pairing attempts from all addresses.
    pub pairing_total: Rate,
}

impl Rate {
    /// A burst, and one more request after each period.
    pub const fn new(burst: NonZeroU32, every: Duration) -> Self {
        Rate { burst, every }
    }
}

impl Default for Rates {
    fn default() -> Self {
        let rate = |burst, every_ms| {
            Rate::new(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN), Duration::from_millis(every_ms))
        };
        Rates {
            // A page sends some dozens of requests when it opens, and scripts on this machine share an
            // address.
            address: rate(2_000, 2),
            total: rate(10_000, 1),
            failures: rate(20, 3_000),
            // The log is kept, so an attacker must not be able to fill the disk with it.
            failure_entries: rate(3, 60_000),
            failure_entries_total: rate(60, 10_000),
            pairing: rate(5, 12_000),
            pairing_total: rate(20, 3_000),
        }
    }
}

/// Counts requests and refuses those over the limit.
pub(crate) struct Limiter {
    address: Gate<IpAddr>,
    total: Gate<()>,
    failures: Gate<IpAddr>,
    failure_entries: Gate<IpAddr>,
    failure_entries_total: Gate<()>,
    pairing: Gate<IpAddr>,
    pairing_total: Gate<()>,
}

impl Limiter {
    pub(crate) fn new(rates: &Rates) -> Self {
        Limiter {
            address: Gate::new(rates.address),
            total: Gate::new(rates.total),
            failures: Gate::new(rates.failures),
            failure_entries: Gate::new(rates.failure_entries),
            failure_entries_total: Gate::new(rates.failure_entries_total),
            pairing: Gate::new(rates.pairing),
            pairing_total: Gate::new(rates.pairing_total),
        }
    }

    /// Counts a request.
    pub(crate) fn request(&self, peer: &Peer) -> Result<(), Error> {
        self.address.pass(peer.group())?;
        self.total.pass(())
    }

    /// Counts a wrong credential, and returns a rate limit error if there were too many.
    pub(crate) fn failure(&self, peer: &Peer) -> Result<(), Error> {
        self.failures.pass(peer.group())
    }

    /// True if a wrong credential from this address gets an entry in the audit log.
    pub(crate) fn logs_failure(&self, peer: &Peer) -> bool {
        self.failure_entries.pass(peer.group()).and_then(|()| self.failure_entries_total.pass(())).is_ok()
    }

    /// Counts a pairing attempt.
    pub(crate) fn pairing(&self, peer: &Peer) -> Result<(), Error> {
        self.pairing.pass(peer.group())?;
        self.pairing_total.pass(())
    }
}

/// The generic cell rate algorithm: each key has the moment at which its whole burst is free again. A request
/// moves it by one period, and is refused if it is further away than the burst lasts.
struct Gate<Key> {
    rate: Rate,
    started: Instant,
    free_at: Mutex<HashMap<Key, Duration>>,
}

impl<Key: Eq + Hash> Gate<Key> {
    fn new(rate: Rate) -> Self {
        Gate { rate, started: Instant::now(), free_at: Mutex::default() }
    }

    fn pass(&self, key: Key) -> Result<(), Error> {
        self.pass_at(key, self.started.elapsed()).map_err(refusal)
    }

    /// Counts a request at a time; otherwise returns the time to wait.
    fn pass_at(&self, key: Key, now: Duration) -> Result<(), Duration> {
        let every = self.rate.every.max(Duration::from_nanos(1));
        let ahead_max = every.saturating_mul(self.rate.burst.get() - 1);
        let mut free_at = self.free_at.lock();
        if free_at.len() > RATE_ADDRESSES_MAX {
            free_at.retain(|_, free_at| *free_at > now);
        }
        let free_at = free_at.entry(key).or_insert(now);
        let from = (*free_at).max(now);
        let wait = from.saturating_sub(now).saturating_sub(ahead_max);
        if !wait.is_zero() {
            return Err(wait);
        }
        *free_at = from + every;
        Ok(())
    }
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Limiter")
    }
}

fn refusal(wait: Duration) -> Error {
    let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
    Error::new(Code::TooMany, "Too many requests", "wait a moment").retry_after_ms(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(burst: u32, every_ms: u64) -> Gate<u8> {
        Gate::new(Rate::new(NonZeroU32::new(burst).unwrap(), Duration::from_millis(every_ms)))
    }

    #[test]
    fn a_burst_passes_and_then_one_request_after_each_period() {
        let (gate, ms) = (gate(3, 10), Duration::from_millis);
        let at = |now| gate.pass_at(1, ms(now));
        assert_eq!([at(0), at(0), at(0)], [Ok(()); 3]);
        assert_eq!(at(0), Err(ms(10)), "a refused request does not count");
        assert_eq!((at(4), at(10), at(10)), (Err(ms(6)), Ok(()), Err(ms(10))));
        assert_eq!(gate.pass_at(2, ms(10)), Ok(()), "another key");
        assert_eq!([at(1000), at(1000), at(1000)], [Ok(()); 3], "the burst is free again");
        assert_eq!(at(1000), Err(ms(10)), "and no more than that");
    }

    #[test]
    fn a_key_whose_burst_is_free_again_is_forgotten() {
        let gate: Gate<usize> = Gate::new(Rate::new(NonZeroU32::MIN, Duration::from_millis(1)));
        for key in 0..=RATE_ADDRESSES_MAX {
            gate.pass_at(key, Duration::ZERO).unwrap();
        }
        gate.pass_at(0, Duration::from_secs(1)).unwrap();
        assert_eq!(gate.free_at.lock().len(), 1);
    }
}
