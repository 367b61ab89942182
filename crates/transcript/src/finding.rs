//! Findings about lines of session files: rule, severity and position.

use std::fmt;

/// Position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted from 1; 0 for the file as a whole.
    pub line: u64,
    /// Offset of the first byte, counted from 0.
    pub offset: u64,
    /// Length in bytes without the line end.
    pub bytes: u64,
}

/// The name of a rule, as scripts see it: `unique-uuid`, `cut-line`, …
///
/// A rule is declared in the module that checks it, and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(&'static str);

impl Rule {
    /// A rule with this name.
    pub const fn new(name: &'static str) -> Self {
        Rule(name)
    }

    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Importance of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For information.
    Note,
    /// Unusual, but no data is lost.
    Warning,
    /// Data is lost or a rule is violated.
    Error,
}

impl Severity {
    /// One lowercase word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// An observation about a line of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// Importance.
    pub severity: Severity,
    /// Position in the file.
    pub place: Position,
    /// Message to show.
    pub message: String,
    /// Uuid of the entry, if it has one.
    pub uuid: Option<String>,
}
