//! Names of fleets and nodes, and the subjects that are made from them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tidings_base::hex::hex;

use crate::error::{ErrorKind, FleetError};

/// The name of a fleet or of a node: it is part of subjects, so it has only letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Arc<str>);

impl Name {
    /// Checks a name: 1 to 32 letters, digits or `-`.
    pub fn new(text: &str) -> Result<Self, FleetError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if text.is_empty() || text.len() > 32 || !text.chars().all(is_plain) {
            let message = format!("Not a name of a fleet or a node: `{}`", text.escape_debug());
            let hint = "use 1 to 32 letters, digits or `-`";
            return Err(FleetError::new(ErrorKind::Invalid, message, hint));
        }
        Ok(Name(Arc::from(text)))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        Name::new(text)
    }
}

impl TryFrom<String> for Name {
    type Error = FleetError;

    fn try_from(text: String) -> Result<Self, FleetError> {
        Name::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0.as_ref().to_owned()
    }
}

/// Checks the prefix of an API: words of letters, digits, `-`, `_` and `$` with dots between them.
pub(crate) fn api_prefix(text: &str) -> Result<&str, FleetError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '$');
    if text.split('.').any(|word| word.is_empty() || !word.chars().all(is_plain)) {
        let message = format!("Not a prefix of the JetStream API: `{}`", text.escape_debug());
        return Err(FleetError::new(ErrorKind::Invalid, message, "give a word such as `fleet`"));
    }
    Ok(text)
}

/// The stream with the events of a fleet.
pub(crate) fn stream(fleet: &Name) -> String {
    format!("TIDINGS_{fleet}")
}

/// The key-value bucket with the shared state of a fleet.
pub(crate) fn bucket(fleet: &Name) -> String {
    format!("tidings_{fleet}")
}

/// The subjects of all events of a fleet.
pub(crate) fn all_events(fleet: &Name) -> String {
    format!("tidings.{fleet}.events.*.*")
}

/// The subjects of all events of a node.
pub(crate) fn node_events(fleet: &Name, node: &Name) -> String {
    format!("tidings.{fleet}.events.{node}.*")
}

/// The subject of a session's events.
pub(crate) fn events(fleet: &Name, node: &Name, session: &str) -> String {
    format!("tidings.{fleet}.events.{node}.{}", session_token(session))
}

/// The node in a subject of events.
pub(crate) fn node_of(fleet: &Name, subject: &str) -> Option<Name> {
    let rest = subject.strip_prefix("tidings.")?.strip_prefix(fleet.as_str())?.strip_prefix(".events.")?;
    Name::new(rest.split('.').next()?).ok()
}

/// The subject of requests to a node.
pub(crate) fn requests(fleet: &Name, node: &Name) -> String {
    format!("tidings.{fleet}.request.{node}")
}

/// The subject of requests to join a fleet.
pub(crate) fn joins(fleet: &Name) -> String {
    format!("tidings.{fleet}.join")
}

/// A session's key as one word of a subject. The key itself is inside of the message, where it can be
/// encrypted.
pub(crate) fn session_token(session: &str) -> String {
    hex(&digest(&SHA256, session.as_bytes()).as_ref()[..16])
}
