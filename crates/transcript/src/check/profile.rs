use tidings_protocol::entry::Dialect;

use crate::Severity;

/// How much is asked of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The rules of seed 001 to the letter.
    Strict,
    /// What files of the CLI keep: oddities that nothing is lost by are no errors.
    Lenient,
}

impl Profile {
    /// What suits a file of that dialect: its own rules.
    pub fn suits(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Seed | Dialect::Rewrite => Profile::Strict,
            _ => Profile::Lenient,
        }
    }

    /// How much one of seed 001's own rules matters: an error where they are the law, else `lenient`.
    pub(super) fn severity(self, lenient: Severity) -> Severity {
        match self {
            Profile::Strict => Severity::Error,
            Profile::Lenient => lenient,
        }
    }
}
