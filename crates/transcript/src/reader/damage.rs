//! Lines that are not an entry, and the entries that are salvaged from them.

use tidings_protocol::entry::Entry;

use crate::{Finding, Position, Rule, Severity};

/// The kind of damage of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// The last line has no end: its writer is not done, or was killed.
    TornTail,
    /// A line in the middle of the file is truncated.
    Cut,
    /// Another record begins before the line ends.
    Glued,
    /// NUL bytes, as a crash leaves them.
    Nul,
    /// Invalid UTF-8.
    Utf8,
    /// JSON that is not an object, or no JSON at all.
    NotAnObject,
    /// Begins like an object and is not valid JSON.
    Syntax,
    /// Too long to read.
    Oversized,
}

impl DamageKind {
    /// The rule that such a line violates.
    pub fn rule(self) -> Rule {
        Rule::new(match self {
            DamageKind::TornTail => "torn-tail",
            DamageKind::Cut => "cut-line",
            DamageKind::Glued => "glued-line",
            DamageKind::Nul => "nul-bytes",
            DamageKind::Utf8 => "invalid-utf8",
            DamageKind::NotAnObject => "not-an-object",
            DamageKind::Syntax => "invalid-json",
            DamageKind::Oversized => "oversized-line",
        })
    }

    fn severity(self) -> Severity {
        match self {
            // Normal while the session is being written.
            DamageKind::TornTail => Severity::Warning,
            DamageKind::Cut
            | DamageKind::Glued
            | DamageKind::Nul
            | DamageKind::Utf8
            | DamageKind::NotAnObject
            | DamageKind::Syntax
            | DamageKind::Oversized => Severity::Error,
        }
    }
}

/// A line that is not an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Kind of damage.
    pub kind: DamageKind,
    /// Message to show.
    pub reason: String,
    /// Whole entries that the line contains.
    pub salvaged: Vec<Salvaged>,
}

/// A whole entry salvaged from a damaged line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// Position in the file.
    pub place: Position,
    /// The entry.
    pub entry: Entry,
}

impl Damage {
    pub(super) fn oversized(len: u64) -> Self {
        let reason = format!("The line is too long to read: {len} bytes");
        Damage { kind: DamageKind::Oversized, reason, salvaged: Vec::new() }
    }

    /// The finding about the line at `place`.
    pub fn finding(&self, place: Position) -> Finding {
        let message = match self.salvaged.len() {
            0 => self.reason.clone(),
            1 => format!("{}; 1 entry can be salvaged", self.reason),
            count => format!("{}; {count} entries can be salvaged", self.reason),
        };
        let uuid = self.salvaged.first().and_then(|saved| saved.entry.uuid().map(Into::into));
        Finding { rule: self.kind.rule(), severity: self.kind.severity(), place, message, uuid }
    }
}
