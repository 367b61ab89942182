//! Delivery of deltas: all, coalesced, or none.

use std::str::FromStr;
use std::time::Duration;

use tidings_protocol::ui::UiMessage;
use tokio::time::Instant;

use crate::error::{Code, Error};
use crate::journal::{Cursor, Event};
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
    /// The cursor of the last delta.
    pub(crate) cursor: Cursor,
    /// The time at which they are sent; `None` if another event has to follow first.
    pub(crate) until: Option<Instant>,
}

impl HeldDeltas {
    /// Holds back an event; `None` if the event is not a delta or deltas are not held back.
    pub(crate) fn first(event: &Event, deltas: Deltas) -> Option<HeldDeltas> {
        if !matches!(event.kind.as_str(), "TextChunk" | "Thinking") {
            return None;
        }
        let until = match deltas {
            Deltas::All => return None,
            Deltas::Coalesced(within) => Some(Instant::now() + within),
            Deltas::None => None,
        };
        let message = serde_json::from_slice(&event.body).ok()?;
        Some(HeldDeltas { message, cursor: event.cursor, until })
    }

    /// Appends the next delta, if it continues the same text.
    pub(crate) fn join(&mut self, more: HeldDeltas) -> Result<(), HeldDeltas> {
        match (&mut *self.message, &*more.message) {
            (
                UiMessage::TextChunk { text, session_id, turn_id },
                UiMessage::TextChunk { text: more_text, session_id: more_session, turn_id: more_turn },
            ) if session_id == more_session && turn_id == more_turn && fits(text, more_text) => {
                text.push_str(more_text);
            }
            (UiMessage::Thinking(delta), UiMessage::Thinking(next))
                if delta.session_id == next.session_id
                    && delta.turn_id == next.turn_id
                    && fits(&delta.text, &next.text) =>
            {
                delta.text.push_str(&next.text);
            }
            _ => return Err(more),
        }
        self.cursor = more.cursor;
        Ok(())
    }

    /// The merged deltas as one event.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(&self.message).unwrap_or_else(|_| "null".to_owned())
    }
}

fn fits(text: &str, more: &str) -> bool {
    text.len() + more.len() <= COALESCED_BYTES_MAX
}
