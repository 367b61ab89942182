//! Errors of the registry of permission requests.

use tidings_protocol::ui::RequestOutcome;

use crate::pending::{Already, Refused};
use crate::permissions::Answer;

/// Errors of a registry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The request does not exist, or was settled too long ago.
    #[error("No such request is open")]
    NotFound,
    /// The request was settled before, with this outcome.
    #[error("The request was already settled")]
    AlreadyResponded(Box<RequestOutcome<Answer>>),
    /// The request is open, and its outcome is being awaited already.
    #[error("The request is already open")]
    AlreadyAsked,
    /// Too many requests are open.
    #[error("Too many requests are open")]
    Full,
    /// The answer is about another input than the one that is open; nothing was decided.
    #[error("The answer is about another input than the open request")]
    DigestMismatch,
    /// The effect of the call is not known before it runs, so no grant can cover it.
    #[error("This call cannot be allowed for the whole session")]
    NotGrantable,
    /// The CLI insists on asking each time, or no rule covers the call.
    #[error("This call cannot be allowed permanently")]
    AlwaysNotOffered,
    /// The batch does not exist, or was settled too long ago.
    #[error("No such batch is open")]
    NoBatch,
    /// A batch with this id exists.
    #[error("The batch already exists")]
    BatchExists,
    /// Every member of the batch was settled before.
    #[error("The batch was already settled")]
    BatchAlreadyProcessed,
}

impl From<Refused> for RegistryError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Duplicate => RegistryError::AlreadyAsked,
            Refused::Full => RegistryError::Full,
        }
    }
}

impl From<Already<Answer>> for RegistryError {
    fn from(already: Already<Answer>) -> Self {
        match already {
            Already::Settled(outcome) => RegistryError::AlreadyResponded(Box::new(outcome)),
            Already::Unknown => RegistryError::NotFound,
        }
    }
}
