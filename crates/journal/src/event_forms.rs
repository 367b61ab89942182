//! Other forms of an event, which are made at most once and shared by all subscribers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tidings_protocol::ui::UiMessage;

use crate::limits::LONG_EVENT_BYTES;

/// The typed form of an event, and its bytes in a socket. They are not part of the event's value.
#[derive(Default)]
pub struct EventForms {
    message: OnceLock<Option<Arc<UiMessage>>>,
    socket: OnceLock<Bytes>,
}

impl EventForms {
    /// The typed form that an event was made from.
    pub fn of(message: UiMessage) -> Self {
        EventForms { message: OnceLock::from(Some(Arc::new(message))), socket: OnceLock::new() }
    }

    /// The typed form, which is decoded from the body if necessary. That of a long event is not kept.
    pub(super) fn message(&self, body: &[u8]) -> Option<Arc<UiMessage>> {
        let decode = || serde_json::from_slice(body).ok().map(Arc::new);
        if body.len() < LONG_EVENT_BYTES { self.message.get_or_init(decode).clone() } else { decode() }
    }

    /// The bytes in a socket, which are encoded first if necessary.
    pub fn socket(&self, encode: impl FnOnce() -> Bytes) -> Bytes {
        self.socket.get_or_init(encode).clone()
    }
}

impl Clone for EventForms {
    fn clone(&self) -> Self {
        EventForms { message: self.message.clone(), socket: OnceLock::new() }
    }
}

impl PartialEq for EventForms {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for EventForms {}

impl fmt::Debug for EventForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventForms")
    }
}
