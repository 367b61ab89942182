//! Past events of a session, in pages.

use serde::Deserialize;
use serde_json::Value;
use tidings_protocol::ui::UiMessage;

use crate::error::Error;
use crate::route::Route;
use crate::sessions::RemoteSession;

/// A page of past events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PastEvents {
    /// Events, oldest first.
    pub items: Vec<PastEvent>,
    /// Cursor to pass as `before` for the page before this one.
    #[serde(default)]
    pub prev: Option<String>,
}

/// A past event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PastEvent {
    /// Cursor of the event.
    pub cursor: String,
    /// Sequence number of the event.
    pub seq: u64,
    /// Time of the event.
    pub at: String,
    /// The event as JSON.
    pub event: Value,
}

impl PastEvent {
    /// Decodes the event; `None` if only later versions know it.
    pub fn decode(&self) -> Option<UiMessage> {
        UiMessage::deserialize(&self.event).ok()
    }
}

impl RemoteSession {
    /// A page of events before a cursor or number, at most 1,000; without one the newest.
    pub async fn history(&self, before: Option<&str>, events_max: Option<u64>) -> Result<PastEvents, Error> {
        let route = Route::new(&self.path("/history")).with("limit", events_max).with("before", before);
        self.server().get(route.as_str()).await
    }
}
