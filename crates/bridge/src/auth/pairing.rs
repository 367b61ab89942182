//! Pairing codes: one-time credentials for new devices.
//!
//! In a fleet every server accepts a code of any other. The shared state decides then which of them uses it.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use subtle::Choice;
use tidings_api::{Code, NewDevice};
use tidings_sessions::Error;
use tidings_sessions::secret::{Fingerprint, Random, Secret};

use super::devices::DevicePlan;
use crate::limits::{CODE_LIFETIME, CODE_TRIES_MAX, CODES_MAX};

/// Codes that all servers of a fleet know.
pub(crate) trait SharedCodes: Send + Sync + fmt::Debug {
    /// Uses up a code for a device of this server, on behalf of all. None if there is no such code.
    fn take<'a>(
        &'a self,
        code: &'a Fingerprint,
        device: &'a str,
    ) -> BoxFuture<'a, Result<Option<TakenCode>, Error>>;
}

/// A code of the fleet that was used up here.
#[derive(Debug)]
pub(crate) struct TakenCode {
    /// The word that stands for it in the shared state.
    pub(crate) token: String,
    /// The properties that its maker gave the new device.
    pub(crate) wanted: NewDevice,
}

/// A code of this server, for the fleet.
#[derive(Debug, Clone)]
pub(crate) struct OpenCode {
    pub(crate) code: Fingerprint,
    pub(crate) wanted: NewDevice,
    pub(crate) left: Duration,
}

/// The valid codes of this server. They are never stored on disk.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    live: Vec<LiveCode>,
    /// Times of wrong codes, for those of other servers: they are not listed here.
    wrong: VecDeque<Instant>,
}

#[derive(Debug)]
struct LiveCode {
    code: Fingerprint,
    until: Instant,
    wrong: u32,
    plan: DevicePlan,
    /// True if other servers may know it: only the shared state can use it up then.
    is_shared: bool,
}

/// A typed code, as far as this server knows.
#[derive(Debug)]
pub(crate) enum FoundCode {
    /// It was used up.
    Taken(DevicePlan),
    /// The fleet knows it, or may know it.
    Shared,
    /// It is none of this server's codes.
    Unknown,
}

impl Codes {
    /// Creates a code for a device with these properties.
    pub(crate) fn make(&mut self, plan: DevicePlan, now: Instant, random: &Random) -> Result<Secret, Error> {
        self.remove_expired(now);
        if self.live.len() >= CODES_MAX {
            let ms = u64::try_from(CODE_LIFETIME.as_millis()).unwrap_or(u64::MAX);
            return Err(Error::new(Code::TooMany, "Too many pairing codes are open", "wait a minute")
                .retry_after_ms(ms));
        }
        let code = random.code()?;
        let print = Fingerprint::of_code(code.reveal());
        let until = now + CODE_LIFETIME;
        self.live.push(LiveCode { code: print, until, wrong: 0, plan, is_shared: false });
        Ok(code)
    }

    /// Looks a code up, and uses it up if only this server knows it.
    pub(crate) fn find(&mut self, typed: &Fingerprint, now: Instant) -> FoundCode {
        self.remove_expired(now);
        let same: Vec<Choice> = self.live.iter().map(|live| live.code.same(typed)).collect();
        match same.into_iter().position(bool::from) {
            Some(place) if self.live[place].is_shared => FoundCode::Shared,
            Some(place) => FoundCode::Taken(self.live.swap_remove(place).plan),
            None => FoundCode::Unknown,
        }
    }

    /// Removes a code that was used up in the shared state.
    pub(crate) fn remove(&mut self, code: &Fingerprint) {
        self.live.retain(|live| !bool::from(live.code.same(code)));
    }

    /// True if codes of other servers may be tried here: a few guesses are allowed within their lifetime.
    pub(crate) fn may_try(&mut self, now: Instant) -> bool {
        self.remove_expired(now);
        self.wrong.len() < CODE_TRIES_MAX as usize
    }

    /// Counts a wrong code against all valid codes, since it could be meant for any of them.
    pub(crate) fn refuse(&mut self, now: Instant) -> Error {
        self.wrong.push_back(now);
        let surplus = self.wrong.len().saturating_sub(CODE_TRIES_MAX as usize);
        self.wrong.drain(..surplus);
        for live in &mut self.live {
            live.wrong += 1;
        }
        self.live.retain(|live| live.wrong < CODE_TRIES_MAX);
        let hint = "make a new code with `tidings pair`; each is valid for a minute and for one device";
        Error::new(Code::Unauthorized, "The code is wrong, used or expired", hint)
    }

    /// The codes that the fleet does not know yet. From here on it may know them.
    pub(crate) fn share(&mut self, now: Instant) -> Vec<OpenCode> {
        self.remove_expired(now);
        let open = self.live.iter_mut().filter(|live| !live.is_shared).map(|live| {
            live.is_shared = true;
            OpenCode { code: live.code, wanted: live.plan.wanted(), left: live.until - now }
        });
        open.collect()
    }

    /// Notes that the fleet does not know a code after all.
    pub(crate) fn keep_here(&mut self, code: &Fingerprint) {
        for live in self.live.iter_mut().filter(|live| bool::from(live.code.same(code))) {
            live.is_shared = false;
        }
    }

    fn remove_expired(&mut self, now: Instant) {
        self.live.retain(|live| now < live.until);
        self.wrong.retain(|at| now.duration_since(*at) < CODE_LIFETIME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> DevicePlan {
        DevicePlan::new(NewDevice::default()).unwrap()
    }

    fn found(codes: &mut Codes, code: &Secret, now: Instant) -> FoundCode {
        codes.find(&Fingerprint::of_code(code.reveal()), now)
    }

    #[test]
    fn t5_a_code_is_good_for_a_minute() {
        let (mut codes, random, start) = (Codes::default(), Random::system(), Instant::now());
        let early = codes.make(plan(), start, &random).unwrap();
        let late = codes.make(plan(), start, &random).unwrap();
        let in_time = found(&mut codes, &early, start + Duration::from_secs(59));
        assert!(matches!(in_time, FoundCode::Taken(_)));
        assert!(matches!(found(&mut codes, &late, start + Duration::from_secs(60)), FoundCode::Unknown));
        assert!(codes.live.is_empty());
    }

    /// Two servers could use it otherwise.
    #[test]
    fn a_code_that_the_fleet_may_know_is_not_used_up_here_alone() {
        let (mut codes, random, now) = (Codes::default(), Random::system(), Instant::now());
        let code = codes.make(plan(), now, &random).unwrap();
        let open = codes.share(now);
        assert_eq!((open.len(), codes.share(now).len()), (1, 0));
        assert!(matches!(found(&mut codes, &code, now), FoundCode::Shared));
        codes.keep_here(&open[0].code);
        assert!(matches!(found(&mut codes, &code, now), FoundCode::Taken(_)));
    }

    #[test]
    fn five_wrong_codes_end_the_tries_for_codes_of_other_servers_for_a_minute() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        for _ in 0..CODE_TRIES_MAX {
            assert!(codes.may_try(now));
            codes.refuse(now);
        }
        assert!(!codes.may_try(now + Duration::from_secs(59)));
        assert!(codes.may_try(now + Duration::from_secs(60)));
    }
}
