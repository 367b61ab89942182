//! What only a person may decide, asked key by key.
//!
//! Each kind of question is a small state machine: keys go in, lines come out, and at the end there is a [`Reply`].

mod entry;
mod input;
mod permission;
mod questions;

pub(crate) use permission::PermissionAsk;
pub(crate) use questions::{Choice, QuestionAsk, QuestionsAsk, Several};

use super::keys::Key;
use super::line::Line;
use super::style::Style;

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The tool may run.
    Allow(Reach),
    /// It may not; the model is told why, if somebody said so.
    Deny(Option<String>),
    /// The answers, one list per question.
    Answers(Vec<Vec<String>>),
    /// The person does not want to answer.
    Declined,
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Once,
    Session,
    Always,
}

/// Something that waits for a person.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Permission(PermissionAsk),
    Questions(QuestionsAsk),
}

/// Everything that waits, the oldest first, one of them in front of the person.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    open: Vec<(String, Ask)>,
    at: usize,
}

impl Asks {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds a question, unless it waits already.
    pub(crate) fn open(&mut self, id: &str, ask: Ask) -> bool {
        let new = !self.open.iter().any(|(open, _)| open == id);
        if new {
            self.open.push((id.to_owned(), ask));
        }
        new
    }

    /// Takes a question away that was answered elsewhere or taken back.
    pub(crate) fn close(&mut self, id: &str) -> Option<Ask> {
        let place = self.open.iter().position(|(open, _)| open == id)?;
        let (_, ask) = self.open.remove(place);
        if self.at > place || self.at >= self.open.len() {
            self.at = self.at.saturating_sub(1);
        }
        Some(ask)
    }

    /// A key for the question in front. With an answer, the question is closed; what it was about comes back.
    pub(crate) fn key(&mut self, key: Key) -> Option<(String, Ask, Reply)> {
        if key == Key::Tab && self.open.len() > 1 {
            self.at = (self.at + 1) % self.open.len();
            return None;
        }
        let (id, ask) = self.open.get_mut(self.at)?;
        let reply = match ask {
            Ask::Permission(ask) => ask.key(key),
            Ask::Questions(ask) => ask.key(key),
        }?;
        let id = id.clone();
        let ask = self.close(&id)?;
        Some((id, ask, reply))
    }

    /// The question in front, with its keys, and how many wait besides.
    pub(crate) fn lines(&self, columns: usize) -> Vec<Line> {
        let Some((_, ask)) = self.open.get(self.at) else { return Vec::new() };
        let mut lines = Vec::new();
        if self.open.len() > 1 {
            let place = format!("Question {} of {}", self.at + 1, self.open.len());
            lines.push(Line::styled(&place, Style::YELLOW).with("  [Tab] the next one", Style::DIM));
        }
        match ask {
            Ask::Permission(ask) => lines.extend(ask.lines(columns, self.open.len() > 1)),
            Ask::Questions(ask) => lines.extend(ask.lines(columns)),
        }
        lines
    }
}

/// A key and what it does, as in `[y] once`.
fn key_line(keys: &[(&str, &str)], columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::new()];
    for (key, meaning) in keys {
        let part = Line::styled(&format!("[{key}]"), Style::BOLD).with(&format!(" {meaning}"), Style::PLAIN);
        let full =
            lines.last().is_some_and(|line| !line.is_empty() && line.width() + 3 + part.width() >= columns);
        if full {
            lines.push(Line::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push("   ", Style::PLAIN);
            }
            line.extend(part);
        }
    }
    // A rule is shown to its last letter, however long it is.
    lines.iter().flat_map(|line| line.wrap(columns.saturating_sub(1), 4)).collect()
}

#[cfg(test)]
mod tests;
