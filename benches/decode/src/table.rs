//! Timing in rounds, and the table that comes of it.

use std::fmt::Write as _;

use rustix::time::{ClockId, clock_gettime};

use crate::corpus::is_delta;
use crate::rows::{VALUE, rows};

/// Lines from here on count as large.
pub const LARGE_BYTES_MIN: usize = 64 << 10;

/// Part of the corpus, in one piece.
#[derive(Debug)]
pub struct Section {
    /// For files.
    pub name: &'static str,
    title: &'static str,
    frames: usize,
    lines: Vec<u8>,
}

/// What one row took in each round, in seconds.
#[derive(Debug)]
pub struct Times {
    /// The section's name.
    pub section: String,
    /// The row's name.
    pub row: String,
    /// One entry per round.
    pub seconds: Vec<f64>,
    /// Frames that it would not take.
    pub rejected: usize,
}

/// The whole corpus and its three parts.
pub fn sections(corpus: &[u8]) -> [Section; 4] {
    let part = |name, title, takes: fn(&[u8]) -> bool| {
        let chosen: Vec<&[u8]> =
            corpus.split_inclusive(|byte| *byte == b'\n').filter(|line| takes(line)).collect();
        Section { name, title, frames: chosen.len(), lines: chosen.concat() }
    };
    [
        part("all", "All frames", |_| true),
        part("deltas", "Deltas only", is_delta),
        part("others", "Everything else", |line| !is_delta(line)),
        part("large", "Large frames only (64 KiB and more)", |line| line.len() > LARGE_BYTES_MIN),
    ]
}

/// Runs every row in every round and gives what each took, and the table of it.
///
/// Rows take turns, so that whatever else the machine does meets all of them alike.
pub fn measure(section: &Section, rounds: usize) -> (Vec<Times>, String) {
    let mut times: Vec<Times> = Vec::new();
    for row in rows() {
        // This round is for the caches, and it finds out what is rejected.
        let rejected = (row.run)(&section.lines);
        let (section, row) = (section.name.to_owned(), row.name.to_owned());
        times.push(Times { section, row, seconds: Vec::new(), rejected });
    }
    for _ in 0..rounds {
        for (row, times) in rows().zip(&mut times) {
            let began = thread_seconds();
            std::hint::black_box((row.run)(&section.lines));
            times.seconds.push(thread_seconds() - began);
        }
    }
    let table = table(section, &times);
    (times, table)
}

impl Times {
    /// For a file: section, row, rejected frames and seconds, with tabs between.
    pub fn line(&self) -> String {
        let seconds: Vec<String> = self.seconds.iter().map(ToString::to_string).collect();
        [&self.section, &self.row, &self.rejected.to_string(), &seconds.join(" ")]
            .map(String::as_str)
            .join("\t")
    }

    /// Reads it back.
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (section, row) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        let rejected = fields.next()?.parse().ok()?;
        let seconds = fields.next()?.split(' ').filter_map(|number| number.parse().ok()).collect();
        Some(Times { section, row, seconds, rejected })
    }
}

/// How many times faster than `base` the row is: per round, then the median.
pub fn times_faster(row: &Times, base: &Times) -> f64 {
    median(row.seconds.iter().zip(&base.seconds).map(|(own, base)| base / own).collect())
}

/// The middle one.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::cast_precision_loss, reason = "shown with at most two decimals")]
fn table(section: &Section, times: &[Times]) -> String {
    let megabytes = section.lines.len() as f64 / 1e6;
    let mut out = format!("\n{}: {} frames, {megabytes:.1} MB\n\n", section.title, section.frames);
    out.push_str("| parser | MB/s | kframes/s | × Value | rejected |\n|---|--:|--:|--:|--:|\n");
    let Some(value) = times.iter().find(|times| times.row == VALUE) else {
        return out;
    };
    for (row, own) in rows().zip(times) {
        let seconds = median(own.seconds.clone());
        let (speed, frames) = (megabytes / seconds, section.frames as f64 / 1e3 / seconds);
        let ratio = times_faster(own, value);
        // Writing into a String cannot fail.
        let _ = writeln!(out, "| {} | {speed:.0} | {frames:.0} | {ratio:.2} | {} |", row.title, own.rejected);
    }
    out
}

/// CPU time of this thread, so that waiting for a core does not count.
#[expect(clippy::cast_precision_loss, reason = "a benchmark does not run for years")]
fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
