//! Text field of one line, for reasons and answers.

use super::super::keys::Key;
use super::super::line::Line;
use super::super::style::Style;

/// Text field of one line.
#[derive(Debug, Clone, Default)]
pub(super) struct TextEntry {
    text: String,
}

/// Result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntryResult {
    Pending,
    Cancelled,
    Text(String),
}

/// Maximum number of characters; longer texts belong into a prompt.
const CHARS_MAX: usize = 4_000;

impl TextEntry {
    /// Handles a key: Enter submits a text that is not empty, Escape cancels.
    pub(super) fn key(&mut self, key: &Key) -> EntryResult {
        match key {
            Key::Char(c) if self.text.chars().count() < CHARS_MAX => self.text.push(*c),
            Key::Paste(text) => {
                let room = CHARS_MAX.saturating_sub(self.text.chars().count());
                self.text.extend(text.chars().take(room));
            }
            Key::Backspace => drop(self.text.pop()),
            Key::Escape => return EntryResult::Cancelled,
            Key::Enter if !self.text.trim().is_empty() => {
                return EntryResult::Text(self.text.trim().to_owned());
            }
            _ => {}
        }
        EntryResult::Pending
    }

    /// Formats the field; a long text shows its end, where the cursor is.
    pub(super) fn lines(&self, label: &str, columns: usize) -> Vec<Line> {
        let text = Line::plain(&self.text).text();
        let room = columns.saturating_sub(label.len() + 4).max(8);
        let skipped = text.chars().count().saturating_sub(room);
        let end: String = text.chars().skip(skipped).collect();
        let line =
            Line::styled(&format!("{label}: "), Style::BOLD).with(&end, Style::PLAIN).with("▏", Style::DIM);
        vec![line, Line::styled("[Enter] send   [Esc] back", Style::DIM)]
    }
}
