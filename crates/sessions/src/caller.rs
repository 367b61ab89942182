//! Callers of the server.

use std::path::Path;

use axum_core::extract::FromRequestParts;
use http::request::Parts;
use tidings_api::{Code, Scope, Scopes};

use crate::Error;

/// The author of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Name of the user or the program, for the audit log and for other users.
    pub name: String,
    /// The id of the device; none for the admin token and for the server itself.
    pub device: Option<String>,
    /// The scopes of the credential.
    pub scopes: Scopes,
    /// The folders that the credential is limited to; empty for all.
    pub folders: Vec<String>,
}

impl Caller {
    /// A caller with all scopes: the server itself, or a request with the admin token.
    pub fn admin(name: impl Into<String>) -> Self {
        Caller { name: name.into(), device: None, scopes: Scopes::all(), folders: Vec::new() }
    }

    /// True if the credential may use a folder: it is one of its folders, or inside one of them.
    pub fn sees(&self, folder: &str) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|root| Path::new(folder).starts_with(root))
    }

    /// Refuses a request whose scope the credential does not have.
    pub fn require(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.has(scope) {
            return Ok(());
        }
        let message = format!("This needs the scope `{scope}`, which `{}` does not have", self.name);
        Err(Error::new(Code::Forbidden, message, "pair the device again with more scopes"))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    /// Reads the caller that authentication put into the request.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(unauthorized)
    }
}

/// The error of a request without a credential.
pub fn unauthorized() -> Error {
    let hint = "send `Authorization: Bearer …`; `tidings pair` gives a device its own credential";
    Error::new(Code::Unauthorized, "This needs a credential", hint)
}
