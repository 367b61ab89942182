//! Pairing codes: one-time credentials for new devices.

use std::time::Instant;

use subtle::Choice;

use super::devices::DevicePlan;
use super::secret::{Fingerprint, Random, Secret};
use crate::error::{Code, Error};
use crate::limits::{CODE_LIFETIME, CODE_TRIES_MAX, CODES_MAX};

/// The valid codes. They are never stored on disk.
#[derive(Debug, Default)]
pub(crate) struct Codes(Vec<LiveCode>);

#[derive(Debug)]
struct LiveCode {
    code: Fingerprint,
    until: Instant,
    wrong: u32,
    plan: DevicePlan,
}

impl Codes {
    /// Creates a code for a device with these properties.
    pub(crate) fn make(&mut self, plan: DevicePlan, now: Instant, random: &Random) -> Result<Secret, Error> {
        self.remove_expired(now);
        if self.0.len() >= CODES_MAX {
            let ms = u64::try_from(CODE_LIFETIME.as_millis()).unwrap_or(u64::MAX);
            return Err(Error::new(Code::TooMany, "Too many pairing codes are open", "wait a minute")
                .retry_after_ms(ms));
        }
        let code = random.code()?;
        let print = Fingerprint::of_code(code.reveal());
        self.0.push(LiveCode { code: print, until: now + CODE_LIFETIME, wrong: 0, plan });
        Ok(code)
    }

    /// Uses up a code. A wrong one counts against all valid codes, since it could be meant for any of them.
    pub(crate) fn take(&mut self, typed: &str, now: Instant) -> Result<DevicePlan, Error> {
        self.remove_expired(now);
        let typed = Fingerprint::of_code(typed);
        let same: Vec<Choice> = self.0.iter().map(|live| live.code.same(&typed)).collect();
        if let Some(place) = same.into_iter().position(bool::from) {
            return Ok(self.0.swap_remove(place).plan);
        }
        for live in &mut self.0 {
            live.wrong += 1;
        }
        self.0.retain(|live| live.wrong < CODE_TRIES_MAX);
        let hint = "make a new code with `tidings pair`; each is valid for a minute and for one device";
        Err(Error::new(Code::Unauthorized, "The code is wrong, used or expired", hint))
    }

    fn remove_expired(&mut self, now: Instant) {
        self.0.retain(|live| now < live.until);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn t5_a_code_is_good_for_a_minute() {
        let (mut codes, random, start) = (Codes::default(), Random::system(), Instant::now());
        let plan = || DevicePlan::new(tidings_protocol::api::NewDevice::default()).unwrap();
        let early = codes.make(plan(), start, &random).unwrap();
        let late = codes.make(plan(), start, &random).unwrap();
        assert!(codes.take(early.reveal(), start + Duration::from_secs(59)).is_ok());
        assert!(codes.take(late.reveal(), start + Duration::from_secs(60)).is_err());
        assert!(codes.0.is_empty());
    }
}
