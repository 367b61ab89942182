//! Billing blocks of five hours.

use jiff::Timestamp;

use super::calendar::{five_hours_after, hour_floor};

/// A billing block: five hours of work, as subscriptions count them.
///
/// A block begins at the full hour (UTC) of the first response outside of any block, and lasts five hours;
/// the next response after that begins another. The block that contains `now` is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillingBlock {
    /// The full hour at which it begins.
    pub start: Timestamp,
    /// Its end, five hours later (exclusive).
    pub end: Timestamp,
    /// True for the block that contains `now`.
    pub active: bool,
}

/// The block that is active now, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveBlock {
    /// The active block.
    Block(BillingBlock),
    /// No block is active.
    None,
    /// Undetermined, because there was no pause in the period that was read: read an earlier period.
    Unknown,
}

impl BillingBlock {
    /// The blocks of responses at these times, in order.
    pub(super) fn of(mut times: Vec<Timestamp>, now: Timestamp) -> Vec<BillingBlock> {
        times.sort_unstable();
        let mut blocks: Vec<BillingBlock> = Vec::new();
        for time in times {
            if blocks.last().is_none_or(|last| time >= last.end) {
                let start = hour_floor(time);
                let end = five_hours_after(start);
                blocks.push(BillingBlock { start, end, active: (start..end).contains(&now) });
            }
        }
        blocks
    }

    /// The block that is active at `now`, from the times of responses. Those before `since` may be missing.
    pub(super) fn running(mut times: Vec<Timestamp>, since: Timestamp, now: Timestamp) -> ActiveBlock {
        times.retain(|time| (since..=now).contains(time));
        times.sort_unstable();
        // After a pause of five hours a new block begins, whatever came before.
        let mut before = since;
        let mut begin = (since == Timestamp::MIN).then_some(0);
        for (at, time) in times.iter().enumerate() {
            if five_hours_after(before) <= *time {
                begin = Some(at);
            }
            before = *time;
        }
        match begin {
            _ if five_hours_after(before) <= now => ActiveBlock::None,
            None => ActiveBlock::Unknown,
            Some(at) => {
                let block = BillingBlock::of(times.split_off(at), now).into_iter().find(|block| block.active);
                block.map_or(ActiveBlock::None, ActiveBlock::Block)
            }
        }
    }

    /// The block that contains a time.
    pub(super) fn at(blocks: &[BillingBlock], time: Timestamp) -> Option<&BillingBlock> {
        let at = blocks.partition_point(|block| block.end <= time);
        blocks.get(at).filter(|block| block.start <= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_lasts_five_hours_from_the_hour_of_its_first_response() {
        let times = ["09:59", "10:00", "13:59", "14:00", "18:59", "23:30"];
        let times: Vec<Timestamp> =
            times.iter().map(|time| format!("2026-11-14T{time}:00Z").parse().unwrap()).collect();
        let now = "2026-11-15T03:59:59Z".parse().unwrap();
        let blocks = BillingBlock::of(times.iter().rev().copied().collect(), now);
        let shown: Vec<String> =
            blocks.iter().map(|block| format!("{} {} {}", block.start, block.end, block.active)).collect();
        assert_eq!(
            shown,
            [
                "2026-11-14T09:00:00Z 2026-11-14T14:00:00Z false",
                "2026-11-14T14:00:00Z 2026-11-14T19:00:00Z false",
                "2026-11-14T23:00:00Z 2026-11-15T04:00:00Z true",
            ]
        );
        for time in times {
            assert!(
                BillingBlock::at(&blocks, time).is_some_and(|block| (block.start..block.end).contains(&time))
            );
        }
        assert_eq!(BillingBlock::at(&blocks, "2026-11-14T20:00:00Z".parse().unwrap()), None);
    }

    #[test]
    fn the_running_block_is_known_from_the_last_long_pause_on() {
        let time = |text: &str| -> Timestamp { format!("2026-11-{text}:00Z").parse().unwrap() };
        let all = ["13T01:30", "13T05:30", "13T09:30", "13T20:10", "14T00:30", "14T02:00"].map(time).to_vec();
        let now = time("14T03:30");
        let whole = BillingBlock::of(all.clone(), now).into_iter().find(|block| block.active).unwrap();
        assert_eq!(whole.start, time("14T02:00"));
        for (since, expected) in [
            ("12T00:00", ActiveBlock::Block(whole)),
            ("13T02:00", ActiveBlock::Block(whole)),
            // The pause before 20:10 is visible.
            ("13T10:00", ActiveBlock::Block(whole)),
            ("13T15:10", ActiveBlock::Block(whole)),
            // It is unknown if there was a pause.
            ("13T15:11", ActiveBlock::Unknown),
            ("14T01:00", ActiveBlock::Unknown),
        ] {
            assert_eq!(BillingBlock::running(all.clone(), time(since), now), expected, "{since}");
        }
        assert_eq!(BillingBlock::running(all.clone(), Timestamp::MIN, now), ActiveBlock::Block(whole));
        assert_eq!(BillingBlock::running(all, time("14T01:00"), time("14T07:00")), ActiveBlock::None);
        assert_eq!(BillingBlock::running(Vec::new(), Timestamp::MIN, now), ActiveBlock::None);
        // Clocks differ: a response from the future does not begin a block yet.
        let ahead = ["14T02:00", "14T09:00"].map(time).to_vec();
        assert_eq!(BillingBlock::running(ahead, time("13T00:00"), now), ActiveBlock::Block(whole));
    }
}
