//! Table form of a report, with bars.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use tidings_transcript::cost::{Money, Report, Row, Total};

use crate::human;
use crate::output::{BOLD, DIM, PLAIN, printable};

/// Text for the cost of a model without a price.
pub(super) const NO_PRICE: &str = "?";

/// Maximum width of a bar.
const BAR_COLUMNS_MAX: usize = 30;
/// Minimum width of a bar; with less room there are no bars.
const BAR_COLUMNS_MIN: usize = 6;
/// Maximum width of a key, such as a folder, before it is cut.
const KEY_COLUMNS_MAX: usize = 44;
/// Minimum width of a key, so that keys stay distinguishable.
const KEY_COLUMNS_MIN: usize = 12;

const HEADS: [&str; 6] = ["responses", "input", "output", "cache write", "cache read", "cost"];

/// Number format and shown columns of [`HEADS`], from wide terminals to narrow ones.
const LAYOUTS: [(Digits, &[usize]); 5] = [
    (Digits::All, &[0, 1, 2, 3, 4, 5]),
    (Digits::Few, &[0, 1, 2, 3, 4, 5]),
    (Digits::Few, &[1, 2, 3, 4, 5]),
    (Digits::Few, &[1, 2, 5]),
    (Digits::Few, &[5]),
];

pub(super) fn text(report: &Report, columns: usize) -> String {
    let mut table = CostTable::default();
    let mut widths = Vec::new();
    for (digits, shown) in LAYOUTS {
        table = CostTable::new(report, digits, shown);
        widths = table.widths();
        if used(&widths) <= columns {
            break;
        }
    }
    // If even the narrowest layout is too wide, cut the keys.
    if let (over @ 1.., Some(key)) = (used(&widths).saturating_sub(columns), widths.first_mut()) {
        *key = key.saturating_sub(over).max(KEY_COLUMNS_MIN.min(*key));
    }
    table.text(&widths, columns)
}

/// Returns the width of a line without its bar.
fn used(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    All,
    /// Three digits and a unit, for narrow terminals.
    Few,
}

/// Cells of the table: head, rows, total.
#[derive(Debug, Default)]
struct CostTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    total: Vec<String>,
    /// Length of each row's bar relative to the longest.
    shares: Vec<f64>,
}

impl CostTable {
    fn new(report: &Report, digits: Digits, shown: &[usize]) -> Self {
        let zone = TimeZone::get(&report.zone).unwrap_or(TimeZone::UTC);
        let line = |key: String, cells: [String; HEADS.len()]| -> Vec<String> {
            let cells = shown.iter().map(|at| cells[*at].clone());
            std::iter::once(key).chain(cells).collect()
        };
        let most = report.rows.iter().map(|row| row.total.cost.dollars()).fold(0.0, f64::max);
        let share = |row: &Row| if most > 0.0 { row.total.cost.dollars() / most } else { 0.0 };
        CostTable {
            head: line(head(report), HEADS.map(str::to_owned)),
            rows: report.rows.iter().map(|row| line(key(row, &zone), cells(&row.total, digits))).collect(),
            total: line("total".to_owned(), cells(&report.total, digits)),
            shares: report.rows.iter().map(share).collect(),
        }
    }

    fn widths(&self) -> Vec<usize> {
        let lines = || self.rows.iter().chain([&self.head, &self.total]);
        let width = |at: usize| lines().map(|line| human::width(&line[at])).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        if let Some(key) = widths.first_mut() {
            *key = (*key).min(KEY_COLUMNS_MAX);
        }
        widths
    }

    fn text(&self, widths: &[usize], columns: usize) -> String {
        let room = columns.saturating_sub(used(widths) + 2).min(BAR_COLUMNS_MAX);
        let room = if room < BAR_COLUMNS_MIN { 0 } else { room };
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{BOLD}{}{PLAIN}", line(&self.head, widths));
        for (row, share) in self.rows.iter().zip(&self.shares) {
            let bar = bar(*share, room);
            let gap = if bar.is_empty() { "" } else { "  " };
            let _ = writeln!(text, "{}{gap}{DIM}{bar}{PLAIN}", line(row, widths));
        }
        let _ = writeln!(text, "{BOLD}{}{PLAIN}", line(&self.total, widths));
        text
    }
}

fn head(report: &Report) -> String {
    let name = report.by.as_str();
    if report.by.is_time() { format!("{name} ({})", report.zone) } else { name.to_owned() }
}

fn key(row: &Row, zone: &TimeZone) -> String {
    match (&row.block, &row.project) {
        (Some(block), _) => {
            let (start, end) = (block.start.to_zoned(zone.clone()), block.end.to_zoned(zone.clone()));
            let active = if block.active { " active" } else { "" };
            format!("{}–{}{active}", start.strftime("%F %R"), end.strftime("%R"))
        }
        (None, Some(project)) => printable(&format!("{}  {project}", human::short_id(&row.key))),
        _ => printable(&row.key),
    }
}

/// Formats the numbers, in the order of [`HEADS`].
fn cells(total: &Total, digits: Digits) -> [String; HEADS.len()] {
    let tokens = &total.tokens;
    let number = |number: u64| match digits {
        Digits::All => human::count(number),
        Digits::Few => few(number),
    };
    let [input, output, cache_write, cache_read] =
        [tokens.input, tokens.output, tokens.cache_write(), tokens.cache_read].map(number);
    [number(total.responses), input, output, cache_write, cache_read, cost(total)]
}

/// Formats a cost.
fn cost(total: &Total) -> String {
    total.known_cost().map_or_else(|| NO_PRICE.to_owned(), Money::cents)
}

/// Formats a line with the key on the left and numbers on the right.
fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if at == 0 {
            text += &human::padded(cell, *width);
        } else {
            let gap = " ".repeat(2 + width.saturating_sub(human::width(cell)));
            text += &gap;
            text += cell;
        }
    }
    text
}

/// Formats a number with three digits: `999`, `1.23k`, `45.6M`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn few(number: u64) -> String {
    let mut size = number as f64;
    if number < 1000 {
        return number.to_string();
    }
    for unit in ["k", "M", "G", "T"] {
        size /= 1000.0;
        if size < 999.5 {
            let digits = if size < 9.995 { 2 } else { usize::from(size < 99.95) };
            return format!("{size:.digits$}{unit}");
        }
    }
    format!("{size:.0}T")
}

/// Draws a bar, to an eighth of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few dozen columns"
)]
fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough_for_a_narrow_terminal() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.00k"),
            (9_994, "9.99k"),
            (9_995, "10.0k"),
            (99_949, "99.9k"),
            (99_950, "100k"),
            (999_499, "999k"),
            (999_500, "1.00M"),
            (12_345_678, "12.3M"),
            (u64::MAX, "18446744T"),
        ] {
            assert_eq!(few(number), expected, "{number}");
        }
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (share, expected) in
            [(0.0, ""), (0.005, ""), (0.01, "▏"), (0.5, "████"), (0.6, "████▊"), (1.0, "████████")]
        {
            assert_eq!(bar(share, 8), expected, "{share}");
        }
        assert_eq!(bar(1.0, 0), "");
    }
}
