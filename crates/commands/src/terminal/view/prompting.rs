//! The input line in the view, and the prompts that wait.

use std::io;
use std::time::Instant;

use tidings_protocol::ui::UiMessage;

use super::super::keys::Key;
use super::super::line::Line;
use super::super::prompt::{KEYS, PromptAction, PromptInput, SlashCommand};
use super::super::style::Style;
use super::{REQUEST_GRACE, TurnStart, View};

/// Maximum number of waiting prompts that are shown.
const QUEUED_MAX: usize = 3;

/// Columns of the names of keys in their list.
const KEY_COLUMNS: usize = 32;

impl View {
    /// Adds an input line, which is shown below everything else.
    pub(crate) fn set_input(&mut self, input: PromptInput) {
        self.input = Some(input);
    }

    pub fn input(&mut self) -> Option<&mut PromptInput> {
        self.input.as_mut()
    }

    /// Shows an event of a conversation: as `event` does, with the prompts, and with turns that the agent
    /// begins itself.
    pub fn show(&mut self, event: &UiMessage, at: TurnStart, now: Instant) -> io::Result<()> {
        match event {
            UiMessage::PromptQueued(prompt) => self.queue(&prompt.uuid, &prompt.text),
            UiMessage::PromptDropped(prompt) => drop(self.unqueue(&prompt.uuid)),
            UiMessage::UserPrompt(prompt) => {
                if let Some(uuid) = &prompt.uuid {
                    self.unqueue(uuid);
                }
                if prompt.origin.is_none() {
                    self.prompt_sent(&prompt.text, at)?;
                }
            }
            UiMessage::TurnStarted(_) if !self.is_in_turn() => self.start_turn(at),
            _ => {}
        }
        self.event(event, now)
    }

    /// Shows a prompt that waits for the end of the turn.
    pub(crate) fn queue(&mut self, id: &str, text: &str) {
        self.queued.push((id.to_owned(), text.to_owned()));
    }

    /// Removes a waiting prompt; returns false if it did not wait.
    pub(crate) fn unqueue(&mut self, id: &str) -> bool {
        let before = self.queued.len();
        self.queued.retain(|(queued, _)| queued != id);
        self.queued.len() < before
    }

    /// Shows the keys of the input line.
    pub(crate) fn show_keys(&mut self) -> io::Result<()> {
        let columns = self.card_columns();
        let lines: Vec<Line> = KEYS
            .iter()
            .flat_map(|(key, meaning)| {
                let key = crate::human::padded(key, KEY_COLUMNS);
                Line::styled(&key, Style::BOLD).with(meaning, Style::PLAIN).wrap(columns, 4)
            })
            .collect();
        self.end_text()?;
        self.cards(&lines)
    }

    /// Notes what an event says about the session.
    pub(super) fn observe(&mut self, event: &UiMessage) {
        let commands = match event {
            UiMessage::SessionStarted(session) => {
                self.folder.clone_from(&session.cwd);
                self.status.model.clone_from(&session.model);
                self.status.mode.clone_from(&session.permission_mode);
                Some(&session.slash_commands).filter(|commands| !commands.is_empty())
            }
            UiMessage::SettingsChanged(settings) => {
                if settings.model.is_some() {
                    self.status.model.clone_from(&settings.model);
                }
                if settings.permission_mode.is_some() {
                    self.status.mode.clone_from(&settings.permission_mode);
                }
                settings.slash_commands.as_ref()
            }
            UiMessage::RateLimit(limit) => {
                self.status.limit(limit);
                None
            }
            _ => None,
        };
        if let (Some(input), Some(commands)) = (&mut self.input, commands) {
            let command = |name: &String| SlashCommand { name: name.clone(), description: String::new() };
            input.set_commands(commands.iter().map(command).collect());
        }
    }

    /// Passes a key to the input line, unless a request gets it.
    pub(super) fn prompt_key(&mut self, key: &Key, now: Instant) -> Option<PromptAction> {
        if self.is_in_grace(now) && matches!(key, Key::Char(_) | Key::Paste(_)) {
            self.defers_requests = true;
            return self.input.as_mut().map(|input| input.key(key));
        }
        let request_first = !self.asks.is_empty() && !self.is_deferring();
        let input = self.input.as_mut().filter(|_| !request_first)?;
        if *key == Key::Escape && !self.asks.is_empty() {
            self.defers_requests = false;
            return Some(PromptAction::None);
        }
        Some(input.key(key))
    }

    /// Lines of the input line and below it, and the cursor; none if a request gets the keys.
    pub(super) fn prompt_lines(&self, now: Instant) -> Option<(Vec<Line>, (usize, usize))> {
        let input = self.input.as_ref()?;
        if !self.asks.is_empty() && !self.is_deferring() && !self.is_in_grace(now) {
            return None;
        }
        let mut lines = Vec::new();
        for text in self.held.iter().filter_map(|(prompt, _)| prompt.as_ref()) {
            lines.push(Line::styled(&format!("› {text}"), Style::BOLD));
        }
        for (_, text) in self.queued.iter().take(QUEUED_MAX) {
            lines.push(Line::styled(&format!("⋯ queued: {text}"), Style::DIM));
        }
        if let Some(more @ 1..) = self.queued.len().checked_sub(QUEUED_MAX) {
            lines.push(Line::styled(&format!("⋯ {more} more queued"), Style::DIM));
        }
        if self.is_deferring() && !self.asks.is_empty() {
            lines.push(Line::styled("[Esc]", Style::BOLD).with(" answer the request first", Style::PLAIN));
        }
        if !self.is_in_turn() {
            lines.push(Line::new());
        }
        let above = lines.len();
        let (prompt, (row, column)) = input.lines(self.size.0);
        lines.extend(prompt);
        let hint = if self.is_in_turn() || !input.is_empty() { None } else { Some("? keys") };
        lines.extend(self.status.session_line(hint).wrap(self.size.0.saturating_sub(1), 0));
        Some((lines, (above + row, column)))
    }

    /// True if keys go to the prompt although a request is pending.
    fn is_deferring(&self) -> bool {
        self.defers_requests && self.input.as_ref().is_some_and(|input| !input.is_empty())
    }

    /// True if a request has just opened above an input line.
    pub(super) fn is_in_grace(&self, now: Instant) -> bool {
        let is_new = |at| now.saturating_duration_since(at) < REQUEST_GRACE;
        !self.asks.is_empty() && self.input.is_some() && self.asked_at.is_some_and(is_new)
    }

    fn prompt_sent(&mut self, text: &str, at: TurnStart) -> io::Result<()> {
        let columns = self.card_columns();
        let lines: Vec<Line> = text
            .lines()
            .enumerate()
            .flat_map(|(number, line)| {
                let mark = if number == 0 { "› " } else { "  " };
                Line::styled(&format!("{mark}{line}"), Style::BOLD).wrap(columns, 2)
            })
            .collect();
        self.after_text(Some(text), lines)?;
        if !self.is_in_turn() {
            self.start_turn(at);
        }
        Ok(())
    }
}
