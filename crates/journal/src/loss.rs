//! A report of what the journal held and does not hold any more.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that the journal held and does not hold any more, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Key of the session; none for what belongs to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Name of what is affected, in the plural.
    pub what: String,
    /// The number of missing ones.
    pub missing: u64,
    /// True if some are not as they were.
    pub is_altered: bool,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(session) = &self.session {
            write!(f, "session `{session}`: ")?;
        }
        match (self.missing, self.is_altered) {
            (0, _) => write!(f, "{} altered", self.what),
            (missing, false) => write!(f, "{missing} {} missing", self.what),
            (missing, true) => write!(f, "{missing} {} missing, and others altered", self.what),
        }
    }
}
