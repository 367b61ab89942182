//! The caller of a request, and the scopes of its credential.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};

/// A permission that a credential carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read sessions and their events.
    Read,
    /// Start sessions, send prompts and commands to them.
    Prompt,
    /// Answer a request as it was asked.
    Decide,
    /// Answer a request with a changed tool input.
    Edit,
    /// Give answers that add permission rules.
    Always,
    /// Everything else: devices, the audit log, deleting, trust, `bypassPermissions`.
    Admin,
}

/// The set of scopes of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Scope>", into = "Vec<Scope>")]
pub struct Scopes(u8);

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 6] =
        [Scope::Read, Scope::Prompt, Scope::Decide, Scope::Edit, Scope::Always, Scope::Admin];

    /// The name in JSON.
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let hint = "use read, prompt, decide, edit, always or admin";
            Error::new(Code::Invalid, format!("Unknown scope `{text}`"), hint)
        })
    }
}

impl Scopes {
    /// The set of all scopes.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// True if the set contains the scope, or `admin`, which includes all others.
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

/// The authenticated sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name in the audit log and in events that other clients see.
    pub name: String,
    /// The id of the device; `None` for the admin token and for the server itself.
    pub device: Option<String>,
    /// The scopes of the credential.
    pub scopes: Scopes,
    /// The folders that the credential is limited to; empty means no limit.
    pub folders: Vec<String>,
}

impl Caller {
    /// The server itself, or the holder of the admin token.
    pub fn admin(name: impl Into<String>) -> Self {
        Caller { name: name.into(), device: None, scopes: Scopes::all(), folders: Vec::new() }
    }

    /// True if the credential has no folder limit, or if the folder lies inside one of its folders.
    pub fn sees(&self, folder: &str) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|root| Path::new(folder).starts_with(root))
    }

    /// Returns an error if the credential lacks the scope.
    pub fn require(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.has(scope) {
            return Ok(());
        }
        let message = format!("This needs the scope `{scope}`, which `{}` does not have", self.name);
        Err(Error::new(Code::Forbidden, message, "pair the device again with more scopes"))
    }
}
