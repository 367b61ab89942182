//! Scopes of credentials.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One permission of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// Read sessions and their events.
    Read,
    /// Create sessions, send prompts and control them.
    Prompt,
    /// Answer requests as they were made.
    Decide,
    /// Answer with a changed input.
    Edit,
    /// Give answers that add rules.
    Always,
    /// Everything else: devices, the audit log, deleting, trust, modes that skip permission requests.
    Admin,
}

/// The scopes of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Scope>", into = "Vec<Scope>")]
pub struct Scopes(u8);

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 6] =
        [Scope::Read, Scope::Prompt, Scope::Decide, Scope::Edit, Scope::Always, Scope::Admin];

    /// One word, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Prompt => "prompt",
            Scope::Decide => "decide",
            Scope::Edit => "edit",
            Scope::Always => "always",
            Scope::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let found = Scope::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

impl Scopes {
    /// Everything.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// The scopes that both contain.
    #[must_use]
    pub fn and(self, other: Scopes) -> Self {
        Scope::ALL.into_iter().filter(|scope| self.has(*scope) && other.has(*scope)).collect()
    }

    /// True if it contains a scope. `admin` contains all.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0 || self.0 & (1 << Scope::Admin as u8) != 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Scopes(scopes.into_iter().fold(0, |bits, scope| bits | 1 << scope as u8))
    }
}

impl From<Vec<Scope>> for Scopes {
    fn from(scopes: Vec<Scope>) -> Self {
        scopes.into_iter().collect()
    }
}

impl From<Scopes> for Vec<Scope> {
    fn from(scopes: Scopes) -> Self {
        Scope::ALL.into_iter().filter(|scope| scopes.0 & (1 << *scope as u8) != 0).collect()
    }
}

/// A text that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScope(String);

impl UnknownScope {
    /// A hint with the scopes that exist.
    pub fn hint(&self) -> &'static str {
        "use read, prompt, decide, edit, always or admin"
    }
}

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no scope `{}`", self.0)
    }
}

impl std::error::Error for UnknownScope {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarded_request_has_no_more_rights_than_the_server_that_forwards_it() {
        let (device, server) = (Scopes::all(), Scopes::from(vec![Scope::Read, Scope::Prompt]));
        assert_eq!(device.and(server), server);
        let reader = Scopes::from(vec![Scope::Read]);
        assert_eq!(reader.and(Scopes::all()), reader);
        assert_eq!(reader.and(Scopes::from(vec![Scope::Decide])), Scopes::default());
    }
}
