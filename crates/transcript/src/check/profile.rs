//! Strictness of a check.

use tidings_protocol::entry::Dialect;

use crate::Severity;

/// Strictness of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The rules of the session specification to the letter.
    Strict,
    /// The rules that files of the CLI follow: oddities without loss of data are not errors.
    Lenient,
}

impl Profile {
    /// The profile for files of a dialect: its own rules.
    pub fn suits(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Seed | Dialect::Rewrite => Profile::Strict,
            Dialect::Real | Dialect::Unknown => Profile::Lenient,
        }
    }

    /// Severity of a rule from the session specification: an error in the strict profile, else `lenient`.
    pub(super) fn severity(self, lenient: Severity) -> Severity {
        match self {
            Profile::Strict => Severity::Error,
            Profile::Lenient => lenient,
        }
    }
}
