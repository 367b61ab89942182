//! Parser of times on the command line: `2026-11-14`, `2026-11-14T09:30`, `7d`.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, Zoned};

use crate::error::CannotRun;

/// A point in time, or a whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct When {
    /// Start, inclusive.
    pub(crate) start: Timestamp,
    /// End, exclusive: the next day for a day, the same as `start` for a point in time.
    pub(crate) end: Timestamp,
}

/// Parses a time in the zone of `now`; ages are relative to `now`.
pub(crate) fn parse(text: &str, now: &Zoned) -> Result<When, CannotRun> {
    moment(text, now).ok_or_else(|| CannotRun {
        code: CannotRun::USAGE,
        message: format!("Not a time: `{text}`"),
        hint: "give a day (2026-11-14), a time (2026-11-14T09:30, or with Z for UTC) or an age (30m, 12h, 7d, 2w)",
    })
}

fn moment(text: &str, now: &Zoned) -> Option<When> {
    let at = |moment: Timestamp| When { start: moment, end: moment };
    if let Some(span) = ago(text) {
        return now.checked_sub(span).ok().map(|zoned| at(zoned.timestamp()));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(at(moment));
    }
    if text.contains(['T', ':']) {
        let local = text.parse::<DateTime>().ok()?;
        return local.to_zoned(now.time_zone().clone()).ok().map(|zoned| at(zoned.timestamp()));
    }
    let day = text.parse::<Date>().ok()?;
    let start = |day: Date| day.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp());
    Some(When { start: start(day)?, end: start(day.tomorrow().ok()?)? })
}

fn ago(text: &str) -> Option<Span> {
    let unit = text.chars().last()?;
    let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|count| *count >= 0)?;
    match unit {
        'm' => Span::new().try_minutes(count).ok(),
        'h' => Span::new().try_hours(count).ok(),
        'd' => Span::new().try_days(count).ok(),
        'w' => Span::new().try_weeks(count).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_ages_are_parsed() {
        let now: Zoned = "2026-11-15T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let check = |text: &str, start: &str, end: &str| {
            let when = parse(text, &now).unwrap();
            assert_eq!(
                (when.start.to_string(), when.end.to_string()),
                (start.to_owned(), end.to_owned()),
                "{text}"
            );
        };
        check("2026-11-14", "2026-11-13T23:00:00Z", "2026-11-14T23:00:00Z");
        check("2026-11-14T09:30", "2026-11-14T08:30:00Z", "2026-11-14T08:30:00Z");
        check("2026-11-14T09:30:00Z", "2026-11-14T09:30:00Z", "2026-11-14T09:30:00Z");
        check("30m", "2026-11-15T10:30:00Z", "2026-11-15T10:30:00Z");
        check("7d", "2026-11-08T11:00:00Z", "2026-11-08T11:00:00Z");
        // The clocks went back on 25 October.
        check("4w", "2026-10-18T10:00:00Z", "2026-10-18T10:00:00Z");
        for wrong in ["", "d", "-7d", "yesterday", "99999999999999999d", "2026-13-01", "7é"] {
            assert!(parse(wrong, &now).is_err(), "{wrong}");
        }
    }
}
