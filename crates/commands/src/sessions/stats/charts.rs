//! Charts in the terminal: a heatmap of the days, and a plot of the cost.

use std::fmt::Write as _;

use super::days::{ActiveDay, level};
use crate::output::{BOLD, DIM, PLAIN};

/// Marks of the levels; they differ without colour too.
const LEVELS: [char; 5] = ['·', '░', '▒', '▓', '█'];

const WEEKDAYS: [&str; 7] = ["Mon", "", "Wed", "", "Fri", "", "Sun"];

/// Columns left of the charts.
const LABEL_COLUMNS: usize = 8;

/// Rows of the plot; each has four dots.
const PLOT_ROWS: usize = 6;

/// Maximum columns of the plot; each has two dots.
const PLOT_COLUMNS_MAX: usize = 90;

/// Formats responses per day, one column per week.
pub(super) fn heatmap(days: &[ActiveDay], columns: usize) -> String {
    let Some(last) = days.last() else { return String::new() };
    let weeks_max = columns.saturating_sub(LABEL_COLUMNS + 1).max(4) / 2;
    let weekday = |day: &ActiveDay| usize::try_from(day.date.weekday().to_monday_zero_offset()).unwrap_or(0);
    let shown = days.len().min((weeks_max - 1) * 7 + weekday(last) + 1);
    let days = &days[days.len() - shown..];
    let offset = days.first().map_or(0, weekday);
    let weeks = (offset + days.len()).div_ceil(7);
    let most = days.iter().map(|day| day.responses).max().unwrap_or(0);
    let mut text = format!(
        "\n{BOLD}responses per day{PLAIN}  {DIM}{} to {}, at most {most}{PLAIN}\n",
        days.first().unwrap_or(last).date,
        last.date
    );
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{DIM}{:LABEL_COLUMNS$}{}{PLAIN}", "", months(days, offset, weeks).trim_end());
    for (row, name) in WEEKDAYS.iter().enumerate() {
        let cell = |week: usize| {
            let day = (week * 7 + row).checked_sub(offset).and_then(|at| days.get(at));
            day.map_or(' ', |day| LEVELS[level(day.responses, most)])
        };
        let cells: Vec<String> = (0..weeks).map(|week| cell(week).to_string()).collect();
        let _ = writeln!(text, "{DIM}{name:>6}{PLAIN}  {}", cells.join(" ").trim_end());
    }
    text
}

/// Names of the months above the weeks in which they begin.
fn months(days: &[ActiveDay], offset: usize, weeks: usize) -> String {
    let mut text = String::new();
    let mut shown = None;
    for week in 0..weeks {
        let first = days.get((week * 7).saturating_sub(offset));
        let month = first.map(|day| day.date.month());
        if month != shown && text.chars().count() <= week * 2 {
            shown = month;
            let name = first.map(|day| day.date.strftime("%b").to_string()).unwrap_or_default();
            let gap = (week * 2).saturating_sub(text.chars().count());
            text.push_str(&" ".repeat(gap));
            text.push_str(&name);
        }
    }
    text
}

/// Plots the cost per day with dots of braille.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a chart of a few hundred dots"
)]
pub(super) fn plot(days: &[ActiveDay], columns: usize) -> String {
    let most = days.iter().map(|day| day.usd).fold(0.0, f64::max);
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return String::new() };
    if most <= 0.0 || days.len() < 2 {
        return String::new();
    }
    let width = columns.saturating_sub(LABEL_COLUMNS + 2).clamp(10, PLOT_COLUMNS_MAX);
    let (dots, rows) = (width * 2, PLOT_ROWS * 4);
    let mut cells = vec![vec![0_u8; width]; PLOT_ROWS];
    let mut set = |x: usize, y: usize| {
        /// Bits of the dots of a braille character, by column and row.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        cells[y / 4][x / 2] |= BITS[x % 2][y % 4];
    };
    let height = |x: usize| {
        // If a dot stands for several days, the most expensive counts.
        let (start, end) = (x * days.len() / dots, (x + 1) * days.len() / dots);
        let highest = days[start..end.max(start + 1)].iter().map(|day| day.usd).fold(0.0, f64::max);
        let share = highest / most;
        rows - 1 - (share * (rows - 1) as f64).round() as usize
    };
    let mut before = height(0);
    for x in 0..dots {
        let y = height(x);
        // Connect it to the dot before.
        for y in y.min(before)..=y.max(before) {
            set(x, y);
        }
        before = y;
    }
    let mut text = format!("\n{BOLD}cost per day{PLAIN}\n");
    for (row, line) in cells.iter().enumerate() {
        let label = match row {
            // Cents would not fit beside so many dollars.
            0 if most >= 10_000.0 => format!("${most:.0}"),
            0 => format!("${most:.2}"),
            row if row + 1 == PLOT_ROWS => "$0".to_owned(),
            _ => String::new(),
        };
        let line: String = line.iter().filter_map(|bits| char::from_u32(0x2800 + u32::from(*bits))).collect();
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{DIM}{label:>LABEL_COLUMNS$}{PLAIN} {line}");
    }
    let (first, last) = (first.date.to_string(), last.date.to_string());
    let gap = " ".repeat(width.saturating_sub(first.len() + last.len()).max(1));
    let _ = writeln!(text, "{DIM}{:LABEL_COLUMNS$} {first}{gap}{last}{PLAIN}", "");
    text
}

#[cfg(test)]
mod tests {
    use super::super::days::tests::days;
    use super::*;

    fn plain(text: &str) -> String {
        [BOLD, DIM, PLAIN].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn a_heatmap_has_a_column_per_week() {
        let days = days(&[0, 1, 4, 2, 3, 0, 0, 4, 0, 0]);
        insta::assert_snapshot!(plain(&heatmap(&days, 80)), @r"

        responses per day  2026-11-02 to 2026-11-11, at most 4
                Nov
           Mon  · █
                ░ ·
           Wed  █ ·
                ▒
           Fri  ▓
                ·
           Sun  ·
        ");
        let year = vec![1; 371];
        for columns in [20, 60, 80, 200] {
            let text = plain(&heatmap(&super::super::days::tests::days(&year), columns));
            let wide = text.lines().skip(2).map(|line| line.chars().count()).max().unwrap();
            assert!(wide <= columns, "{columns}: {wide}\n{text}");
        }
    }

    #[test]
    fn a_plot_fits_into_its_columns() {
        let days = days(&[0, 1, 4, 2, 3, 0, 0, 4, 0, 0]);
        for columns in [20, 60, 80, 200] {
            let text = plain(&plot(&days, columns));
            let wide = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(wide <= columns.max(31), "{columns}: {wide}\n{text}");
            assert!(text.contains("$1.00") && text.contains("2026-11-11"), "{text}");
        }
        assert_eq!(plot(&days[..1], 80), "");
    }
}
