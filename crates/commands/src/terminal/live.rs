//! Lines that change during a turn: running tools, sub-agents, the todo list.

use std::time::{Duration, Instant};

use tidings_protocol::ui::{
    SubAgentEnded, SubAgentOutcome, SubAgentProgressed, SubAgentStarted, TodoItem, TodoStatus,
};

use super::card::Card;
use super::line::Line;
use super::status::{duration, tokens};
use super::style::Style;

/// Frames of the spinner.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Duration of a frame of the spinner.
const FRAME: Duration = Duration::from_millis(100);

/// Minimum duration that is shown.
pub(super) const NOTABLE: Duration = Duration::from_millis(100);

/// Maximum number of todos that are shown.
const TODOS_MAX: usize = 7;

/// A running tool call.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: String,
    pub(super) card: Card,
    pub(super) input: serde_json::Value,
    pub(super) since: Instant,
}

/// A running sub-agent.
#[derive(Debug)]
pub(super) struct Agent {
    id: String,
    kind: String,
    parent: Option<String>,
    doing: String,
    tool_uses: u64,
    tokens: u64,
    since: Instant,
}

impl Agent {
    pub(super) fn new(started: &SubAgentStarted, now: Instant) -> Self {
        Agent {
            id: started.agent_id.clone(),
            kind: started.agent_type.clone().unwrap_or_else(|| "sub-agent".to_owned()),
            parent: started.parent_agent_id.clone(),
            doing: started.description.clone().unwrap_or_default(),
            tool_uses: 0,
            tokens: 0,
            since: now,
        }
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    pub(super) fn progressed(&mut self, progress: &SubAgentProgressed) {
        if let Some(doing) = progress.summary.as_ref().or(progress.description.as_ref()) {
            self.doing.clone_from(doing);
        }
        self.tool_uses = progress.tool_uses.unwrap_or(self.tool_uses);
        self.tokens = progress.tokens.unwrap_or(self.tokens);
    }

    /// Lines that stay after it has ended.
    pub(super) fn ended(&self, end: &SubAgentEnded, now: Instant, columns: usize) -> Vec<Line> {
        let (mark, style) = match end.outcome {
            SubAgentOutcome::Completed => ("✓", Style::GREEN),
            SubAgentOutcome::Failed | SubAgentOutcome::Stopped => ("✗", Style::RED),
            _ => ("•", Style::DIM),
        };
        let text = end.summary.as_ref().or(end.error.as_ref()).unwrap_or(&self.doing);
        let mut line = Line::styled(&format!("{mark} "), style).with(&self.kind, Style::BOLD);
        line.push(&format!(" {}", first_line(text)), Style::PLAIN);
        let figures =
            self.figures(end.tool_uses, end.tokens, end.duration_ms.map(Duration::from_millis), now);
        vec![with_figures(&line, &figures, columns)]
    }

    fn line(&self, spinner: char, now: Instant, columns: usize) -> Line {
        let indent = if self.parent.is_some() { 2 } else { 0 };
        let mut line = Line::styled(&format!("{spinner} "), Style::CYAN).with(&self.kind, Style::BOLD);
        line.push(&format!(" {}", first_line(&self.doing)), Style::PLAIN);
        with_figures(&line.indented(indent), &self.figures(None, None, None, now), columns)
    }

    fn figures(&self, calls: Option<u64>, used: Option<u64>, took: Option<Duration>, now: Instant) -> String {
        let (calls, used) = (calls.unwrap_or(self.tool_uses), used.unwrap_or(self.tokens));
        let mut parts = Vec::new();
        if calls > 0 {
            parts.push(crate::human::plural(calls, "tool"));
        }
        if used > 0 {
            parts.push(format!("{} tokens", tokens(used)));
        }
        let took = took.unwrap_or(now.saturating_duration_since(self.since));
        if took >= NOTABLE {
            parts.push(duration(took));
        }
        parts.join(" · ")
    }
}

/// Returns the frame of the spinner at a time.
pub(super) fn spinner(elapsed: Duration) -> char {
    let frame = elapsed.as_millis() / FRAME.as_millis();
    SPINNER[usize::try_from(frame).unwrap_or(0) % SPINNER.len()]
}

pub(super) fn running_lines(running: &[Running], spinner: char, now: Instant) -> Vec<Line> {
    running
        .iter()
        .map(|call| call.card.running(spinner, Some(now.saturating_duration_since(call.since))))
        .collect()
}

pub(super) fn agent_lines(agents: &[Agent], spinner: char, now: Instant, columns: usize) -> Vec<Line> {
    agents.iter().map(|agent| agent.line(spinner, now, columns)).collect()
}

/// Formats the todo list around the current item.
pub(super) fn todo_lines(todos: &[TodoItem]) -> Vec<Line> {
    let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
    if todos.is_empty() || done == todos.len() {
        return Vec::new();
    }
    let current = todos.iter().position(|todo| todo.status != TodoStatus::Completed).unwrap_or(0);
    let first = current.saturating_sub(1).min(todos.len().saturating_sub(TODOS_MAX));
    let mut lines = vec![Line::styled(&format!("{done} of {} done", todos.len()), Style::DIM)];
    for todo in todos.iter().skip(first).take(TODOS_MAX) {
        lines.push(todo_line(todo));
    }
    let more = todos.len().saturating_sub(first + TODOS_MAX);
    if more > 0 {
        lines.push(Line::styled(&format!("  … {more} more"), Style::DIM));
    }
    lines
}

fn todo_line(todo: &TodoItem) -> Line {
    match todo.status {
        TodoStatus::Completed => Line::styled("  ☑ ", Style::GREEN).with(&todo.content, Style::DIM),
        TodoStatus::InProgress => {
            let text = todo.active_form.as_ref().unwrap_or(&todo.content);
            Line::styled("  ▸ ", Style::CYAN).with(text, Style::BOLD)
        }
        TodoStatus::Cancelled => {
            Line::styled("  ☒ ", Style::DIM).with(&todo.content, Style::DIM.and(Style::STRIKE))
        }
        _ => Line::styled("  ☐ ", Style::DIM).with(&todo.content, Style::PLAIN),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Adds figures at the end of a line, except on narrow screens.
fn with_figures(line: &Line, figures: &str, columns: usize) -> Line {
    const WIDE: usize = 60;
    if columns < WIDE || figures.is_empty() {
        return line.fit(columns);
    }
    let room = columns.saturating_sub(figures.chars().count() + 3);
    line.fit(room).with(&format!("  {figures}"), Style::DIM)
}
