//! The clock that the agent and the reader share.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since a moment that is the same for all processes of this machine.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The times in a text, each as `@` and digits.
pub(crate) fn times(text: &[u8]) -> impl Iterator<Item = u64> + '_ {
    memchr::memchr_iter(b'@', text).filter_map(|at| {
        let digits = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit());
        let time = digits.fold(0_u64, |time, digit| time * 10 + u64::from(digit - b'0'));
        // Addresses contain an `@` without a time, too.
        (time > 0).then_some(time)
    })
}
