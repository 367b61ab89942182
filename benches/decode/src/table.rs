//! Timing in rounds, and the resulting table.

use std::fmt::Write as _;

use rustix::time::{ClockId, clock_gettime};

use crate::corpus::is_delta;
use crate::rows::{VALUE, rows};

/// Minimum length of a large line, in bytes.
pub const LARGE_BYTES_MIN: usize = 64 << 10;

/// A part of the corpus, contiguous in memory.
#[derive(Debug)]
pub struct Section {
    /// Name for files.
    pub name: &'static str,
    title: &'static str,
    frames: usize,
    lines: Vec<u8>,
}

/// Time of one row in each round, in seconds.
#[derive(Debug)]
pub struct Times {
    /// The section's name.
    pub section: String,
    /// The row's name.
    pub row: String,
    /// One entry per round.
    pub seconds: Vec<f64>,
    /// Number of rejected frames.
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

/// Runs every row in every round; returns the times and the table.
///
/// Rows alternate, so that other load on the machine affects all of them alike.
pub fn measure(section: &Section, rounds: usize) -> (Vec<Times>, String) {
    let mut times: Vec<Times> = Vec::new();
    for row in rows() {
        // This round warms the caches, and counts the rejected frames.
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
    /// Line for a file: section, row, rejected frames and seconds, separated by tabs.
    pub fn line(&self) -> String {
        let seconds: Vec<String> = self.seconds.iter().map(ToString::to_string).collect();
        [&self.section, &self.row, &self.rejected.to_string(), &seconds.join(" ")]
            .map(String::as_str)
            .join("\t")
    }

    /// Parses such a line.
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (section, row) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        let rejected = fields.next()?.parse().ok()?;
        let seconds = fields.next()?.split(' ').filter_map(|number| number.parse().ok()).collect();
        Some(Times { section, row, seconds, rejected })
    }
}

/// Factor by which the row is faster than `base`: per round, then the median.
pub fn times_faster(row: &Times, base: &Times) -> f64 {
    median(row.seconds.iter().zip(&base.seconds).map(|(own, base)| base / own).collect())
}

/// The median.
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

/// CPU time of this thread, which excludes waiting for a core.
#[expect(clippy::cast_precision_loss, reason = "a benchmark does not run for years")]
fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
