//! Card of a tool call: one line with its name and a summary.

use std::time::Duration;

use serde_json::Value;
use tidings_protocol::json::Raw;
use tidings_protocol::tools::{ToolInput, mcp_parts};

use super::line::Line;
use super::status::duration;
use super::style::Style;

/// Card of a tool call.
#[derive(Debug, Clone)]
pub(super) struct Card {
    tool: String,
    summary: String,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardEnd<'a> {
    Success,
    /// It failed with this error.
    Failed(&'a str),
}

impl Card {
    /// Creates the card of a call. Paths below `folder` are shown relative to it.
    pub(super) fn new(tool: &str, input: &Value, folder: Option<&str>) -> Self {
        Card { tool: shown_name(tool), summary: summary(tool, input, folder) }
    }

    /// Line while the tool runs.
    pub(super) fn running(&self, spinner: char, elapsed: Option<Duration>) -> Line {
        let line = Line::styled(&format!("{spinner} "), Style::CYAN);
        self.rest(line, elapsed.filter(|elapsed| *elapsed >= Duration::from_secs(1)))
    }

    /// Lines after the tool has ended.
    pub(super) fn ended(&self, end: CardEnd<'_>, elapsed: Option<Duration>, columns: usize) -> Vec<Line> {
        let mark = match end {
            CardEnd::Success => Line::styled("✓ ", Style::GREEN),
            CardEnd::Failed(_) => Line::styled("✗ ", Style::RED),
        };
        let mut lines = vec![self.fitted(mark, elapsed, columns)];
        if let CardEnd::Failed(error) = end
            && let Some(first) = error.lines().map(str::trim).find(|line| !line.is_empty())
        {
            lines.push(Line::styled(first, Style::RED).indented(2).fit(columns));
        }
        lines
    }

    fn rest(&self, mut line: Line, elapsed: Option<Duration>) -> Line {
        line.push(&self.tool, Style::BOLD);
        if !self.summary.is_empty() {
            line.push(&format!(" {}", self.summary), Style::PLAIN);
        }
        if let Some(elapsed) = elapsed {
            line.push(&format!("  {}", duration(elapsed)), Style::DIM);
        }
        line
    }

    /// Cuts a long summary, so that the duration fits behind it.
    fn fitted(&self, mark: Line, elapsed: Option<Duration>, columns: usize) -> Line {
        let time = elapsed.map(|elapsed| format!("  {}", duration(elapsed))).unwrap_or_default();
        let mut line = self.rest(mark, None).fit(columns.saturating_sub(time.len()));
        line.push(&time, Style::DIM);
        line
    }
}

/// Formats a tool name: `mcp__github__search` becomes `github: search`.
fn shown_name(tool: &str) -> String {
    match mcp_parts(tool) {
        Some((server, tool)) => format!("{server}: {tool}"),
        None => tool.to_owned(),
    }
}

/// Summarizes an input.
fn summary(tool: &str, input: &Value, folder: Option<&str>) -> String {
    let json = input.to_string();
    let summary = Raw::parse(&json)
        .ok()
        .and_then(|input| ToolInput::read(tool, input).ok())
        .map_or_else(String::new, |input| input.summary());
    let summary = if summary == "{}" { String::new() } else { summary };
    let below = folder.and_then(|folder| summary.strip_prefix(folder)?.strip_prefix('/'));
    below.map_or(summary.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cards_say_what_matters() {
        let cases = [
            ("Bash", json!({"command": "npm test\nnpm run build", "description": "Run"})),
            ("Read", json!({"file_path": "/home/ada/demo/src/main.rs", "offset": 10, "limit": 20})),
            ("Edit", json!({"file_path": "/etc/hosts", "old_string": "a", "new_string": "b"})),
            ("mcp__github__search_issues", json!({"query": "is:open \u{1b}[31m"})),
            (
                "Grep",
                json!({"pattern": "a very long pattern that goes on and on until nobody can read it any more"}),
            ),
            ("TodoWrite", json!({"todos": [{"content": "a", "status": "completed", "activeForm": "A"}]})),
            ("Odd", json!(null)),
            ("Odder", json!({})),
        ];
        let mut shown = String::new();
        for (tool, input) in cases {
            let card = Card::new(tool, &input, Some("/home/ada/demo"));
            let mut lines = vec![card.running('⠋', Some(Duration::from_secs(75)))];
            lines.extend(card.ended(CardEnd::Success, Some(Duration::from_millis(340)), 50));
            lines.extend(card.ended(CardEnd::Failed("\n no such file\nmore"), None, 50));
            for line in lines {
                shown += &(line.text() + "\n");
            }
        }
        insta::assert_snapshot!(shown);
    }
}
