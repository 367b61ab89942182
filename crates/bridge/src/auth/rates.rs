//! Rate limits.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota};

use super::peer::Peer;
use crate::error::{Code, Error};
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

    fn quota(self) -> Quota {
        let every = self.every.max(Duration::from_nanos(1));
        Quota::with_period(every)
            .map_or_else(|| Quota::per_second(self.burst), |quota| quota.allow_burst(self.burst))
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
    address: DefaultKeyedRateLimiter<IpAddr>,
    total: DefaultDirectRateLimiter,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    failure_entries: DefaultKeyedRateLimiter<IpAddr>,
    failure_entries_total: DefaultDirectRateLimiter,
    pairing: DefaultKeyedRateLimiter<IpAddr>,
    pairing_total: DefaultDirectRateLimiter,
    clock: DefaultClock,
}

impl Limiter {
    pub(crate) fn new(rates: &Rates) -> Self {
        Limiter {
            address: DefaultKeyedRateLimiter::keyed(rates.address.quota()),
            total: DefaultDirectRateLimiter::direct(rates.total.quota()),
            failures: DefaultKeyedRateLimiter::keyed(rates.failures.quota()),
            failure_entries: DefaultKeyedRateLimiter::keyed(rates.failure_entries.quota()),
            failure_entries_total: DefaultDirectRateLimiter::direct(rates.failure_entries_total.quota()),
            pairing: DefaultKeyedRateLimiter::keyed(rates.pairing.quota()),
            pairing_total: DefaultDirectRateLimiter::direct(rates.pairing_total.quota()),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a request.
    pub(crate) fn request(&self, peer: &Peer) -> Result<(), Error> {
        self.each(&self.address, peer)?;
        self.all(&self.total)
    }

    /// Counts a wrong credential, and returns a rate limit error if there were too many.
    pub(crate) fn failure(&self, peer: &Peer) -> Result<(), Error> {
        self.each(&self.failures, peer)
    }

    /// True if a wrong credential from this address gets an entry in the audit log.
    pub(crate) fn logs_failure(&self, peer: &Peer) -> bool {
        self.each(&self.failure_entries, peer).and_then(|()| self.all(&self.failure_entries_total)).is_ok()
    }

    /// Counts a pairing attempt.
    pub(crate) fn pairing(&self, peer: &Peer) -> Result<(), Error> {
        self.each(&self.pairing, peer)?;
        self.all(&self.pairing_total)
    }

    fn each(&self, limiter: &DefaultKeyedRateLimiter<IpAddr>, peer: &Peer) -> Result<(), Error> {
        if limiter.len() > RATE_ADDRESSES_MAX {
            limiter.retain_recent();
        }
        limiter.check_key(&peer.group()).map_err(|until| refusal(until.wait_time_from(self.clock.now())))
    }

    fn all(&self, limiter: &DefaultDirectRateLimiter) -> Result<(), Error> {
        limiter.check().map_err(|until| refusal(until.wait_time_from(self.clock.now())))
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
