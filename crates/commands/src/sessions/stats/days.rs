//! Activity per day: responses and cost.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::{ToSpan as _, Zoned};
use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};

/// Activity of one day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ActiveDay {
    pub(super) date: Date,
    pub(super) responses: u64,
    pub(super) usd: f64,
}

/// Number of days that are shown, a year of whole weeks.
const DAYS_MAX: i32 = 53 * 7;

/// The days from the first to the last with a response, at most a year, without gaps.
pub(super) fn active_days(ledger: &Ledger, now: &Zoned) -> Vec<ActiveDay> {
    let query = Query::new(CostBy::Day, now.time_zone().clone(), now.timestamp());
    let report = ledger.report(&Prices::built_in(), &query);
    let days = report.rows.iter().filter_map(|row| {
        let date = row.key.parse().ok()?;
        Some(ActiveDay { date, responses: row.total.responses, usd: row.total.cost.dollars() })
    });
    without_gaps(days)
}

fn without_gaps(days: impl Iterator<Item = ActiveDay>) -> Vec<ActiveDay> {
    let days: BTreeMap<Date, ActiveDay> = days.map(|day| (day.date, day)).collect();
    let (Some((&first, _)), Some((&last, _))) = (days.first_key_value(), days.last_key_value()) else {
        return Vec::new();
    };
    let earliest = last.checked_sub((DAYS_MAX - 1).days()).unwrap_or(first);
    first
        .max(earliest)
        .series(1.day())
        .take_while(|date| *date <= last)
        .map(|date| days.get(&date).copied().unwrap_or(ActiveDay { date, responses: 0, usd: 0.0 }))
        .collect()
}

/// Level of a day, from 0 for none to 4 for the busiest.
pub(super) fn level(responses: u64, most: u64) -> usize {
    match responses {
        0 => 0,
        responses => usize::try_from((responses * 4).div_ceil(most.max(1))).unwrap_or(4).clamp(1, 4),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Days from 2 November 2026, a Monday, with these numbers of responses; each response costs a quarter.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    pub(in super::super) fn days(responses: &[u64]) -> Vec<ActiveDay> {
        let first: Date = "2026-11-02".parse().unwrap();
        let day = |(date, responses): (Date, &u64)| ActiveDay {
            date,
            responses: *responses,
            usd: *responses as f64 / 4.0,
        };
        first.series(1.day()).zip(responses).map(day).collect()
    }

    #[test]
    fn days_without_a_response_are_filled_in() {
        let all = days(&[3, 0, 0, 5]);
        assert_eq!(without_gaps([all[3], all[0]].into_iter()), all);
        assert_eq!(without_gaps(std::iter::empty()), []);
        let far = ActiveDay { date: "2020-01-01".parse().unwrap(), responses: 1, usd: 0.0 };
        assert_eq!(without_gaps([far, all[0]].into_iter()).len(), 371);
    }

    #[test]
    fn levels_are_quarters_of_the_busiest_day() {
        assert_eq!([0, 1, 25, 26, 99, 100].map(|responses| level(responses, 100)), [0, 1, 1, 2, 4, 4]);
    }
}
