use crate::pending::{Already, Outcome, Refused};
use crate::permissions::Answer;

/// Why a registry did not do what it was told.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// There is no such question, or it is long forgotten.
    #[error("There is no such question")]
    NotFound,
    /// The question was settled before; this is how.
    #[error("The question was answered before")]
    AlreadyResponded(Box<Outcome<Answer>>),
    /// The question is open, and somebody waits for it already.
    #[error("The question is open already")]
    AlreadyAsked,
    /// Too many questions are open.
    #[error("Too many questions are open")]
    Full,
    /// The answer is about something else than what is being asked; nothing was decided.
    #[error("The answer is about something else than what is being asked")]
    DigestMismatch,
    /// What the call does is not known before it runs, so there is no grant that would cover it.
    #[error("This cannot be allowed for the whole session")]
    NotGrantable,
    /// The CLI wants to be asked each time, or no rule covers the call.
    #[error("This cannot be allowed for good")]
    AlwaysNotOffered,
    /// There is no such batch, or it is long forgotten.
    #[error("There is no such batch")]
    NoBatch,
    /// A batch of this name exists already.
    #[error("The batch exists already")]
    BatchExists,
    /// Every member of the batch was settled before.
    #[error("The batch was answered before")]
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
