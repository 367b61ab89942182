//! Days in a time zone, with all its clock changes.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::time::Millis;

/// Maps times to days in a time zone with all its clock changes.
///
/// Each day is looked up in the zone once and then stored with its start and end: there are far more times
/// than days.
#[derive(Debug)]
pub(super) struct Calendar {
    zone: TimeZone,
    /// Start, end and date, sorted.
    days: Vec<(i64, i64, Date)>,
    last: usize,
}

impl Calendar {
    pub(super) fn new(zone: TimeZone) -> Self {
        Calendar { zone, days: Vec::new(), last: 0 }
    }

    /// The day; `None` if the time is unknown or at the limit of the calendar.
    pub(super) fn day(&mut self, time: Millis) -> Option<Date> {
        let holds = |day: &&(i64, i64, Date)| (day.0..day.1).contains(&time.0);
        if let Some(day) = self.days.get(self.last).filter(holds) {
            return Some(day.2);
        }
        let at = self.days.partition_point(|day| day.1 <= time.0);
        if self.days.get(at).is_none_or(|day| !holds(&day)) {
            let zoned = time.timestamp()?.to_zoned(self.zone.clone());
            let start = zoned.start_of_day().ok()?.timestamp();
            let date = zoned.date();
            let end = date.tomorrow().ok()?.to_zoned(self.zone.clone()).ok()?.timestamp();
            self.days.insert(at, (start.as_millisecond(), end.as_millisecond(), date));
        }
        self.last = at;
        self.days.get(at).map(|day| day.2)
    }
}

/// The full hour at or before a time, in UTC.
pub(super) fn hour_floor(time: Timestamp) -> Timestamp {
    let past = time.as_second().rem_euclid(3600);
    Timestamp::from_second(time.as_second() - past).unwrap_or(time)
}

/// Five hours later.
pub(super) fn five_hours_after(time: Timestamp) -> Timestamp {
    time.checked_add(5.hours()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F135: a day is a day of the zone, also across a clock change, and where midnight was skipped.
    #[test]
    fn f135_days_are_those_of_the_zone() {
        let cases = [
            ("UTC", "2026-11-14T23:59:59.999Z", "2026-11-14"),
            ("UTC", "2026-11-15T00:00:00.000Z", "2026-11-15"),
            // The clock goes forward on 29 March 2026 and back on 25 October.
            ("Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-28"),
            ("Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T21:59:59.999Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T22:00:00.000Z", "2026-03-30"),
            ("Europe/Berlin", "2026-10-24T22:00:00.000Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T22:59:59.999Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T23:00:00.000Z", "2026-10-26"),
            // One moment on three days.
            ("Pacific/Kiritimati", "2026-06-30T10:30:00.000Z", "2026-07-01"),
            ("UTC", "2026-06-30T10:30:00.000Z", "2026-06-30"),
            ("Pacific/Niue", "2026-06-30T10:30:00.000Z", "2026-06-29"),
            // Midnight of 16 October 2016 was skipped in São Paulo.
            ("America/Sao_Paulo", "2016-10-16T02:59:59.999Z", "2016-10-15"),
            ("America/Sao_Paulo", "2016-10-16T03:00:00.000Z", "2016-10-16"),
            // All of 30 December 2011 was skipped in Samoa.
            ("Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-29"),
            ("Pacific/Apia", "2011-12-30T10:00:00.000Z", "2011-12-31"),
            // An offset of half an hour.
            ("Asia/Kolkata", "2026-11-14T18:29:59.999Z", "2026-11-14"),
            ("Asia/Kolkata", "2026-11-14T18:30:00.000Z", "2026-11-15"),
        ];
        for (zone, time, day) in cases {
            let mut calendar = Calendar::new(TimeZone::get(zone).unwrap());
            let time = Millis::read(Some(time.into()));
            // Twice: computed, and from memory.
            for _ in 0..2 {
                assert_eq!(
                    calendar.day(time).map(|date| date.to_string()).as_deref(),
                    Some(day),
                    "{zone} {time:?}"
                );
            }
        }
    }

    #[test]
    fn f135_what_is_remembered_agrees_with_the_zone() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let mut calendar = Calendar::new(zone.clone());
        // Steps that jump back and forth over two years.
        let mut ms = 1_740_000_000_000i64;
        for step in 0..2_000i64 {
            ms = 1_740_000_000_000 + (ms.wrapping_mul(31) + step * 7_919).rem_euclid(63_072_000_000);
            let expected = Timestamp::from_millisecond(ms).unwrap().to_zoned(zone.clone()).date();
            assert_eq!(calendar.day(Millis(ms)), Some(expected), "{ms}");
        }
    }
}
