//! The current task.

use std::sync::LazyLock;

use regex::Regex;

use super::limits::{TASK_CHARS_MAX, TASK_CHARS_MIN};
use super::pattern;

static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^[\s*_>#-]*(?:currently\s+working\s+on\s*:|task\s*:|→)[\s*_]*(?P<task>[^\n]+)")
});

/// The current task in a text: the first line that marks it ("Currently working on: …", "Task: …", "→ …"),
/// else the first line that is long enough, limited to a hundred characters.
pub fn current_task(text: &str) -> Option<String> {
    text.lines().find_map(marked_task).or_else(|| text.lines().find_map(plain_task))
}

/// The task that a line marks.
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

/// One line of text, without surrounding dots and asterisks, limited to [`TASK_CHARS_MAX`] characters.
pub(super) fn shortened(text: &str) -> String {
    let trimmed = text.trim().trim_end_matches(['.', '…', '*', '_', ':', ' ']);
    if trimmed.chars().nth(TASK_CHARS_MAX).is_none() {
        return trimmed.to_owned();
    }
    let kept: String = trimmed.chars().take(TASK_CHARS_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}
