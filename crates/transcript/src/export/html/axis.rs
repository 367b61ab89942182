//! Maps times to positions on a line. Long pauses are drawn short, since sessions stay open overnight.

use jiff::Timestamp;

/// A piecewise linear map from times to positions.
pub(super) struct Axis {
    /// Times in milliseconds and their positions, both increasing.
    points: Vec<(i64, f64)>,
    /// Shortened pauses: start, end, and duration in milliseconds.
    pub(super) gaps: Vec<(f64, f64, i64)>,
}

/// Shortest gap between entries that counts as a pause.
const PAUSE_MS: i64 = 15 * 60 * 1000;

impl Axis {
    /// An axis over all these times; `None` if there are too few of them.
    pub(super) fn new(mut times: Vec<i64>, from: f64, to: f64) -> Option<Self> {
        times.sort_unstable();
        times.dedup();
        let (first, last) = (*times.first()?, *times.last()?);
        if first == last {
            return None;
        }
        let steps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let active: i64 = steps.iter().map(|step| (*step).min(PAUSE_MS)).sum();
        // Wide enough to be visible, and not wider.
        let pause = (active / 24).max(1);
        let width = |step: i64| if step > PAUSE_MS { pause } else { step };
        let total: i64 = steps.iter().map(|step| width(*step)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a pixel is far wider than what is lost")]
        let scale = (to - from) / total as f64;
        let mut points = vec![(first, from)];
        let mut gaps = Vec::new();
        let mut passed = 0;
        for (step, time) in steps.iter().zip(&times[1..]) {
            let begin = points.last().map_or(from, |(_, place)| *place);
            passed += width(*step);
            #[expect(clippy::cast_precision_loss, reason = "a pixel is far wider than what is lost")]
            let place = from + passed as f64 * scale;
            if *step > PAUSE_MS {
                gaps.push((begin, place, *step));
            }
            points.push((*time, place));
        }
        Some(Axis { points, gaps })
    }

    /// The position of a time.
    pub(super) fn place(&self, at: Timestamp) -> f64 {
        let at = at.as_millisecond();
        let after = self.points.partition_point(|(time, _)| *time <= at);
        match (after.checked_sub(1).map(|index| self.points[index]), self.points.get(after).copied()) {
            (None, Some((_, place))) | (Some((_, place)), None) => place,
            (Some((from, begin)), Some((to, end))) => {
                #[expect(clippy::cast_precision_loss, reason = "a pixel is far wider than what is lost")]
                let part = (at - from) as f64 / (to - from) as f64;
                begin + part * (end - begin)
            }
            (None, None) => 0.0,
        }
    }

    /// The time at a position.
    pub(super) fn time(&self, place: f64) -> Timestamp {
        let after = self.points.partition_point(|(_, other)| *other <= place).min(self.points.len() - 1);
        let (to, end) = self.points[after];
        let (from, begin) = self.points[after.saturating_sub(1)];
        let part = if end > begin { ((place - begin) / (end - begin)).clamp(0.0, 1.0) } else { 0.0 };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "labels show minutes"
        )]
        let time = from + ((to - from) as f64 * part) as i64;
        Timestamp::from_millisecond(time).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_night_is_drawn_short() {
        let hour = 3_600_000;
        let axis = Axis::new(vec![0, 600_000, 8 * hour, 8 * hour + 600_000], 0.0, 1000.0).unwrap();
        let at = |time| axis.place(Timestamp::from_millisecond(time).unwrap());
        assert_eq!(axis.gaps.len(), 1);
        assert!(at(600_000) > 450.0, "the first ten minutes take {}", at(600_000));
        assert!(at(8 * hour) - at(600_000) < 100.0);
        assert!(Axis::new(vec![5, 5], 0.0, 1.0).is_none());
    }

    proptest! {
        #[test]
        fn time_only_goes_on(times in prop::collection::vec(0i64..1_000_000_000_000, 2..50)) {
            if let Some(axis) = Axis::new(times.clone(), 10.0, 990.0) {
                let mut sorted = times;
                sorted.sort_unstable();
                let places: Vec<f64> = sorted.iter().map(|time| axis.place(Timestamp::from_millisecond(*time).unwrap())).collect();
                prop_assert!(places.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!(places.iter().all(|place| (9.99..=990.01).contains(place)));
            }
        }
    }
}
