//! Parsing of ISO 8601 times.

use jiff::civil::{Date, DateTime, Time};

/// Milliseconds since 1970 of an ISO 8601 date and time, extended (`2025-01-27T10:00:00Z`) or basic
/// (`20250127T100000Z`); UTC if it has no zone. `None` for anything else.
pub(crate) fn millis(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let date = match date.len() {
        10 if date.as_bytes()[4] == b'-' && date.as_bytes()[7] == b'-' => {
            day(date.get(..4)?, date.get(5..7)?, date.get(8..)?)
        }
        8 => day(date.get(..4)?, date.get(4..6)?, date.get(6..)?),
        _ => None,
    }?;
    let (clock, offset_minutes) = zone(rest)?;
    let (whole, fraction) = match clock.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (clock, None),
    };
    let (hour, minute, second) = match whole.len() {
        8 if whole.as_bytes()[2] == b':' && whole.as_bytes()[5] == b':' => {
            (whole.get(..2)?, whole.get(3..5)?, whole.get(6..)?)
        }
        6 => (whole.get(..2)?, whole.get(2..4)?, whole.get(4..)?),
        5 if whole.as_bytes()[2] == b':' => (whole.get(..2)?, whole.get(3..)?, "00"),
        4 => (whole.get(..2)?, whole.get(2..)?, "00"),
        _ => return None,
    };
    // A leap second reads as the second before it; the order of lines does not depend on it.
    let second = number(second)?.min(if second == "60" { 59 } else { i16::MAX });
    let time = Time::new(
        number(hour)?.try_into().ok()?,
        number(minute)?.try_into().ok()?,
        second.try_into().ok()?,
        0,
    )
    .ok()?;
    let since = DateTime::from_parts(date, time)
        - DateTime::from_parts(Date::new(1970, 1, 1).ok()?, Time::midnight());
    let seconds = i64::from(since.get_days()) * 86_400
        + i64::from(since.get_hours()) * 3600
        + since.get_minutes() * 60
        + since.get_seconds()
        - offset_minutes * 60;
    Some(seconds * 1000 + fraction.map_or(Some(0), fraction_millis)?)
}

fn day(year: &str, month: &str, day: &str) -> Option<Date> {
    Date::new(number(year)?, number(month)?.try_into().ok()?, number(day)?.try_into().ok()?).ok()
}

/// The time without its zone, and the zone's offset from UTC in minutes.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (clock, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = match offset.len() {
        3 => (&offset[1..], "00"),
        5 => (offset.get(1..3)?, offset.get(3..)?),
        6 if offset.as_bytes()[3] == b':' => (offset.get(1..3)?, offset.get(4..)?),
        _ => return None,
    };
    let (hours, minutes) = (i64::from(number(hours)?), i64::from(number(minutes)?));
    (hours < 24 && minutes < 60).then_some((clock, sign * (hours * 60 + minutes)))
}

fn fraction_millis(digits: &str) -> Option<i64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let first: String = digits.chars().chain("000".chars()).take(3).collect();
    first.parse().ok()
}

fn number(digits: &str) -> Option<i16> {
    // `parse` alone would accept a sign.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f138_what_is_iso_8601_and_what_is_not() {
        let ten = Some(1_737_972_000_000);
        for (text, expected) in [
            ("2025-01-27T10:00:00Z", ten),
            ("2025-01-27T10:00:00.000Z", ten),
            ("2025-01-27T10:00:00,123456789Z", ten.map(|at| at + 123)),
            ("2025-01-27T10:00Z", ten),
            ("2025-01-27T10:00:00", ten),
            ("2025-01-27T11:30:00+01:30", ten),
            ("2025-01-27T09:00:00-01", ten),
            ("20250127T100000Z", ten),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_799_000)),
            ("9999-12-31T23:59:59Z", Some(253_402_300_799_000)),
            ("2025-01-27", None),
            ("2025-01-27 10:00:00Z", None),
            ("2025-02-29T10:00:00Z", None),
            ("2025-13-01T10:00:00Z", None),
            ("2025-01-27T24:01:00Z", None),
            ("2025-01-27T10:61:00Z", None),
            ("2025-01-27T10:00:00+25:00", None),
            ("2025-01-27T10:00:00.Z", None),
            ("+025-01-27T10:00:00Z", None),
            ("2025-01-27T1é:00:00Z", None),
            ("1737972000", None),
            ("yesterday at Ten", None),
            ("T", None),
            ("", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }
}
