//! Times in a query: `2026-11-14` or `2026-11-14T09:30:00Z`.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use tidings_api::Code;
use tidings_sessions::Error;

/// The start of a day, or a time.
pub(super) fn since(text: &str, zone: &TimeZone) -> Result<Timestamp, Error> {
    parse(text, zone, 0)
}

/// The end of a day, or a time.
pub(super) fn until(text: &str, zone: &TimeZone) -> Result<Timestamp, Error> {
    parse(text, zone, 1)
}

fn parse(text: &str, zone: &TimeZone, days: i32) -> Result<Timestamp, Error> {
    let day = || text.parse::<Date>().ok()?.checked_add(days.days()).ok()?.to_zoned(zone.clone()).ok();
    text.parse().ok().or_else(|| day().map(|day| day.timestamp())).ok_or_else(|| {
        let hint = "write a day (2026-11-14) or a time (2026-11-14T09:30:00Z)";
        Error::new(Code::Invalid, format!("Not a time: `{text}`"), hint)
    })
}
