//! Events: as they are appended, and as they are stored.

use std::sync::Arc;

use jiff::Timestamp;
use tidings_protocol::ui::UiMessage;

use super::event_forms::EventForms;
use super::{ClientId, Cursor, ErrorKind, JournalError, Kind};
use crate::limits::{BODY_BYTES_MAX, DRAFTS_MAX, LONG_EVENT_BYTES};

/// Durability of an event before its append is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// It survives the end of this process, and is recovered from the final message after a loss of power.
    Delta,
    /// It survives a loss of power: inputs, decisions, final messages, states.
    Durable,
}

/// An event to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    /// The required durability.
    pub class: Class,
    /// Time of the event, in whole microseconds; the rest is dropped.
    pub at: Timestamp,
    /// The kind of the event.
    pub kind: Kind,
    /// The body, as bytes that are opaque to the journal.
    pub body: Arc<[u8]>,
    /// Id of the command that caused the event. If it was seen before in this session, nothing is appended.
    pub client_id: Option<ClientId>,
    /// Offset up to which the host's spool is stored once this event is.
    pub host_offset: Option<u64>,
    /// Forms of the event that are known already.
    pub forms: EventForms,
}

impl EventDraft {
    /// A draft without a client id and without an offset.
    pub fn new(class: Class, at: Timestamp, kind: Kind, body: impl Into<Arc<[u8]>>) -> Self {
        EventDraft {
            class,
            at,
            kind,
            body: body.into(),
            client_id: None,
            host_offset: None,
            forms: EventForms::default(),
        }
    }

    /// Sets the id of the client's command.
    #[must_use]
    pub fn with_client_id(mut self, id: ClientId) -> Self {
        self.client_id = Some(id);
        self
    }
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its cursor. Numbers are consecutive, so a client detects gaps by itself.
    pub cursor: Cursor,
    /// The durability.
    pub class: Class,
    /// Time of the event.
    pub at: Timestamp,
    /// The kind of the event.
    pub kind: Kind,
    /// The body.
    pub body: Arc<[u8]>,
    /// Id of the command that caused it.
    pub client_id: Option<ClientId>,
    /// Forms of the event that are known already, for all subscribers.
    pub forms: EventForms,
}

impl Event {
    /// The event of a draft that was stored at a cursor.
    pub fn of(draft: &EventDraft, cursor: Cursor) -> Self {
        let is_long = draft.body.len() >= LONG_EVENT_BYTES;
        Event {
            cursor,
            class: draft.class,
            at: whole_micros(draft.at),
            kind: draft.kind.clone(),
            body: Arc::clone(&draft.body),
            client_id: draft.client_id.clone(),
            forms: if is_long { EventForms::default() } else { draft.forms.clone() },
        }
    }

    /// The typed form of the event: the one that it was made from, or its decoded body. `None` for an event
    /// type of a newer version.
    pub fn message(&self) -> Option<Arc<UiMessage>> {
        self.forms.message(&self.body)
    }

    /// The weight of the event in byte counts: the body and a share for the rest.
    pub(crate) fn weight(&self) -> u64 {
        weight(self.body.len())
    }
}

/// The position of a stored draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// The cursor of the event.
    pub cursor: Cursor,
    /// Tells if this call stored it.
    pub novelty: Novelty,
}

/// Effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// It was stored by this call.
    New,
    /// The same client id was seen before; the cursor is that of its event.
    Seen,
}

/// The weight of an event with a body of this length.
pub(crate) fn weight(body_bytes: usize) -> u64 {
    body_bytes as u64 + 64
}

/// The class of several drafts together: one durable draft makes all of them durable.
pub(crate) fn class_of(drafts: &[EventDraft]) -> Class {
    drafts.iter().map(|draft| draft.class).max().unwrap_or(Class::Delta)
}

pub(crate) fn check_drafts(drafts: &[EventDraft]) -> Result<(), JournalError> {
    if drafts.len() > DRAFTS_MAX {
        return Err(JournalError::too_large("The number of events in one append", DRAFTS_MAX));
    }
    if drafts.iter().any(|draft| draft.body.len() > BODY_BYTES_MAX) {
        return Err(JournalError::too_large("The length of an event", BODY_BYTES_MAX));
    }
    if drafts.iter().any(|draft| draft.host_offset.is_some_and(|offset| i64::try_from(offset).is_err())) {
        return Err(JournalError::new(ErrorKind::Invalid, "The offset of a host is out of range", ""));
    }
    Ok(())
}

/// The stored precision of a time. It is the same in all engines, so that they cannot be distinguished.
pub(crate) fn whole_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
