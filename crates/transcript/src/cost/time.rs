//! The time of a line: milliseconds since 1970, or unknown.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Time of a line: milliseconds since 1970, or unknown. Unknown times sort last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Millis(pub(super) i64);

impl Millis {
    pub(super) const UNKNOWN: Millis = Millis(i64::MAX);

    /// Parses the time of a line: ISO 8601, or milliseconds as a number.
    pub(super) fn read(written: Option<Cow<'_, str>>) -> Self {
        let Some(written) = written else { return Millis::UNKNOWN };
        let time = canonical(written.as_bytes()).or_else(|| any(&written));
        // Times outside of the calendar count as unknown.
        time.filter(|ms| Timestamp::from_millisecond(*ms).is_ok()).map_or(Millis::UNKNOWN, Millis)
    }

    pub(super) fn timestamp(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.0).ok().filter(|_| self != Millis::UNKNOWN)
    }
}

/// The form that the CLI writes on every line: `2026-11-14T09:30:00.000Z`.
fn canonical(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    if (text[4], text[7], text[10], text[13], text[16], text[19], text[23])
        != (b'-', b'-', b'T', b':', b':', b'.', b'Z')
    {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0i64, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days_of = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let at = usize::try_from(month).ok()?.checked_sub(1)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = days_of.get(at)? + i64::from(leap && month == 2);
    if !(1..=last).contains(&day) || hour > 23 || minute > 59 || second > 59 || year < 1 {
        return None;
    }
    let past = year - 1;
    let days = past * 365 + past / 4 - past / 100 + past / 400 - 719_162
        + before.get(at)?
        + i64::from(leap && month > 2)
        + day
        - 1;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20, 23)?)
}

/// Any other form; a time without a zone is UTC, like all others in these files.
fn any(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    }
    #[expect(clippy::cast_possible_truncation, reason = "a double out of range becomes the nearest integer")]
    text.parse::<f64>().ok().filter(|ms| ms.is_finite()).map(|ms| ms as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Millis {
        Millis::read(Some(Cow::Borrowed(text)))
    }

    /// F138: a missing, odd or absurd time is unknown.
    #[test]
    fn f138_odd_times_are_unknown_and_no_error() {
        for odd in
            ["", "yesterday", "2026-02-30T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "1e300", "-", "NaN"]
        {
            assert_eq!(read(odd), Millis::UNKNOWN, "{odd}");
        }
        assert_eq!(Millis::read(None), Millis::UNKNOWN);
        assert_eq!(Millis::UNKNOWN.timestamp(), None);
    }

    #[test]
    fn every_way_to_write_one_moment_is_that_moment() {
        for text in [
            "2026-11-14T09:30:00.000Z",
            "2026-11-14T09:30:00Z",
            "2026-11-14T09:30:00.000000Z",
            "2026-11-14T11:30:00+02:00",
            "2026-11-14T09:30:00",
            "1794648600000",
            "1.7946486e12",
        ] {
            assert_eq!(read(text), Millis(1_794_648_600_000), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_agrees_with_the_library(ms in -62_135_596_800_000i64..253_402_300_799_999) {
            let text = format!("{:.3}", Timestamp::from_millisecond(ms).unwrap());
            prop_assert_eq!(text.len(), 24);
            prop_assert_eq!(canonical(text.as_bytes()), Some(ms));
        }
    }
}
