//! One line of styled text.

use super::safe;
use super::style::Style;
use crate::human::{char_width, width};

/// One line on a screen. Its text is filtered, so that it contains no control sequences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    spans: Vec<(String, Style)>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Line::default()
    }

    pub(crate) fn plain(text: &str) -> Self {
        Line::new().with(text, Style::PLAIN)
    }

    pub fn styled(text: &str, style: Style) -> Self {
        Line::new().with(text, style)
    }

    /// Appends text.
    pub(crate) fn with(mut self, text: &str, style: Style) -> Self {
        self.push(text, style);
        self
    }

    pub(crate) fn push(&mut self, text: &str, style: Style) {
        self.push_safe(safe::one_line(text), style);
    }

    /// Splits a text into lines, and makes every character visible that could matter for a decision.
    pub(crate) fn exact(text: &str, style: Style) -> Vec<Line> {
        let line = |text: &str| {
            let mut line = Line::new();
            line.push_safe(text.to_owned(), style);
            line
        };
        safe::exact(text).split('\n').map(line).collect()
    }

    /// Indents the line.
    pub(crate) fn indented(self, columns: usize) -> Self {
        let mut line = Line::plain(&" ".repeat(columns));
        line.extend(self);
        line
    }

    pub(crate) fn extend(&mut self, other: Line) {
        for (text, style) in other.spans {
            self.push_safe(text, style);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(text, _)| width(text)).sum()
    }

    /// Text without its styles.
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Cuts the line to at most `columns`; an ellipsis replaces what does not fit.
    pub(crate) fn fit(&self, columns: usize) -> Line {
        if self.width() <= columns {
            return self.clone();
        }
        let mut line = Line::new();
        let mut room = columns.saturating_sub(1);
        for (c, style) in self.cells() {
            let Some(left) = room.checked_sub(char_width(c)) else { break };
            room = left;
            line.push_char(c, style);
        }
        if columns > 0 {
            line.push_char('…', Style::DIM);
        }
        line
    }

    /// Wraps the line between words into lines of at most `columns`; all but the first are indented by
    /// `hang`.
    pub(crate) fn wrap(&self, columns: usize, hang: usize) -> Vec<Line> {
        // Keep room for a word on a narrow screen with a deep indent.
        const ROOM_MIN: usize = 8;
        let columns = columns.max(if hang == 0 { 1 } else { hang + ROOM_MIN });
        if self.width() <= columns {
            return vec![self.clone()];
        }
        let mut lines = Vec::new();
        let mut current: Vec<(char, Style)> = Vec::new();
        let mut used = 0;
        let mut indent = 0;
        for (c, style) in self.cells() {
            if used + char_width(c) > columns {
                // A word that does not fit into the next line either is broken in this one.
                let moves = |at: &usize| {
                    let rest: usize = current[at + 1..].iter().map(|(c, _)| char_width(*c)).sum();
                    hang + rest + char_width(c) <= columns
                };
                let space = current.iter().rposition(|(c, _)| *c == ' ').filter(|at| *at > indent);
                let space = space.filter(moves);
                let rest = match space {
                    _ if c == ' ' => Vec::new(),
                    Some(at) => current.split_off(at + 1),
                    None => Vec::new(),
                };
                lines.push(Line::of_cells(trimmed(&current)));
                current = vec![(' ', Style::PLAIN); hang];
                current.extend(rest);
                indent = hang;
                used = current.iter().map(|(c, _)| char_width(*c)).sum();
                if c == ' ' {
                    continue;
                }
            }
            current.push((c, style));
            used += char_width(c);
        }
        lines.push(Line::of_cells(trimmed(&current)));
        lines
    }

    /// Text with escape sequences for its styles.
    pub fn ansi(&self) -> String {
        let mut painted = String::new();
        for (text, style) in &self.spans {
            let on = style.on();
            painted.push_str(&on);
            painted.push_str(text);
            if !on.is_empty() {
                painted.push_str(Style::OFF);
            }
        }
        painted
    }

    fn cells(&self) -> impl Iterator<Item = (char, Style)> {
        self.spans.iter().flat_map(|(text, style)| text.chars().map(|c| (c, *style)))
    }

    fn of_cells(cells: &[(char, Style)]) -> Line {
        let mut line = Line::new();
        for (c, style) in cells {
            line.push_char(*c, *style);
        }
        line
    }

    fn push_char(&mut self, c: char, style: Style) {
        match self.spans.last_mut() {
            Some((text, last)) if *last == style => text.push(c),
            _ => self.spans.push((c.to_string(), style)),
        }
    }

    fn push_safe(&mut self, text: String, style: Style) {
        match self.spans.last_mut() {
            _ if text.is_empty() => {}
            Some((last, last_style)) if *last_style == style => last.push_str(&text),
            _ => self.spans.push((text, style)),
        }
    }
}

fn trimmed(cells: &[(char, Style)]) -> &[(char, Style)] {
    let end = cells.iter().rposition(|(c, _)| *c != ' ').map_or(0, |at| at + 1);
    &cells[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize, hang: usize) -> Vec<String> {
        Line::plain(text).wrap(columns, hang).iter().map(Line::text).collect()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("the quick brown fox", 10, 0), ["the quick", "brown fox"]);
        assert_eq!(wrapped("the quick brown fox", 12, 2), ["the quick", "  brown fox"]);
        assert_eq!(wrapped("abcdefghijkl", 10, 0), ["abcdefghij", "kl"]);
        assert_eq!(wrapped("項目測試項目測試", 10, 0), ["項目測試項", "目測試"]);
        assert_eq!(wrapped("", 10, 0), [""]);
        assert_eq!(wrapped("one        two three", 10, 0), ["one", "two three"]);
    }

    #[test]
    fn c32_no_wrapped_line_is_wider_than_it_may_be() {
        let texts = [
            "• the quick brown fox jumps over the lazy dog ".repeat(10),
            format!("• {}", "a/path/without/a/space".repeat(20)),
            format!("• {} end", "項目測試".repeat(40)),
            format!("• {}", "✅🟢🪄 ".repeat(60)),
        ];
        for (text, hang) in texts.iter().flat_map(|text| [0, 2, 4].map(|hang| (text, hang))) {
            for columns in [60, 80, 200] {
                let lines = wrapped(text, columns, hang);
                assert!(lines.iter().all(|line| width(line) <= columns), "{columns} {hang}: {lines:?}");
                let letters = |text: &str| text.replace(' ', "");
                assert_eq!(letters(&lines.concat()), letters(text), "nothing is lost");
            }
        }
    }

    #[test]
    fn styles_survive_wrapping_and_fitting() {
        let line = Line::styled("bold words", Style::BOLD).with(" plain", Style::PLAIN);
        assert_eq!(line.fit(9).ansi(), "\u{1b}[1mbold wor\u{1b}[0m\u{1b}[2m…\u{1b}[0m");
        let ansi: Vec<String> = line.wrap(10, 0).iter().map(Line::ansi).collect();
        assert_eq!(ansi, ["\u{1b}[1mbold words\u{1b}[0m", "plain"]);
        assert_eq!(Style::BOLD.and(Style::DIM).and(Style::RED).on(), "\u{1b}[1;2;31m");
    }
}
