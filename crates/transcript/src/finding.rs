use std::fmt;

/// Where something stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, counted from 1; 0 where it is about the file as a whole.
    pub line: u64,
    /// The first byte, counted from 0.
    pub offset: u64,
    /// How many bytes, the line end not included.
    pub bytes: u64,
}

/// The name of a rule, as scripts see it: `unique-uuid`, `cut-line`, …
///
/// A rule is declared where it is checked, so that its file is the only place to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(&'static str);

impl Rule {
    /// A rule of that name.
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

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Odd, and nothing is lost by it.
    Warning,
    /// Something is lost or does not hold.
    Error,
}

impl Severity {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A remark about a line of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that does not hold.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// A sentence to show.
    pub message: String,
    /// The entry, where it has a name.
    pub uuid: Option<String>,
}
