//! A server with one session, whose events the tests append.

use jiff::Timestamp;
use tidings_journal::{Class, EventDraft, Kind};
use tidings_protocol::ui::{TurnId, UiMessage};

pub(crate) use crate::test_server::*;

impl TestServer {
    /// The API with one session in the folder `cwd`.
    pub(crate) async fn with_session(cwd: &str) -> TestServer {
        TestServer::builder().api().session(cwd).start().await
    }

    /// Publishes these numbers as deltas.
    pub(crate) async fn publish(&self, numbers: std::ops::RangeInclusive<u64>) {
        self.append(numbers.map(|n| draft(&text(&format!("{n} ")))).collect()).await;
    }

    pub(crate) async fn publish_event(&self, message: &UiMessage) {
        self.append(vec![draft(message)]).await;
    }
}

pub(crate) fn turn() -> TurnId {
    TurnId::new_assistant_turn(1)
}

pub(crate) fn text(text: &str) -> UiMessage {
    UiMessage::TextChunk { text: text.to_owned(), session_id: 1, turn_id: turn() }
}

pub(crate) fn draft(message: &UiMessage) -> EventDraft {
    let json = serde_json::to_value(message).unwrap();
    let kind = json.as_object().unwrap().keys().next().unwrap();
    let body = serde_json::to_vec(message).unwrap();
    EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new(kind).unwrap(), body)
}
