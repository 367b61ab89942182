//! Tables of Markdown, which become lists if the terminal is too narrow.

use pulldown_cmark::Alignment;

use super::super::line::Line;
use super::super::style::Style;

/// A table: a head and rows of cells.
#[derive(Debug, Default)]
pub(super) struct MarkdownTable {
    sides: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
}

/// Width of the gap between two columns.
const GAP: usize = 2;

/// Minimum width of a column; with less room the table becomes a list.
const COLUMN_MIN: usize = 6;

impl MarkdownTable {
    pub(super) fn new(sides: Vec<Alignment>) -> Self {
        MarkdownTable { sides, rows: Vec::new() }
    }

    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, cell: Line) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Formats the table in `columns`, or as a list if it does not fit.
    pub(super) fn lines(&self, columns: usize) -> Vec<Line> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..count)
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(Line::width).max().unwrap_or(0))
            .collect();
        let room = columns.saturating_sub(GAP * count.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max() else { break };
            if *widest <= COLUMN_MIN {
                return self.list(columns);
            }
            *widest -= 1;
        }
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(self.row_lines(row, &widths, if at == 0 { Style::BOLD } else { Style::PLAIN }));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::styled(&rules.join(&" ".repeat(GAP)), Style::DIM));
            }
        }
        lines
    }

    /// Formats one cell per line, each after the name of its column.
    fn list(&self, columns: usize) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                lines.push(Line::new());
            }
            for (cell, name) in row.iter().zip(head) {
                let mut line = Line::styled(&format!("{}: ", name.text()), Style::BOLD);
                line.extend(cell.clone());
                lines.extend(line.wrap(columns, 2));
            }
        }
        lines
    }

    /// Formats a row; it has as many lines as its tallest cell.
    fn row_lines(&self, row: &[Line], widths: &[usize], style: Style) -> Vec<Line> {
        let cells: Vec<Vec<Line>> =
            row.iter().zip(widths).map(|(cell, width)| cell.wrap(*width, 0)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|at| {
                let mut line = Line::new();
                for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                    if column > 0 {
                        line.push(&" ".repeat(GAP), Style::PLAIN);
                    }
                    let part = cell.get(at).cloned().unwrap_or_default();
                    let blank = width.saturating_sub(part.width());
                    let before = match self.sides.get(column) {
                        Some(Alignment::Right) => blank,
                        Some(Alignment::Center) => blank / 2,
                        _ => 0,
                    };
                    line.push(&" ".repeat(before), Style::PLAIN);
                    if style == Style::BOLD {
                        line.push(&part.text(), Style::BOLD);
                    } else {
                        line.extend(part);
                    }
                    line.push(&" ".repeat(blank - before), Style::PLAIN);
                }
                line
            })
            .collect()
    }
}
