//! Pending requests, and what settles them.

use std::sync::Arc;

use jiff::Timestamp;
use tidings_protocol::ui::RequestOutcome;

use super::{AskId, AuditDraft, Cursor, EventDraft, JournalError, Key, Stored};
use crate::limits::BLOB_BYTES_MAX;

/// A question or a permission that waits for exactly one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// The CLI's id.
    pub id: AskId,
    /// The kind of the ask, such as `permission` or `question`.
    pub kind: String,
    /// The digest of what was shown, which some answers must repeat.
    pub digest: Option<String>,
    /// Everything that is shown of it, as bytes that are opaque to the journal.
    pub body: Arc<[u8]>,
    /// Time after which it cannot be answered.
    pub deadline: Option<Timestamp>,
    /// The event of the ask; both are stored, or neither. It is stored as durable and without a client id,
    /// since it comes from the CLI.
    pub event: EventDraft,
}

/// A stored ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// Its session.
    pub session: Key,
    /// The CLI's id.
    pub id: AskId,
    /// The kind of the ask.
    pub kind: String,
    /// The digest of what was shown.
    pub digest: Option<String>,
    /// Everything that is shown of it.
    pub body: Arc<[u8]>,
    /// Time after which it cannot be answered.
    pub deadline: Option<Timestamp>,
    /// The cursor of its event.
    pub opened: Cursor,
    /// The time of its event.
    pub opened_at: Timestamp,
}

/// The outcome of an ask. An answer is JSON text that is opaque to the journal.
pub type Settled = RequestOutcome<String>;

/// An answer, or another way to end an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// The outcome.
    pub outcome: Settled,
    /// The event of the outcome; both are stored, or neither. It is stored as durable in any case.
    pub event: EventDraft,
    /// The line for the audit log, which is stored with them.
    pub audit: Option<AuditDraft>,
}

/// Result of settling an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// This was the first answer; the event is stored. Repeating the same command returns the same.
    Won(Stored),
    /// The ask was settled before. Nothing was stored.
    Lost {
        /// Its outcome.
        winner: Settled,
        /// The cursor of that outcome's event.
        at: Cursor,
    },
}

impl NewRequest {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        super::session::check_text(&self.kind)?;
        self.digest.as_deref().map_or(Ok(()), super::session::check_text)?;
        if self.body.len() > BLOB_BYTES_MAX {
            return Err(JournalError::too_large("The length of an ask", BLOB_BYTES_MAX));
        }
        super::event::check_drafts(std::slice::from_ref(&self.event))
    }

    /// The open request of this, as it is stored.
    pub fn opened(&self, session: &Key, cursor: Cursor) -> StoredRequest {
        StoredRequest {
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
    /// The cursor of the event that settled the ask.
    pub fn cursor(&self) -> Cursor {
        match self {
            Settlement::Won(stored) => stored.cursor,
            Settlement::Lost { at, .. } => *at,
        }
    }
}
