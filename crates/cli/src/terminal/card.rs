//! A tool in one line.

use std::time::Duration;

use serde_json::Value;
use tidings_protocol::json::Raw;
use tidings_protocol::tools::{ToolInput, mcp_parts};

use super::line::Line;
use super::status::duration;
use super::style::Style;

/// A call of a tool, as its card shows it.
#[derive(Debug, Clone)]
pub(super) struct Card {
    tool: String,
    summary: String,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardEnd<'a> {
    Fine,
    /// It failed, and this is how its error begins.
    Failed(&'a str),
}

impl Card {
    /// The card of a call. Paths below `folder` are shown from there.
    pub(super) fn new(tool: &str, input: &Value, folder: Option<&str>) -> Self {
        Card { tool: shown_name(tool), summary: summary(tool, input, folder) }
    }

    /// What it looks like while the tool runs.
    pub(super) fn running(&self, spinner: char, elapsed: Option<Duration>) -> Line {
        let line = Line::styled(&format!("{spinner} "), Style::CYAN);
        self.rest(line, elapsed.filter(|elapsed| *elapsed >= Duration::from_secs(1)))
    }

    /// What it looks like afterwards.
    pub(super) fn ended(&self, end: CardEnd<'_>, elapsed: Option<Duration>, columns: usize) -> Vec<Line> {
        let mark = match end {
            CardEnd::Fine => Line::styled("✓ ", Style::GREEN),
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

    /// A long summary gives way to the duration behind it.
    fn fitted(&self, mark: Line, elapsed: Option<Duration>, columns: usize) -> Line {
        let time = elapsed.map(|elapsed| format!("  {}", duration(elapsed))).unwrap_or_default();
        let mut line = self.rest(mark, None).fit(columns.saturating_sub(time.len()));
        line.push(&time, Style::DIM);
        line
    }
}

/// `mcp__github__search` is `github: search`.
fn shown_name(tool: &str) -> String {
    match mcp_parts(tool) {
        Some((server, tool)) => format!("{server}: {tool}"),
        None => tool.to_owned(),
    }
}

/// What matters of an input.
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
            lines.extend(card.ended(CardEnd::Fine, Some(Duration::from_millis(340)), 50));
            lines.extend(card.ended(CardEnd::Failed("\n no such file\nmore"), None, 50));
            for line in lines {
                shown += &(line.text() + "\n");
            }
        }
        insta::assert_snapshot!(shown);
    }
}
