//! View of a running session: events in, lines out.

mod asking;
mod prompting;
mod side_events;
mod spacing;

use std::io;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidings_protocol::ui::{PermissionDetails, QuestionDetails, TodoItem, TurnResult, UiMessage};

use self::spacing::Spacing;
use super::ask::{PendingRequests, Reply};
use super::card::{Card, CardEnd};
use super::diff::diff;
use super::keys::Key;
use super::line::Line;
use super::live::{Agent, NOTABLE, Running, agent_lines, running_lines, spinner, todo_lines};
use super::markdown::MarkdownStream;
use super::prompt::{PromptAction, PromptInput};
use super::screen::Screen;
use super::status::{Status, duration};
use super::style::Style;

/// Visibility of diffs under the cards of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diffs {
    Shown,
    Hidden,
}

/// Visibility of the model's reasoning, and of notes that are meant for logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoughts {
    Shown,
    Hidden,
}

/// Start of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStart {
    At(Instant),
    /// Before this view was attached, at this time; the duration of the turn is unknown.
    Before(Instant),
}

/// Effect of Ctrl-C during a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CtrlC {
    /// The turn ends; again, and the program ends. With an input line, two more presses are needed.
    Interrupts,
    /// The turn ends; again, and the program ends without the session.
    InterruptsThenDetaches,
    /// The program ends, and the turn continues.
    Detaches,
}

/// Effect of a key outside of the view.
#[derive(Debug, PartialEq)]
pub enum KeyEffect {
    None,
    /// The answer to a request.
    Answer(String, Reply),
    /// An effect of the input line.
    Prompt(PromptAction),
}

/// Maximum width of text, for readability.
const TEXT_COLUMNS_MAX: usize = 100;

/// Time after a request opens in which letters still go to the input line: the user cannot have read the
/// request yet, and a letter that was meant for a prompt must not answer it.
const REQUEST_GRACE: Duration = Duration::from_millis(400);

/// View of a session on a screen.
pub struct View {
    screen: Screen,
    diffs: Diffs,
    thoughts: Thoughts,
    /// Columns and rows of the terminal.
    size: (usize, usize),
    folder: Option<String>,
    text: MarkdownStream,
    thinking: String,
    /// True inside of a text of the agent.
    in_text: bool,
    /// Texts of prompts, and lines of prompts and notes, that came inside of a text and are shown after it.
    held: Vec<(Option<String>, Vec<Line>)>,
    spacing: Spacing,
    running: Vec<Running>,
    agents: Vec<Agent>,
    todos: Vec<TodoItem>,
    doing: Option<String>,
    status: Status,
    turn_start: Option<TurnStart>,
    ctrl_c: CtrlC,
    failed_call: Option<(String, bool, Option<Value>)>,
    permissions: Vec<PermissionDetails>,
    questions: Vec<QuestionDetails>,
    asks: PendingRequests,
    /// Input line; none if no prompts are typed.
    input: Option<PromptInput>,
    /// True if a request came while a prompt was typed: keys go to the prompt until Escape or its end.
    defers_requests: bool,
    /// Time at which the first of the pending requests opened.
    asked_at: Option<Instant>,
    /// Ids and texts of the prompts that wait for the end of the turn.
    queued: Vec<(String, String)>,
    /// Error that was shown last, so that the same error is not shown twice.
    error: Option<String>,
    stopping: Stopping,
}

/// State of an interrupt by the user. Failures of an interrupted turn are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopping {
    No,
    Yes,
}

impl View {
    pub(crate) fn new(screen: Screen, diffs: Diffs, thoughts: Thoughts, size: (usize, usize)) -> Self {
        View {
            screen,
            diffs,
            thoughts,
            size,
            folder: None,
            text: MarkdownStream::default(),
            thinking: String::new(),
            in_text: false,
            held: Vec::new(),
            spacing: Spacing::default(),
            running: Vec::new(),
            agents: Vec::new(),
            todos: Vec::new(),
            doing: None,
            status: Status::default(),
            turn_start: None,
            ctrl_c: CtrlC::Interrupts,
            failed_call: None,
            permissions: Vec::new(),
            questions: Vec::new(),
            asks: PendingRequests::default(),
            input: None,
            defers_requests: false,
            asked_at: None,
            queued: Vec::new(),
            error: None,
            stopping: Stopping::No,
        }
    }

