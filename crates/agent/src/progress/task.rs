//! What is being worked on.

use std::sync::LazyLock;

use regex::Regex;

use super::limits::{TASK_CHARS_MAX, TASK_CHARS_MIN};
use super::pattern;

static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^[\s*_>#-]*(?:currently\s+working\s+on\s*:|task\s*:|→)[\s*_]*(?P<task>[^\n]+)")
});

/// What a text says is being worked on: the first line that says so ("Currently working on: …", "Task: …", "→ …"), or
/// else the first line that is long enough to mean something, cut to a hundred characters.
pub fn current_task(text: &str) -> Option<String> {
    text.lines().find_map(marked_task).or_else(|| text.lines().find_map(plain_task))
}

/// The task that a line names.
pub(super) fn marked_task(line: &str) -> Option<String> {
    let task = shortened(&MARKED.captures(line)?["task"]);
    (!task.is_empty()).then_some(task)
}

/// The line itself, if it is long enough.
pub(super) fn plain_task(line: &str) -> Option<String> {
    let line = line.trim();
    (line.chars().nth(TASK_CHARS_MIN - 1).is_some() && line.chars().any(char::is_alphabetic))
        .then(|| shortened(line))
}

/// A text of one line, without the dots and stars around it, of at most [`TASK_CHARS_MAX`] characters.
pub(super) fn shortened(text: &str) -> String {
    let trimmed = text.trim().trim_end_matches(['.', '…', '*', '_', ':', ' ']);
    if trimmed.chars().nth(TASK_CHARS_MAX).is_none() {
        return trimmed.to_owned();
    }
    let kept: String = trimmed.chars().take(TASK_CHARS_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}
