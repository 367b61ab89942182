//! Delivery of deltas: all, coalesced, or none.

use std::str::FromStr;
use std::time::Duration;

use tidings_api::Code;
use tidings_journal::{Class, Event, EventForms};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::Error;
use tokio::time::Instant;

use crate::limits::{COALESCED_BYTES_MAX, COALESCED_MAX};

/// The delivery of deltas that a subscriber requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Deltas {
    /// Each delta as it comes.
    #[default]
    All,
    /// All deltas within this time as one.
    Coalesced(Duration),
    /// The whole text, once another event follows.
    None,
}

impl FromStr for Deltas {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let ms = text.strip_prefix("coalesced:").and_then(|ms| ms.parse().ok());
        match (text, ms) {
            ("all", _) | (_, Some(0)) => Ok(Deltas::All),
            ("none", _) => Ok(Deltas::None),
            (_, Some(ms)) => Ok(Deltas::Coalesced(Duration::from_millis(ms).min(COALESCED_MAX))),
            _ => {
                let message = "Invalid value of `deltas`";
                Err(Error::new(Code::Invalid, message, "use `all`, `coalesced:MS` or `none`"))
            }
        }
    }
}

/// Deltas that are held back and merged.
#[derive(Debug)]
pub(crate) struct HeldDeltas {
    message: Box<UiMessage>,
    /// The last delta.
    last: Box<Event>,
    /// The time at which they are sent; `None` if another event has to follow first.
    pub(crate) until: Option<Instant>,
}

impl HeldDeltas {
    /// Holds back an event; `None` if the event is not a delta or deltas are not held back.
    pub(crate) fn first(event: &Event, deltas: Deltas) -> Option<HeldDeltas> {
        let until = match deltas {
            Deltas::All => return None,
            _ if event.class != Class::Delta => return None,
            Deltas::Coalesced(within) => Some(Instant::now() + within),
            Deltas::None => None,
        };
        let message = event.message().filter(|message| message.is_mergeable())?;
        Some(HeldDeltas {
            message: Box::new(UiMessage::clone(&message)),
            last: Box::new(event.clone()),
            until,
        })
    }

    /// Appends the next delta, if it continues the same text.
    pub(crate) fn join(&mut self, more: HeldDeltas) -> Result<(), HeldDeltas> {
        if !self.message.append(&more.message, COALESCED_BYTES_MAX) {
            return Err(more);
        }
        self.last = more.last;
        Ok(())
    }

    /// The merged deltas as one event, with the cursor of the last of them.
    pub(crate) fn into_event(self) -> Event {
        let body = serde_json::to_vec(&self.message).unwrap_or_default();
        Event { body: body.into(), forms: EventForms::of(*self.message), ..*self.last }
    }
}
