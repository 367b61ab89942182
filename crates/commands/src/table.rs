//! Tables on a terminal: one line per row, and the last column gets the width that is left.

use crate::human::{fit, padded, width};
use crate::output::{BOLD, PLAIN, printable};

/// Spaces between two columns.
const GAP: usize = 2;
/// Minimum width of the last column.
const LAST_MIN: usize = 10;

/// The side of a column at which its texts begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A column but the last: its head, its width, and the side of its texts.
pub type Column = (&'static str, usize, Align);

/// A text in a column, with an escape sequence before it, or none.
pub type Cell<'a> = (&'a str, &'static str);

/// A table that grows by lines.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    room: usize,
    text: String,
}

impl Table {
    /// Begins a table of this width with the heads of its columns.
    pub fn new(columns: Vec<Column>, last: &str, table_width: usize) -> Self {
        let used: usize = columns.iter().map(|(_, width, _)| width + GAP).sum();
        let mut table =
            Table { columns, room: table_width.saturating_sub(used).max(LAST_MIN), text: String::new() };
        let heads: Vec<Cell<'_>> = table.columns.iter().map(|(head, ..)| (*head, "")).collect();
        table.text.push_str(BOLD);
        table.line(&heads, last);
        table.text.insert_str(table.text.len() - 1, PLAIN);
        table
    }

    /// Adds a row. Control characters are shown as such, and the last text is cut to its column.
    pub fn row(&mut self, cells: &[Cell<'_>], last: &str) {
        let last = fit(&printable(last), self.room);
        self.line(cells, &last);
    }

    /// The lines of the table.
    pub fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, cells: &[Cell<'_>], last: &str) {
        for ((_, columns, align), (text, style)) in self.columns.iter().zip(cells) {
            let text = printable(text);
            let text = match align {
                Align::Left => padded(&text, *columns),
                Align::Right => format!("{}{text}", " ".repeat(columns.saturating_sub(width(&text)))),
            };
            self.text.push_str(style);
            self.text.push_str(&text);
            if !style.is_empty() {
                self.text.push_str(PLAIN);
            }
            self.text.push_str(&" ".repeat(GAP));
        }
        self.text.push_str(last);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::RED;

    #[test]
    fn columns_are_aligned_and_the_last_one_is_cut() {
        let mut table = Table::new(vec![("id", 4, Align::Right), ("state", 6, Align::Left)], "about", 26);
        table.row(&[("3", ""), ("failed", RED)], "a text that is too long");
        table.row(&[("12", ""), ("\u{65e5}\u{672c}", "")], "\u{1b}[2J");
        let expected = "\x1b[1m  id  state   about\x1b[0m\n   3  \x1b[31mfailed\x1b[0m  a text that…\n";
        let text = table.into_text();
        assert!(text.starts_with(expected), "{text:?}");
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("  12  \u{65e5}\u{672c}    ") && !last.contains('\u{1b}'), "{last:?}");
    }
}
