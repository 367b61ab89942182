//! Arrangement of a prompt on the screen.

use std::ops::Range;

use super::super::line::Line;
use super::super::safe;
use super::super::style::Style;
use super::completion::Menu;
use crate::human::{padded, width};

/// Columns of the mark before each row.
const MARK_COLUMNS: usize = 2;

/// Maximum number of rows of a prompt; of a longer one, those around the cursor are shown.
const ROWS_MAX: usize = 10;

/// Maximum number of completions that are shown.
const CANDIDATES_SHOWN: usize = 6;

/// Rows of a prompt, and the row and column of its cursor.
pub(super) struct PromptRows {
    pub(super) lines: Vec<Line>,
    pub(super) cursor: (usize, usize),
}

/// Arranges a text with the cursor at a position in bytes.
pub(super) fn rows(text: &str, cursor: usize, columns: usize) -> PromptRows {
    let near = near_cursor(text, cursor, columns);
    let (is_cut_before, is_cut_after) = (near.start > 0, near.end < text.len());
    let (text, cursor) = (&text[near.clone()], cursor - near.start);
    let room = columns.saturating_sub(MARK_COLUMNS + 1).max(4);
    let mut rows = vec![String::new()];
    let (mut used, mut at_cursor) = (0, (0, 0));
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let shown = match c {
            '\n' => String::new(),
            // Parts of emoji.
            '\u{200d}' | '\u{fe0f}' if u32::from(before) >= 0x203c => String::new(),
            c => safe::one_line(c.encode_utf8(&mut [0; 4])),
        };
        before = c;
        let wide = width(&shown);
        if used + wide > room {
            rows.push(String::new());
            used = 0;
        }
        if at == cursor {
            at_cursor = (rows.len() - 1, used);
        }
        if c == '\n' {
            rows.push(String::new());
            used = 0;
        } else if let Some(row) = rows.last_mut() {
            row.push_str(&shown);
            used += wide;
        }
    }
    if cursor >= text.len() {
        at_cursor = (rows.len() - 1, used);
    }
    let first = (at_cursor.0 + 1).saturating_sub(ROWS_MAX).min(rows.len().saturating_sub(ROWS_MAX));
    let last = (first + ROWS_MAX).min(rows.len());
    let lines = rows[first..last].iter().enumerate().map(|(at, row)| {
        let is_cut = (at == 0 && (first > 0 || is_cut_before))
            || (first + at + 1 == last && (last < rows.len() || is_cut_after));
        let mark = match at {
            _ if is_cut => "⋮ ",
            0 => "› ",
            _ => "  ",
        };
        Line::styled(mark, Style::BOLD).with(row, Style::PLAIN)
    });
    PromptRows { lines: lines.collect(), cursor: (at_cursor.0 - first, at_cursor.1 + MARK_COLUMNS) }
}

/// Part of a text that may be visible, since a long one would take too long to arrange.
fn near_cursor(text: &str, cursor: usize, columns: usize) -> Range<usize> {
    /// Bytes of the longest character.
    const CHAR_BYTES_MAX: usize = 4;
    let reach = ROWS_MAX * columns * CHAR_BYTES_MAX;
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let mut start = boundary(cursor.saturating_sub(reach));
    if start > 0 {
        // Rows begin where they would begin in the whole text, unless a line is very long.
        start += text[start..cursor].find('\n').map_or(0, |at| at + 1);
    }
    start..boundary((cursor + reach).min(text.len()))
}

/// Formats completions around the chosen one.
pub(super) fn menu_lines(menu: &Menu) -> Vec<Line> {
    let names = menu.candidates.iter().map(|candidate| width(&candidate.text)).max().unwrap_or(0);
    let at = menu.at.unwrap_or(0);
    let first = (at + 1).saturating_sub(CANDIDATES_SHOWN);
    let shown = menu.candidates.iter().enumerate().skip(first).take(CANDIDATES_SHOWN);
    let mut lines: Vec<Line> = shown
        .map(|(at, candidate)| {
            let is_chosen = menu.at == Some(at);
            let (mark, style) = if is_chosen { ("▸ ", Style::BOLD) } else { ("  ", Style::PLAIN) };
            let name = padded(&candidate.text, names.min(30).max(width(&candidate.text)));
            Line::styled(mark, style)
                .with(&name, style)
                .with(&format!("  {}", candidate.description), Style::DIM)
        })
        .collect();
    let more = menu.candidates.len().saturating_sub(first + CANDIDATES_SHOWN);
    if more > 0 {
        lines.push(Line::styled(&format!("  … {more} more"), Style::DIM));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, cursor: usize, columns: usize) -> (Vec<String>, (usize, usize)) {
        let rows = rows(text, cursor, columns);
        (rows.lines.iter().map(Line::text).collect(), rows.cursor)
    }

    #[test]
    fn a_prompt_wraps_and_the_cursor_stays_in_its_place() {
        assert_eq!(shown("", 0, 80), (vec!["› ".to_owned()], (0, 2)));
        let (lines, cursor) = shown("abcdefghij", 10, 10);
        assert_eq!((lines, cursor), (vec!["› abcdefg".to_owned(), "  hij".to_owned()], (1, 5)));
        assert_eq!(shown("abcdefghij", 7, 10).1, (1, 2));
        assert_eq!(shown("one\ntwo", 3, 10).1, (0, 5));
        assert_eq!(shown("one\ntwo", 4, 10).1, (1, 2));
        assert_eq!(shown("項目測試", 12, 10), (vec!["› 項目測".to_owned(), "  試".to_owned()], (1, 4)));
        assert_eq!(shown("a\x1b[31m", 6, 80).0, ["› a␛[31m"]);
    }

    #[test]
    fn of_a_long_prompt_the_rows_around_the_cursor_are_shown() {
        let text = (0..30).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
        let (lines, cursor) = shown(&text, text.len(), 80);
        assert_eq!((lines.len(), lines[0].as_str(), lines[9].as_str(), cursor), (10, "⋮ 20", "  29", (9, 4)));
        let (lines, cursor) = shown(&text, 0, 80);
        assert_eq!((lines[0].as_str(), lines[9].as_str(), cursor), ("› 0", "⋮ 9", (0, 2)));
        let text = "päper\n".repeat(100_000);
        for (cursor, first, row) in
            [(0, "› päper", 0), (text.len() / 2 - 3, "⋮ päper", 9), (text.len(), "⋮ päper", 9)]
        {
            let (lines, at) = shown(&text, cursor, 80);
            assert_eq!((lines.len(), lines[0].as_str(), at.0), (10, first, row), "{cursor}");
        }
    }
}
