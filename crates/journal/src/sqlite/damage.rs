//! Events that cannot be read any more: each is replaced alone, and the rest stays readable.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;

use crate::event_forms::EventForms;
use crate::limits::{DAMAGED_EVENTS_MAX, SEQ_BITS, SEQ_MAX};
use crate::{Class, Cursor, Epoch, ErrorKind, Event, JournalError, Kind};

/// The damaged events that were found since the journal was opened. Handles are cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Damage(Arc<Mutex<BTreeSet<i64>>>);

impl Damage {
    /// The number of different damaged events, up to a limit.
    pub(super) fn count(&self) -> u64 {
        self.0.lock().len() as u64
    }

    /// Records a damaged event by its row, and returns a placeholder. Numbers of a session have no holes, so
    /// readers must see that something was here.
    pub(super) fn replace(&self, row: i64, epoch: Epoch) -> Result<Event, JournalError> {
        let row_bits = row.cast_unsigned();
        let (handle, seq) = (row_bits >> SEQ_BITS, row_bits & SEQ_MAX);
        let mut rows = self.0.lock();
        if rows.len() < DAMAGED_EVENTS_MAX && rows.insert(row) {
            tracing::error!(session = handle, event = seq, "an event of the journal is damaged");
        }
        drop(rows);
        let message = format!("Event {seq} is damaged in the journal and cannot be shown");
        let body = json!({"System": {"message": message, "session_id": handle}}).to_string();
        Ok(Event {
            cursor: Cursor::new(epoch, seq),
            class: Class::Durable,
            at: Timestamp::UNIX_EPOCH,
            kind: Kind::new("System")?,
            body: Arc::from(body.into_bytes()),
            client_id: None,
            forms: EventForms::default(),
        })
    }
}

/// True if the file is corrupt; other failures may pass.
pub(super) fn is_damage(error: &JournalError) -> bool {
    error.kind() == ErrorKind::Damaged
}
