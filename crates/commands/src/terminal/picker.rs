//! Choice of one item from a list: search as you type, with a preview.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::keys::Key;
use super::line::Line;
use super::style::Style;
use crate::human;

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PickItem {
    /// Line in the list.
    pub(crate) label: String,
    /// Text that is searched besides the label.
    pub(crate) more: String,
}

/// A list, the text that is searched in it, and the chosen item.
pub(crate) struct Picker {
    title: &'static str,
    items: Vec<PickItem>,
    query: String,
    /// Indices of the items that match, best first.
    found: Vec<usize>,
    /// Position among those.
    at: usize,
    matcher: Matcher,
}

/// Result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    Pending,
    /// Index of the item.
    Chosen(usize),
    Cancelled,
}

/// Maximum number of rows of the list.
const LIST_ROWS_MAX: usize = 12;

impl Picker {
    pub(crate) fn new(title: &'static str, items: Vec<PickItem>) -> Self {
        let found = (0..items.len()).collect();
        let matcher = Matcher::new(Config::DEFAULT);
        Picker { title, items, query: String::new(), found, at: 0, matcher }
    }

    /// Index of the item that Enter chooses.
    pub(crate) fn current(&self) -> Option<usize> {
        self.found.get(self.at).copied()
    }

    pub(crate) fn key(&mut self, key: &Key) -> Picked {
        let last = self.found.len().saturating_sub(1);
        match key {
            // What was typed before the list was shown has line breaks.
            Key::Enter | Key::Newline => return self.current().map_or(Picked::Pending, Picked::Chosen),
            Key::Escape | Key::Interrupt | Key::Ctrl('d') => return Picked::Cancelled,
            Key::Up | Key::Ctrl('p') | Key::BackTab => self.at = self.at.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Ctrl('n') | Key::Tab => self.at = if self.at >= last { 0 } else { self.at + 1 },
            Key::PageUp => self.at = self.at.saturating_sub(LIST_ROWS_MAX),
            Key::PageDown => self.at = (self.at + LIST_ROWS_MAX).min(last),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::Char(c) => self.search(|query| query.push(*c)),
            Key::Paste(text) => self.search(|query| query.extend(text.chars().filter(|c| !c.is_control()))),
            Key::Backspace => self.search(|query| {
                query.pop();
            }),
            Key::Ctrl('u') => self.search(String::clear),
            Key::Ctrl('w') => self.search(|query| {
                let kept = query.trim_end().rfind(' ').map_or(0, |at| at + 1);
                query.truncate(kept);
            }),
            _ => {}
        }
        Picked::Pending
    }

    /// Formats the list with a preview of the chosen item. Returns the row and column of the cursor with it.
    pub(crate) fn lines(&self, preview: &[Line], columns: usize, rows: usize) -> (Vec<Line>, (usize, usize)) {
        let query = Line::plain(&self.query).text();
        let counts = format!(
            "  {} of {}",
            human::count(self.found.len() as u64),
            human::count(self.items.len() as u64)
        );
        let mut lines = vec![
            Line::styled(self.title, Style::BOLD)
                .with("  type to search, Enter chooses, Esc leaves", Style::DIM),
            Line::styled("› ", Style::BOLD).with(&query, Style::PLAIN).with(&counts, Style::DIM),
        ];
        // Two lines above, one between the list and the preview.
        let list_rows = (rows.saturating_sub(3) / 2).clamp(1, LIST_ROWS_MAX);
        let first = (self.at + 1).saturating_sub(list_rows);
        for (row, index) in self.found.iter().enumerate().skip(first).take(list_rows) {
            let is_current = row == self.at;
            let (mark, style) = if is_current { ("▸ ", Style::BOLD) } else { ("  ", Style::PLAIN) };
            lines.push(Line::styled(mark, style).with(&self.items[*index].label, style));
        }
        if self.found.is_empty() {
            lines.push(Line::styled("  nothing matches", Style::DIM));
        }
        let room = rows.saturating_sub(lines.len() + 1);
        if room > 1 && !preview.is_empty() {
            lines.push(Line::styled(&"─".repeat(columns.saturating_sub(1)), Style::DIM));
            lines.extend(preview.iter().take(room - 1).cloned());
        }
        (lines, (1, 2 + human::width(&query)))
    }

    fn search(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.query);
        let pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        let mut buffer = Vec::new();
        let mut found: Vec<(u32, usize)> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let text = format!("{} {}", item.label, item.more);
            let score = pattern.score(Utf32Str::new(&text, &mut buffer), &mut self.matcher);
            found.extend(score.map(|score| (score, index)));
        }
        // Of equal matches, the first in the list comes first.
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        self.found = found.into_iter().map(|(_, index)| index).collect();
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(labels: &[&str]) -> Picker {
        let item = |label: &&str| PickItem { label: (*label).to_owned(), more: format!("/home/dev/{label}") };
        Picker::new("Choose", labels.iter().map(item).collect())
    }

    fn typed(picker: &mut Picker, text: &str) {
        for c in text.chars() {
            assert_eq!(picker.key(&Key::Char(c)), Picked::Pending);
        }
    }

    #[test]
    fn the_list_is_searched_as_one_types() {
        let mut picker = picker(&["Fix the parser", "Release notes", "parser speed", "Über uns"]);
        assert_eq!(picker.current(), Some(0));
        typed(&mut picker, "parser sp");
        assert_eq!(picker.found, [2, 0], "the letters of both words, the better match first");
        for _ in 0..3 {
            picker.key(&Key::Backspace);
        }
        assert_eq!(picker.found, [0, 2], "of equal matches, the first comes first");
        picker.key(&Key::Up);
        picker.key(&Key::Down);
        assert_eq!(picker.key(&Key::Enter), Picked::Chosen(0));
        picker.key(&Key::Ctrl('u'));
        typed(&mut picker, "Rel");
        assert_eq!(picker.key(&Key::Enter), Picked::Chosen(1));
        typed(&mut picker, "xyz");
        assert_eq!((picker.current(), picker.key(&Key::Enter)), (None, Picked::Pending));
        assert_eq!(picker.key(&Key::Escape), Picked::Cancelled);
    }

    #[test]
    fn the_list_and_its_preview_fit_the_screen() {
        let labels: Vec<String> = (0..50).map(|number| format!("session {number}")).collect();
        let mut picker = picker(&labels.iter().map(String::as_str).collect::<Vec<_>>());
        let preview = vec![Line::plain("preview"); 40];
        for rows in [5, 12, 24, 50] {
            let (lines, cursor) = picker.lines(&preview, 60, rows);
            assert!(lines.len() < rows.max(6), "{rows}: {}", lines.len());
            assert_eq!(cursor, (1, 2));
        }
        picker.key(&Key::Up);
        let (lines, _) = picker.lines(&preview, 60, 24);
        assert!(lines.iter().any(|line| line.text() == "▸ session 49"), "{lines:?}");
    }
}
