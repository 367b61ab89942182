//! Prompts for permission requests and questions.
//!
//! Each kind is a small state machine: keys go in, lines come out, and at the end there is a [`Reply`].

mod entry;
mod input;
mod permission;
mod questions;

pub use permission::PermissionAsk;
pub(crate) use questions::{Choice, QuestionAsk, QuestionsAsk, Selection};

use tidings_protocol::ui::PermissionScope;

use super::keys::Key;
use super::line::Line;
use super::style::Style;

/// Decision or answer of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The tool may run.
    Allow(PermissionScope),
    /// The tool may not run; the optional reason is sent to the model.
    Deny(Option<String>),
    /// The answers, one list per question.
    Answers(Vec<Vec<String>>),
    /// The user does not want to answer.
    Declined,
}

/// A pending request.
#[derive(Debug, Clone)]
pub(crate) enum PendingRequest {
    Permission(PermissionAsk),
    Questions(QuestionsAsk),
}

/// All pending requests, oldest first; one of them is in front and gets the keys.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    open: Vec<(String, PendingRequest)>,
    at: usize,
}

impl PendingRequests {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds a request, unless it is already pending; returns true if it is new.
    pub(crate) fn open(&mut self, id: &str, ask: PendingRequest) -> bool {
        let new = !self.open.iter().any(|(open, _)| open == id);
        if new {
            self.open.push((id.to_owned(), ask));
        }
        new
    }

    /// Removes a request that was answered elsewhere or withdrawn.
    pub(crate) fn close(&mut self, id: &str) -> Option<PendingRequest> {
        let index = self.open.iter().position(|(open, _)| open == id)?;
        let (_, ask) = self.open.remove(index);
        if self.at > index || self.at >= self.open.len() {
            self.at = self.at.saturating_sub(1);
        }
        Some(ask)
    }

    /// Passes a key to the request in front. Once it is answered, removes and returns it with the answer.
    pub(crate) fn key(&mut self, key: &Key) -> Option<(String, PendingRequest, Reply)> {
        if *key == Key::Tab && self.open.len() > 1 {
            self.at = (self.at + 1) % self.open.len();
            return None;
        }
        let (id, ask) = self.open.get_mut(self.at)?;
        let reply = match ask {
            PendingRequest::Permission(ask) => ask.key(key),
            PendingRequest::Questions(ask) => ask.key(key),
        }?;
        let id = id.clone();
        let ask = self.close(&id)?;
        Some((id, ask, reply))
    }

    /// Formats the request in front with its keys, and the number of pending requests.
    pub(crate) fn lines(&self, columns: usize) -> Vec<Line> {
        let Some((_, ask)) = self.open.get(self.at) else { return Vec::new() };
        let mut lines = Vec::new();
        if self.open.len() > 1 {
            let position = format!("Request {} of {}", self.at + 1, self.open.len());
            lines.push(Line::styled(&position, Style::YELLOW).with("  [Tab] next", Style::DIM));
        }
        match ask {
            PendingRequest::Permission(ask) => lines.extend(ask.lines(columns, self.open.len() > 1)),
            PendingRequest::Questions(ask) => lines.extend(ask.lines(columns)),
        }
        lines
    }
}

/// Formats keys and their functions, as in `[y] once`.
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
    // Wrapped instead of cut, so that a rule is shown completely.
    lines.iter().flat_map(|line| line.wrap(columns.saturating_sub(1), 4)).collect()
}

#[cfg(test)]
mod tests;