    pub fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }

    pub(crate) fn resized(&mut self, size: (usize, usize)) {
        self.size = size;
        self.screen.resized(size.0);
    }

    /// True while a turn runs.
    pub fn is_in_turn(&self) -> bool {
        self.turn_start.is_some()
    }

    /// True if a request is pending.
    pub(crate) fn is_asking(&self) -> bool {
        !self.asks.is_empty()
    }

    /// Sets the effect of Ctrl-C, which is shown during a turn.
    pub fn ctrl_c(&mut self, effect: CtrlC) {
        self.ctrl_c = effect;
    }

    /// Starts a turn, after a prompt was sent.
    pub(crate) fn start_turn(&mut self, start: TurnStart) {
        self.turn_start = Some(start);
        self.stopping = Stopping::No;
        self.error = None;
        self.status.next_turn();
        self.todos.clear();
    }

    /// Shows that the user has interrupted the turn.
    pub fn interrupted(&mut self) -> io::Result<()> {
        let leave = match (self.ctrl_c, &self.input) {
            // Prompts that waited may be in the input line again, and Ctrl-C clears it first.
            (CtrlC::Interrupts, Some(_)) => "Ctrl-C twice at an empty prompt leaves",
            (CtrlC::Interrupts, None) => "press Ctrl-C again to exit",
            (CtrlC::InterruptsThenDetaches | CtrlC::Detaches, _) => "press Ctrl-C again to detach",
        };
        let text = format!("• interrupted; {leave}");
        self.note(Line::styled(&text, Style::YELLOW))?;
        self.stopping = Stopping::Yes;
        Ok(())
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &UiMessage, now: Instant) -> io::Result<()> {
        if !matches!(event, UiMessage::Thinking(_)) {
            self.end_thought()?;
        }
        self.observe(event);
        let was_asking = self.is_asking();
        match event {
            UiMessage::TextChunk { text, .. } => self.text(text)?,
            UiMessage::TextEnded(_) => self.end_text()?,
            UiMessage::Thinking(thought) => self.thinking.push_str(&thought.text),
            UiMessage::Display { content, .. } => {
                self.end_text()?;
                self.text(content)?;
                self.end_text()?;
            }
            UiMessage::ToolExecuting { tool_use_id, tool_name, input, .. } => {
                self.end_text()?;
                self.tool_began(tool_use_id, tool_name, input, now);
            }
            UiMessage::ToolDetails(details) => {
                let result = details.tool_use_result.clone();
                self.failed_call = Some((details.tool_use_id.clone(), details.is_error, result));
            }
            UiMessage::ToolCompleted { tool_use_id, result, .. } => {
                self.tool_ended(tool_use_id, result, now)?;
            }
            UiMessage::TodoList(list) if list.agent_id.is_none() => self.todos.clone_from(&list.items),
            UiMessage::Progress(progress) if progress.agent_id.is_none() => {
                self.doing.clone_from(&progress.step);
            }
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                self.status.context = u64::try_from(*input_tokens).ok();
                self.status.output = u64::try_from(*output_tokens).ok();
            }
            UiMessage::TurnResult(result) => self.turn_result(result)?,
            UiMessage::Complete { .. } => self.turn_ended(now)?,
            _ => self.side_event(event, now)?,
        }
        if self.is_asking() && !was_asking {
            self.asked_at = Some(now);
        }
        self.draw(now)
    }

    /// Redraws the lines that change.
    pub fn draw(&mut self, now: Instant) -> io::Result<()> {
        if !self.screen.is_interactive() {
            return Ok(());
        }
        let (columns, rows) = self.size;
        let mut lines = Vec::new();
        if self.asks.is_empty() {
            let since = self.turn_start.map_or(now, |(TurnStart::At(at) | TurnStart::Before(at))| at);
            let spinner = spinner(now.saturating_duration_since(since));
            if self.screen.shows_data() {
                lines.extend(self.text.tail(self.text_columns()));
            }
            // Notes that wait for the end of the text are seen below it.
            let held = self.held.iter().filter(|(prompt, _)| prompt.is_none());
            let notes: Vec<Line> = held.flat_map(|(_, lines)| lines.iter().cloned()).collect();
            let is_apart = if lines.is_empty() { self.spacing.ends_with_text() } else { !notes.is_empty() };
            if is_apart {
                lines.push(Line::new());
            }
            lines.extend(notes);
            lines.extend(running_lines(&self.running, spinner, now));
            lines.extend(agent_lines(&self.agents, spinner, now, columns.saturating_sub(1)));
            lines.extend(todo_lines(&self.todos));
            lines.extend(self.waiting_line(spinner, now));
        } else {
            lines.push(Line::new());
            if !self.is_in_grace(now) {
                lines.extend(self.asks.lines(columns));
            }
        }
        let mut cursor = None;
        if let Some((prompt, (row, column))) = self.prompt_lines(now) {
            cursor = Some((lines.len() + row, column));
            lines.extend(prompt);
        }
        // If the lines do not fit, show the last ones, and keep one row free above them.
        let skipped = lines.len().saturating_sub(rows.saturating_sub(1).max(1));
        let cursor = cursor.map(|(row, column)| (row.saturating_sub(skipped), column));
        self.screen.live(&lines[skipped..], columns, cursor)
    }

    /// Passes a key to the request in front, or to the input line.
    pub(crate) fn key(&mut self, key: &Key, now: Instant) -> io::Result<KeyEffect> {
        if let Some(effect) = self.prompt_key(key, now) {
            self.draw(now)?;
            return Ok(KeyEffect::Prompt(effect));
        }
        let settled = self.asks.key(key);
        if let Some((id, ask, reply)) = &settled {
            self.settled(ask, reply)?;
            // The duration of the tool does not include the time for the answer.
            for call in self.running.iter_mut().filter(|call| call.id == *id) {
                call.since = now;
            }
        }
        self.draw(now)?;
        Ok(settled.map_or(KeyEffect::None, |(id, _, reply)| KeyEffect::Answer(id, reply)))
    }

    /// Shows a note, which is not part of the answer, at once.
    pub fn note(&mut self, line: Line) -> io::Result<()> {
        self.end_text()?;
        let lines = self.note_lines(line);
        self.cards(&lines)
    }

    fn note_lines(&self, line: Line) -> Vec<Line> {
        if self.screen.is_interactive() { line.wrap(self.card_columns(), 2) } else { vec![line] }
    }

    /// Shows a note after the text that is being written.
    fn note_after_text(&mut self, line: Line) -> io::Result<()> {
        let lines = self.note_lines(line);
        self.after_text(None, lines)
    }

    /// Ends the view: shows buffered text, and removes the lines that change.
    pub fn finish(&mut self) -> io::Result<()> {
        self.end_thought()?;
        self.end_text()?;
        self.screen.clear()
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.in_text = true;
        if !self.screen.shows_data() {
            if self.spacing.another_text() {
                self.screen.end_data_line()?;
                self.screen.data_text("\n")?;
            }
            return self.screen.data_text(text);
        }
        let lines = self.text.push(text, self.text_columns());
        self.text_lines(&lines)
    }

    fn end_text(&mut self) -> io::Result<()> {
        if self.screen.shows_data() {
            let lines = self.text.finish(self.text_columns());
            self.text_lines(&lines)?;
        } else {
            self.screen.end_data_line()?;
        }
        self.spacing.text_ended();
        self.in_text = false;
        for (prompt, lines) in std::mem::take(&mut self.held) {
            self.lines_after_text(prompt.is_some(), &lines)?;
        }
        Ok(())
    }

    /// Shows lines after the text that is being written, since they would cut it. `prompt` is the text of a
    /// prompt, which is shown below the text until then.
    fn after_text(&mut self, prompt: Option<&str>, lines: Vec<Line>) -> io::Result<()> {
        if self.in_text {
            self.held.push((prompt.map(str::to_owned), lines));
            return Ok(());
        }
        self.end_text()?;
        self.lines_after_text(prompt.is_some(), &lines)
    }

    fn lines_after_text(&mut self, is_prompt: bool, lines: &[Line]) -> io::Result<()> {
        if is_prompt && self.spacing.ends_with_cards() {
            self.screen.notes(&[Line::new()])?;
        }
        self.cards(lines)
    }

    fn text_lines(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.spacing.text_begins() || self.spacing.after_cards() {
            self.screen.data(&[Line::new()])?;
        }
        self.screen.data(lines)
    }

    /// Shows lines that are not part of the answer, separated from it.
    fn cards(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.spacing.cards_begin() && self.screen.shows_data() {
            self.screen.notes(&[Line::new()])?;
        }
        self.screen.notes(lines)
    }

    fn end_thought(&mut self) -> io::Result<()> {
        let thought = std::mem::take(&mut self.thinking);
        if thought.trim().is_empty() || self.thoughts == Thoughts::Hidden {
            return Ok(());
        }
        let columns = self.text_columns();
        let lines: Vec<Line> = thought
            .trim()
            .lines()
            .flat_map(|line| {
                Line::styled(&format!("  {line}"), Style::DIM.and(Style::ITALIC)).wrap(columns, 2)
            })
            .collect();
        self.cards(&lines)
    }

    fn tool_began(&mut self, id: &str, tool: &str, input: &Value, now: Instant) {
        // These are shown as a list or as questions.
        let has_own_view = matches!(tool, "AskUserQuestion" | "ExitPlanMode")
            || (matches!(tool, "TodoWrite" | "TaskCreate" | "TaskUpdate") && self.screen.is_interactive());
        if !has_own_view {
            let card = Card::new(tool, input, self.folder.as_deref());
            self.running.push(Running { id: id.to_owned(), card, input: input.clone(), since: now });
        }
    }

    fn tool_ended(&mut self, id: &str, result: &str, now: Instant) -> io::Result<()> {
        let Some(at) = self.running.iter().position(|call| call.id == id) else { return Ok(()) };
        let call = self.running.remove(at);
        let details = self.failed_call.take().filter(|(of, _, _)| of == id);
        let failed = details.as_ref().is_some_and(|(_, failed, _)| *failed);
        let end = match (failed, self.stopping) {
            (false, _) => CardEnd::Success,
            (true, Stopping::Yes) => CardEnd::Failed("interrupted"),
            (true, Stopping::No) => CardEnd::Failed(result),
        };
        let took = Some(now.saturating_duration_since(call.since)).filter(|took| *took >= NOTABLE);
        let mut lines = call.card.ended(end, took, self.card_columns());
        if self.diffs == Diffs::Shown && !failed {
            lines.extend(diff(&call.input, details.and_then(|(_, _, result)| result).as_ref()));
        }
        self.after_text(None, lines)
    }

    fn turn_result(&mut self, result: &TurnResult) -> io::Result<()> {
        self.status.ended(result);
        if result.is_error { self.failed(result.error.as_deref().unwrap_or(&result.subtype)) } else { Ok(()) }
    }

    fn failed(&mut self, error: &str) -> io::Result<()> {
        if self.stopping == Stopping::Yes || self.error.as_deref() == Some(error) {
            return Ok(());
        }
        self.error = Some(error.to_owned());
        let lines = Line::styled(&format!("✗ {error}"), Style::RED).wrap(self.card_columns(), 2);
        self.end_text()?;
        self.cards(&lines)
    }

    fn turn_ended(&mut self, now: Instant) -> io::Result<()> {
        self.end_text()?;
        // A tool that did not end was interrupted.
        let open: Vec<Running> = self.running.drain(..).collect();
        for call in open {
            let lines = call.card.ended(CardEnd::Failed("interrupted"), None, self.card_columns());
            self.cards(&lines)?;
        }
        if let Some(began) = self.turn_start.take().filter(|_| self.screen.is_interactive()) {
            let took = match began {
                TurnStart::At(at) => Some(now.saturating_duration_since(at)),
                TurnStart::Before(_) => self.status.took,
            };
            let line = match self.input {
                // The input line has the rest below it.
                Some(_) => self.status.turn_line(took),
                None => self.status.line(took),
            };
            let mut lines = line.wrap(self.card_columns(), 0);
            if self.screen.shows_data() {
                lines.insert(0, Line::new());
            }
            self.screen.notes(&lines)?;
            self.spacing = Spacing::default();
            if self.input.is_some() {
                // The next prompt is separated from it.
                self.spacing.cards_begin();
            }
        }
        Ok(())
    }

    /// Last line during a turn: activity, duration, context, and the effect of keys.
    fn waiting_line(&self, spinner: char, now: Instant) -> Option<Line> {
        let began = self.turn_start?;
        let doing = self.doing.as_deref().filter(|_| self.todos.is_empty());
        let doing = if self.thinking.is_empty() { doing } else { Some("thinking") };
        let took = match began {
            TurnStart::At(at) => {
                let took = Duration::from_secs(now.saturating_duration_since(at).as_secs());
                Some(duration(took).replace(".0s", "s"))
            }
            TurnStart::Before(_) => None,
        };
        let ctrl_c = match self.ctrl_c {
            CtrlC::Interrupts | CtrlC::InterruptsThenDetaches => "Ctrl-C interrupts",
            CtrlC::Detaches => "Ctrl-C detaches",
        };
        let doing = doing.map(str::to_owned);
        let parts: Vec<String> = match &self.input {
            // On a narrow screen the keys matter most.
            Some(input) if input.is_empty() => {
                [took, Some(ctrl_c.to_owned()), doing].into_iter().flatten().collect()
            }
            Some(_) => {
                let keys = "Enter queues · Ctrl-S steers".to_owned();
                [took, Some(keys), doing].into_iter().flatten().collect()
            }
            None => {
                let context = self.status.context.filter(|context| *context > 0);
                let context = context.map(|context| format!("{} context", super::status::tokens(context)));
                [doing, took, context, Some(ctrl_c.to_owned())].into_iter().flatten().collect()
            }
        };
        Some(Line::styled(&format!("{spinner} {}", parts.join(" · ")), Style::DIM))
    }

    fn text_columns(&self) -> usize {
        self.size.0.min(TEXT_COLUMNS_MAX)
    }

    /// Width of cards: that of the terminal, or 120 columns without one.
    fn card_columns(&self) -> usize {
        if self.screen.is_interactive() { self.size.0.saturating_sub(1) } else { 120 }
    }
}

#[cfg(test)]
mod tests;
