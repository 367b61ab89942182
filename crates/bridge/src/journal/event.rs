use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::{ClientId, Cursor, ErrorKind, JournalError, Kind};
use crate::limits::{BODY_BYTES_MAX, DRAFTS_MAX};

/// How safe an event is before its append is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// It survives the end of this process, and is recovered from the final message after a loss of power.
    Delta,
    /// It survives a loss of power: inputs, decisions, final messages, states.
    Durable,
}

/// What is to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// How safe it has to be.
    pub class: Class,
    /// When it happened, in whole microseconds; the rest is dropped.
    pub at: Timestamp,
    /// What it is.
    pub kind: Kind,
    /// The event itself, as bytes that the journal does not look into.
    pub body: Arc<[u8]>,
    /// Given by the client whose command it is. One that was seen before in this session appends nothing.
    pub client_id: Option<ClientId>,
    /// How far the host's spool is stored once this is.
    pub host_offset: Option<u64>,
}

impl Draft {
    /// A draft without a client and without a host.
    pub fn new(class: Class, at: Timestamp, kind: Kind, body: impl Into<Arc<[u8]>>) -> Self {
        Draft { class, at, kind, body: body.into(), client_id: None, host_offset: None }
    }

    /// The same, as the command of a client.
    #[must_use]
    pub fn with_client_id(mut self, id: ClientId) -> Self {
        self.client_id = Some(id);
        self
    }
}

/// What was appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place. The event before it has the number below, so a client sees a gap by itself.
    pub cursor: Cursor,
    /// How safe it had to be.
    pub class: Class,
    /// When it happened.
    pub at: Timestamp,
    /// What it is.
    pub kind: Kind,
    /// The event itself.
    pub body: Arc<[u8]>,
    /// Whose command it was.
    pub client_id: Option<ClientId>,
    /// The event as the WebSocket has it, once somebody has written it down.
    pub(crate) message: Written,
}

/// What an event looks like on its way out. It is written once and shared by all who watch; nothing else depends on it.
#[derive(Default)]
pub(crate) struct Written(OnceLock<Utf8Bytes>);

impl Written {
    /// What was written, which is now if nobody has before.
    pub(crate) fn once(&self, write: impl FnOnce() -> String) -> Utf8Bytes {
        self.0.get_or_init(|| write().into()).clone()
    }
}

impl Clone for Written {
    fn clone(&self) -> Self {
        Written::default()
    }
}

impl PartialEq for Written {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Written {}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Written")
    }
}

impl Event {
    pub(crate) fn of(draft: &Draft, cursor: Cursor) -> Self {
        Event {
            cursor,
            class: draft.class,
            at: whole_micros(draft.at),
            kind: draft.kind.clone(),
            body: Arc::clone(&draft.body),
            client_id: draft.client_id.clone(),
            message: Written::default(),
        }
    }

    /// What it counts for where bytes are counted: the body and a share for the rest.
    pub(crate) fn weight(&self) -> u64 {
        weight(self.body.len())
    }
}

/// Where a draft is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// The place of the event.
    pub cursor: Cursor,
    /// Whether this call put it there.
    pub novelty: Novelty,
}

/// Whether a call had an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// It was stored by this call.
    New,
    /// The same client id was seen before, and this is where its event is.
    Seen,
}

/// The bytes that an event with such a body counts for.
pub(crate) fn weight(body_bytes: usize) -> u64 {
    body_bytes as u64 + 64
}

/// The class of several drafts together: one durable draft makes all of them durable.
pub(crate) fn class_of(drafts: &[Draft]) -> Class {
    drafts.iter().map(|draft| draft.class).max().unwrap_or(Class::Delta)
}

pub(crate) fn check_drafts(drafts: &[Draft]) -> Result<(), JournalError> {
    if drafts.len() > DRAFTS_MAX {
        return Err(JournalError::too_large("The number of events in one append", DRAFTS_MAX));
    }
    if drafts.iter().any(|draft| draft.body.len() > BODY_BYTES_MAX) {
        return Err(JournalError::too_large("The length of an event", BODY_BYTES_MAX));
    }
    if drafts.iter().any(|draft| draft.host_offset.is_some_and(|offset| i64::try_from(offset).is_err())) {
        return Err(JournalError::new(ErrorKind::Invalid, "The offset of a host is no length of a file", ""));
    }
    Ok(())
}

/// What an engine stores of a time. All engines store the same, so that none can be told from another.
pub(crate) fn whole_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
