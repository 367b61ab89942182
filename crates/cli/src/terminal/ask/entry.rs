use super::super::keys::Key;
use super::super::line::Line;
use super::super::style::Style;

/// A line that is being typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    text: String,
}

/// What a key made of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Nothing,
    Left,
    Text(String),
}

/// The longest text that is taken. More than this belongs into a prompt.
const CHARS_MAX: usize = 4_000;

impl Entry {
    /// Enter ends it once there is something; Escape leaves it.
    pub(super) fn key(&mut self, key: Key) -> Typed {
        match key {
            Key::Char(c) if self.text.chars().count() < CHARS_MAX => self.text.push(c),
            Key::Backspace => drop(self.text.pop()),
            Key::Escape => return Typed::Left,
            Key::Enter if !self.text.trim().is_empty() => return Typed::Text(self.text.trim().to_owned()),
            _ => {}
        }
        Typed::Nothing
    }

    /// The end of it, since that is where one types.
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
