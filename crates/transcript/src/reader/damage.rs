use tidings_protocol::entry::Entry;

use crate::{Finding, Place, Rule, Severity};

/// How a line is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// The last line ends in the middle: its writer is not done, or was killed.
    TornTail,
    /// A line in the middle of the file ends too early.
    Cut,
    /// Another record begins before the line is over.
    Glued,
    /// NUL bytes, as a crash leaves them.
    Nul,
    /// Bytes that are no UTF-8.
    Utf8,
    /// JSON, but no object; or no JSON at all.
    NotAnObject,
    /// Begins as an object and is none.
    Syntax,
    /// Too long to read.
    Oversized,
}

impl DamageKind {
    /// The rule that a line damaged so does not keep.
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
            _ => Severity::Error,
        }
    }
}

/// A line that is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// How it is damaged.
    pub kind: DamageKind,
    /// A sentence to show.
    pub reason: String,
    /// Whole entries that stand in the line all the same.
    pub salvaged: Vec<Salvaged>,
}

/// A whole entry out of a damaged line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// Where it stands.
    pub place: Place,
    /// The entry.
    pub entry: Entry,
}

impl Damage {
    pub(super) fn oversized(len: u64) -> Self {
        let reason = format!("The line is too long to read: {len} bytes");
        Damage { kind: DamageKind::Oversized, reason, salvaged: Vec::new() }
    }

    /// The remark about the line at `place`.
    pub fn finding(&self, place: Place) -> Finding {
        let message = match self.salvaged.len() {
            0 => self.reason.clone(),
            1 => format!("{}; 1 entry could be saved", self.reason),
            count => format!("{}; {count} entries could be saved", self.reason),
        };
        let uuid = self.salvaged.first().and_then(|saved| saved.entry.uuid().map(Into::into));
        Finding { rule: self.kind.rule(), severity: self.kind.severity(), place, message, uuid }
    }
}
