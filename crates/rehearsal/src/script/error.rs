//! Errors in a script, with the line and what was expected.

use std::fmt;

/// An error in a script: its line, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptError {
    /// Line number, from 1.
    pub line: usize,
    /// Error message with what was expected.
    pub message: String,
    /// Text of the line.
    pub excerpt: String,
}

impl ScriptError {
    pub(super) fn toml(error: &toml::de::Error, text: &str) -> Self {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..at].matches('\n').count() + 1;
        ScriptError::at(text, line, error.message().to_owned())
    }

    /// An error in the `index`th `[[name]]` table.
    pub(super) fn in_table(text: &str, name: &str, index: usize, problem: Problem) -> Self {
        let mut start = header(text, &format!("[[{name}]]"), 0, index);
        if let Some(block) = problem.block {
            start = header(text, &format!("[[{name}.block]]"), start, block);
        }
        // Point to the wrong key, if it is below the header.
        let key_line = text.lines().enumerate().skip(start).find(|(_, line)| {
            let line = line.trim_start();
            problem
                .key
                .is_some_and(|key| line.starts_with(key) && line[key.len()..].trim_start().starts_with('='))
        });
        let line = key_line.map_or(start, |(at, _)| at) + 1;
        ScriptError::at(text, line, problem.message)
    }

    fn at(text: &str, line: usize, message: String) -> Self {
        let excerpt = text.lines().nth(line - 1).unwrap_or_default().trim_end().to_owned();
        ScriptError { line, message, excerpt }
    }
}

/// The line (from 0) of the `index`th table with this header at or below `from`.
fn header(text: &str, header: &str, from: usize, index: usize) -> usize {
    let lines = text.lines().enumerate().skip(from).filter(|(_, line)| line.trim() == header);
    lines.map(|(at, _)| at).nth(index).unwrap_or(from)
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}\n  {}", self.line, self.message, self.excerpt)
    }
}

impl std::error::Error for ScriptError {}

/// An error beyond the syntax of TOML.
#[derive(Debug)]
pub(super) struct Problem {
    /// Key to point at.
    key: Option<&'static str>,
    /// Index of the block in the turn.
    block: Option<usize>,
    message: String,
}

impl Problem {
    pub(super) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Problem { key: Some(key), block: None, message: message.into() }
    }

    pub(super) fn in_block(self, index: usize) -> Self {
        Problem { block: Some(index), ..self }
    }

    pub(super) fn general(message: impl Into<String>) -> Self {
        Problem { key: None, block: None, message: message.into() }
    }
}
