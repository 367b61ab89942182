//! Small documents of the server, such as items of the inbox.

use std::sync::Arc;

use super::JournalError;
use crate::limits::BLOB_BYTES_MAX;

/// A small document of the server, such as an item of the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its id, unique within its kind.
    pub id: String,
    /// Its contents, as bytes that are opaque to the journal.
    pub body: Arc<[u8]>,
}

/// A change of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChange {
    /// The kind of the document.
    pub kind: &'static str,
    /// The id of the document.
    pub id: String,
    /// Its new contents; none removes it.
    pub body: Option<Arc<[u8]>>,
}

impl DocumentChange {
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        super::session::check_text(&self.id)?;
        match &self.body {
            Some(body) if body.len() > BLOB_BYTES_MAX => {
                Err(JournalError::too_large("The length of a document", BLOB_BYTES_MAX))
            }
            _ => Ok(()),
        }
    }
}
