//! Who asks, and what they may.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};

/// One thing that a credential allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// To see sessions and what happens in them.
    Read,
    /// To start sessions, to say something to them and to steer them.
    Prompt,
    /// To answer what is asked, as it was asked.
    Decide,
    /// To answer with another input than the one that was asked about.
    Edit,
    /// To give answers that add rules.
    Always,
    /// Everything else: devices, the audit log, deleting, trust, modes that ask nobody.
    Admin,
}

/// What a credential allows.
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let hint = "use read, prompt, decide, edit, always or admin";
            Error::new(Code::Invalid, format!("There is no scope `{text}`"), hint)
        })
    }
}

impl Scopes {
    /// Everything.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Whether a scope is among them. `admin` is everything.
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

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What the person or the program is called in the audit log and to others.
    pub name: String,
    /// The id of the device; none for the admin token and for the server itself.
    pub device: Option<String>,
    /// What the credential allows.
    pub scopes: Scopes,
    /// The folders that the credential is limited to; everywhere if there are none.
    pub folders: Vec<String>,
}

impl Caller {
    /// The server itself, or whoever holds the admin token.
    pub fn admin(name: impl Into<String>) -> Self {
        Caller { name: name.into(), device: None, scopes: Scopes::all(), folders: Vec::new() }
    }

    /// Whether a folder is one of those that the credential is limited to, or inside one of them.
    pub fn sees(&self, folder: &str) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|root| Path::new(folder).starts_with(root))
    }

    /// Refuses what the credential does not allow.
    pub fn require(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.has(scope) {
            return Ok(());
        }
        let message = format!("This needs the scope `{scope}`, which `{}` does not have", self.name);
        Err(Error::new(Code::Forbidden, message, "pair the device again with more scopes"))
    }
}
