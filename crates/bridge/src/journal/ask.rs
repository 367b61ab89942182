use std::sync::Arc;

use jiff::Timestamp;
use tidings_agent::pending::Outcome;

use super::{AskId, AuditDraft, Cursor, Draft, JournalError, Key, Stored};
use crate::limits::BLOB_BYTES_MAX;

/// A question or a permission that waits for exactly one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAsk {
    /// What the CLI calls it.
    pub id: AskId,
    /// What kind of ask it is, such as `permission` or `question`.
    pub kind: String,
    /// The digest of what was shown, which some answers have to repeat.
    pub digest: Option<String>,
    /// All that is shown of it, as bytes that the journal does not look into.
    pub body: Arc<[u8]>,
    /// When it is too late to answer.
    pub deadline: Option<Timestamp>,
    /// The event that tells of it; both are stored, or neither. It is stored as durable and without a client id,
    /// since it is the CLI that asks.
    pub event: Draft,
}

/// An ask as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The session that waits.
    pub session: Key,
    /// What the CLI calls it.
    pub id: AskId,
    /// What kind of ask it is.
    pub kind: String,
    /// The digest of what was shown.
    pub digest: Option<String>,
    /// All that is shown of it.
    pub body: Arc<[u8]>,
    /// When it is too late to answer.
    pub deadline: Option<Timestamp>,
    /// The event that told of it.
    pub opened: Cursor,
    /// When that was.
    pub opened_at: Timestamp,
}

/// How an ask ended. An answer is JSON text that the journal does not look into.
pub type Settled = Outcome<String>;

/// An answer, or another way to end an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// How it ends.
    pub outcome: Settled,
    /// The event that tells of it; both are stored, or neither. It is stored as durable whatever it says.
    pub event: Draft,
    /// The line in the audit log, which is stored with them.
    pub audit: Option<AuditDraft>,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// It was the first, and this is its event. The same command sent again gets the same.
    Won(Stored),
    /// Somebody was faster. Nothing was stored.
    Lost {
        /// How it had ended.
        winner: Settled,
        /// The event that told of it.
        at: Cursor,
    },
}

impl NewAsk {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        super::session::check_text(&self.kind)?;
        self.digest.as_deref().map_or(Ok(()), super::session::check_text)?;
        if self.body.len() > BLOB_BYTES_MAX {
            return Err(JournalError::too_large("The length of an ask", BLOB_BYTES_MAX));
        }
        super::event::check_drafts(std::slice::from_ref(&self.event))
    }

    pub(crate) fn opened(&self, session: &Key, cursor: Cursor) -> Ask {
        Ask {
            session: session.clone(),
            id: self.id.clone(),
            kind: self.kind.clone(),
            digest: self.digest.clone(),
            body: Arc::clone(&self.body),
            deadline: self.deadline.map(super::event::whole_micros),
            opened: cursor,
            opened_at: super::event::whole_micros(self.event.at),
        }
    }
}

impl Settle {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        if self.outcome.answer().is_some_and(|answer| answer.len() > BLOB_BYTES_MAX) {
            return Err(JournalError::too_large("The length of an answer", BLOB_BYTES_MAX));
        }
        self.audit.as_ref().map_or(Ok(()), AuditDraft::check)?;
        super::event::check_drafts(std::slice::from_ref(&self.event))
    }
}

impl Settlement {
    /// The place of the event that ended the ask.
    pub fn cursor(&self) -> Cursor {
        match self {
            Settlement::Won(stored) => stored.cursor,
            Settlement::Lost { at, .. } => *at,
        }
    }
}
